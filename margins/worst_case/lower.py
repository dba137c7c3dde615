"""Proved lower bounds on a worst case: a function of the class, by its points, gradients and values in rationals."""

from fractions import Fraction

import numpy as np
from flint import fmpq, fmpq_mat

from marginaudit.margins.worst_case.conic import innermost
from marginaudit.margins.worst_case.exact import Vectors, flint, floats, fraction, rounded, solutions
from marginaudit.margins.worst_case.optimum import GAPS, Optimum
from marginaudit.margins.worst_case.program import Program
from marginaudit.margins.worst_case.solution import WorstFunction
from marginaudit.margins.worst_case.verify import Refused, ends, verify_worst_case
from marginaudit.orders.arrays import Floats

ZERO, ONE = fmpq(0), fmpq(1)


def tight(program: Program, optimum: Optimum, value: Fraction, basis: Vectors, small: float) -> WorstFunction | None:
    """A function that attains the value, with all points in the span of the basis' vectors: G = sum C_ab v_a v_b^T.

    Slacks up to ``small`` are taken as 0.
    """
    active = np.flatnonzero(program.equality | optimum.strong | (optimum.slacks <= small)).tolist()
    pairs = [(a, b) for b in range(len(basis)) for a in range(b + 1)]
    equations, right = [], []
    V = fmpq_mat(basis)
    for r in active:
        between = (V * program.matrix(r) * V.transpose()).tolist()
        products = [between[a][b] * (1 if a == b else 2) for a, b in pairs]
        equations.append([*products, *program.value_row(r)])
        right.append(-program.constant(r) - (flint(value) if program.metric[r] else 0))
    found = solutions(equations, right, range(len(pairs) + len(program.value_names)))
    if found is None:
        return None
    N, n = found.floats
    y = _inside(program, [r for r in range(len(program.rows)) if r not in set(active)], N, n, basis, float(value))
    z = found.at(rounded(y))
    C = [[ZERO] * len(basis) for _ in basis]
    for (a, b), c in zip(pairs, z, strict=False):
        C[a][b] = C[b][a] = c
    factored = _factored(C)
    if factored is None:
        return None
    L, lengths = factored
    kept = [k for k, length in enumerate(lengths) if length != 0]
    points = {
        name: [sum((v[i] * row[k] for v, row in zip(basis, L, strict=True)), ZERO) for k in kept]
        for i, name in enumerate(program.names)
    }
    values = dict(zip(program.value_names, z[len(pairs) :], strict=True))
    return attained(program, [lengths[k] for k in kept], points, values)


def _inside(program: Program, other: list[int], N: Floats, n: Floats, basis: Vectors, value: float) -> Floats:
    """Free unknowns far from the boundary: the other rows <= -s and C >= s, for the largest s."""
    if not len(N):
        return np.zeros(0)
    V, r = floats(basis), len(basis)
    b, a = np.tril_indices(r)
    weight = np.where(a == b, 1.0, 2.0)
    rows = np.c_[(V @ program.A[other] @ V.T)[:, a, b] * weight, program.b[other]]
    constant = program.c[other] + value * program.metric[other]
    C, C_0 = np.zeros((len(N), r, r)), np.zeros((r, r))
    C[:, a, b] = C[:, b, a] = N[:, : len(a)]
    C_0[a, b] = C_0[b, a] = n[: len(a)]
    found = innermost((-rows @ N.T, -(rows @ n + constant)), (C, C_0))
    return np.zeros(len(N)) if found is None else found.y[:-1]


def relaxed(program: Program, optimum: Optimum) -> WorstFunction | None:
    """A function that nearly attains the optimum: the float solution, moved inside the constraints.

    If that fails, as where no function attains the optimum, a function of nearly that value.
    """
    if (middle := _middle(program)) is None:
        return None
    for gap in GAPS:
        gram = (1 - gap) * optimum.gram + gap * middle[0]
        values = (1 - gap) * optimum.values + gap * middle[1]
        if (found := _near(program, gram, values)) is not None:
            return found
    for gap in GAPS:
        middle = _middle(program, optimum.value - gap * abs(optimum.value))
        if middle is not None and (found := _near(program, *middle)) is not None:
            return found
    return None


def _middle(program: Program, least: float | None = None) -> tuple[Floats, Floats] | None:
    """Gram matrix and values with a performance of at least ``least``, far from the boundary: rows <= -s and G >= s."""
    m, k = program.A.shape[1], program.b.shape[1]
    j, i = np.tril_indices(m)
    weight = np.where(i == j, 1.0, 2.0)
    rows = np.c_[program.A[:, i, j] * weight, program.b, program.metric]  # of G, the values and t
    count, equal = rows.shape[1], program.equality
    G = np.zeros((count, m, m))
    G[range(len(i)), i, j] = G[range(len(i)), j, i] = 1
    found = innermost(
        (-rows[~equal], -program.c[~equal]),
        (G, np.zeros((m, m))),
        equal=(rows[equal], -program.c[equal]),
        beside=None if least is None else (np.eye(count)[-1:], np.array([-least])),
    )
    if found is None:
        return None
    inside = np.zeros((m, m))
    inside[i, j] = inside[j, i] = found.y[: len(i)]
    return inside, found.y[len(i) : len(i) + k]


def _near(program: Program, gram: Floats, values: Floats) -> WorstFunction | None:
    """A function near a Gram matrix and values, in as many dimensions as there are points."""
    sizes, vectors = np.linalg.eigh(gram)
    P = np.asarray(np.linalg.qr((vectors * np.sqrt(np.maximum(sizes, 0))).T, mode="r")).T
    points = {name: rounded(row) for name, row in zip(program.names, P, strict=True)}
    zero = _zero_values(program)
    numbers = {name: ZERO if name in zero else c for name, c in zip(program.value_names, rounded(values), strict=True)}
    return attained(program, [ONE] * len(gram), points, numbers)


def _zero_values(program: Program) -> set[str]:
    """Values that an equality sets to 0, such as those of an indicator."""
    found = set()
    for r in np.flatnonzero(program.equality):
        terms = [term for term, c in program.exact(int(r)).items() if c]
        if len(terms) == 1 and len(terms[0]) == 1:
            found.add(terms[0][0])
    return found


def attained(
    program: Program, lengths: list[fmpq], points: dict[str, list[fmpq]], values: dict[str, fmpq]
) -> WorstFunction | None:
    """The function with these coordinates and values, if the checker accepts it; 0 for those in no row."""
    problem = program.stated
    zero = [ZERO] * len(lengths)
    everything = {name: [fraction(c) for c in points.get(name, zero)] for name in problem.points}
    numbers = {name: fraction(values.get(name, ZERO)) for name in problem.values}
    worst = WorstFunction(Fraction(0), [fraction(c) for c in lengths], everything, numbers)
    worst = worst._replace(value=min(ends(worst.number(metric))[0] for metric in problem.metrics))
    try:
        verify_worst_case(problem, worst._asdict())
    except Refused:
        return None
    return worst


def _factored(C: Vectors) -> tuple[Vectors, list[fmpq]] | None:
    """L and d with C = L diag(d) L^T, L unit lower triangular and d >= 0; None if there are none."""
    size = len(C)
    L = [[ONE if i == j else ZERO for j in range(size)] for i in range(size)]
    d = [ZERO] * size
    rest = [row[:] for row in C]
    for k in range(size):
        d[k] = rest[k][k]
        if d[k] < 0 or (d[k] == 0 and any(rest[i][k] != 0 for i in range(k, size))):
            return None
        for i in range(k + 1, size):
            L[i][k] = rest[i][k] / d[k] if d[k] != 0 else ZERO
        for i in range(k + 1, size):
            for j in range(k + 1, size):
                rest[i][j] -= L[i][k] * L[j][k] * d[k]
    return L, d
