"""Proved upper bounds on a worst case: multipliers in rationals."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from flint import fmpq, fmpq_mat

from marginaudit.margins.rational import to_float
from marginaudit.margins.worst_case.conic import innermost
from marginaudit.margins.worst_case.exact import Vectors, flint, floats, fraction, rounded, solutions
from marginaudit.margins.worst_case.faces import Face, centre
from marginaudit.margins.worst_case.optimum import GAPS, Optimum
from marginaudit.margins.worst_case.program import Program
from marginaudit.margins.worst_case.solution import Proof
from marginaudit.margins.worst_case.verify import Refused, verify_proof
from marginaudit.orders.arrays import Floats

LEAST_ROOM = 1e-9
"""Room to the cone's boundary above the effect of rounding."""

TRIES = 4
"""Faces of the cone tried."""

ZERO, ONE = fmpq(0), fmpq(1)


def tight(program: Program, optimum: Optimum, value: Fraction, kernel: Vectors) -> Proof | None:
    """A proof of exactly this value, with S v = 0 for the vectors of the kernel."""
    active: list[int] = np.flatnonzero(optimum.strong | program.equality).tolist()
    for _ in range(TRIES):
        left, right = _identity(program, active)
        kernel_left, kernel_right = _kernel(program, active, kernel)
        left += [*kernel_left, [program.constant(r) for r in active]]
        right += [*kernel_right, -flint(value)]
        preferred = sorted(range(len(active)), key=lambda k: -optimum.multipliers[active[k]])
        found = solutions(left, right, preferred)
        if found is None:
            return None
        N, n = found.floats
        y, room = _inside(program, active, N, n, kernel)
        multipliers = found.at(rounded(y))
        if room > LEAST_ROOM or not len(y):
            return proved(program, dict(zip(active, multipliers, strict=True)))
        small = n + y @ N <= 1e-6 * max(map(to_float, multipliers))
        kept = [r for r, is_small in zip(active, small, strict=True) if not is_small or program.equality[r]]
        if len(kept) == len(active):
            return proved(program, dict(zip(active, multipliers, strict=True)))
        active = kept
    return None


def _inside(program: Program, active: list[int], N: Floats, n: Floats, kernel: Vectors) -> tuple[Floats, float]:
    """Free unknowns far from the boundary: multipliers >= s, S >= s beside the kernel, for the largest s."""
    A = program.A[active]
    if kernel:
        P = np.linalg.svd(floats(kernel))[2][len(kernel) :].T
        A = P.T @ A @ P
    if not len(N):
        return np.zeros(0), 0.0
    S, S_0 = np.tensordot(N, A, axes=1), np.tensordot(n, A, axes=1)
    inequality = ~program.equality[active]
    found = innermost((N.T[inequality], n[inequality]), (S, S_0))
    if found is None:
        return np.zeros(len(N)), 0.0
    return found.y[:-1], float(found.y[-1])


def relaxed(program: Program, optimum: Optimum, face: Face) -> Proof | None:
    """A proof of slightly more than the optimum: the float solution, moved inside the face."""
    middle = centre(program, face, 2 * abs(optimum.value) + 1e-3)
    if middle is None:
        return None
    rows = face.rows
    near = np.where(program.equality[rows], optimum.multipliers[rows], np.maximum(optimum.multipliers[rows], 0))
    left, right = _identity(program, rows)
    kernel_left, kernel_right = _kernel(program, rows, face.kernel)
    found = solutions(left + kernel_left, right + kernel_right, [int(r) for r in np.argsort(-abs(near))])
    if found is None:
        return None
    for gap in GAPS:
        inside = (1 - gap) * near + gap * middle.y[:-1]
        multipliers = found.at(rounded(inside[found.free]))
        if (proof := proved(program, dict(zip(rows, multipliers, strict=True)))) is not None:
            return proof
    return None


def proved(program: Program, multipliers: dict[int, fmpq]) -> Proof | None:
    """The proof with these multipliers by row, if the checker accepts it."""
    problem, zero = program.stated, Fraction(0)
    known = {r: fraction(value) for r, value in multipliers.items() if value != 0}
    constant = sum((value * program.least_constant(r) for r, value in known.items()), zero)
    proof = Proof(
        -constant,
        [zero] * len(problem.metrics),
        [zero] * len(problem.constraints),
        [[] for _ in problem.functions],
    )
    for r, value in known.items():
        row = program.rows[r]
        if row.group == "function":
            proof.functions[row.owner].append((*row.place, value))
        else:
            (proof.metrics if row.group == "metric" else proof.constraints)[row.owner] = value
    try:
        verify_proof(problem, proof.bound, proof._asdict())
    except Refused:
        return None
    return proof


Equations = tuple[list[list[fmpq]], list[fmpq]]


def _identity(program: Program, active: Sequence[int]) -> Equations:
    """Equations of a proof: the values cancel, and the metrics' multipliers have sum 1."""
    cancel = [list(column) for column in zip(*map(program.value_row, active), strict=True)]
    return [*cancel, [ONE if program.metric[r] else ZERO for r in active]], [ZERO] * len(cancel) + [ONE]


def _kernel(program: Program, active: Sequence[int], kernel: Vectors) -> Equations:
    """Equations S v = 0."""
    if not kernel:
        return [], []
    V = fmpq_mat(kernel).transpose()
    products = [[c for row in (program.matrix(r) * V).tolist() for c in row] for r in active]
    left = [list(column) for column in zip(*products, strict=True)]
    return left, [ZERO] * len(left)
