"""Polish an optimum of a performance estimation problem to a thousand bits, from its conditions of optimality."""

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import scipy  # its subpackages load when first used
from flint import fmpz_mat

from marginaudit.margins.worst_case.exact import Vectors, recognised, sharp_basis
from marginaudit.margins.worst_case.optimum import Optimum
from marginaudit.margins.worst_case.program import Program
from marginaudit.orders.arrays import Floats

STEPS = 8
"""Newton steps in float64."""

CHORDS = 60
"""Steps with the last Jacobian in many bits; each gains a few digits."""

BITS = 1000

SHARP = Fraction(1, 2**900)
"""Largest error of a polished coordinate."""

SMALLEST_SINGULAR = 1e-10
"""Relative size of a pivot of the Jacobian that counts as 0: the optimum may be no isolated point."""

LARGEST_JACOBIAN = 800
"""Limit on the unknowns: two seconds."""


class Conditions:
    """Conditions of optimality for G = R R^T of known rank and the active rows, as equations f(z) = 0.

    z is R, the values, t and the multipliers; the active rows are 0, S R = 0, the values cancel and the metrics'
    multipliers have sum 1. Entries of ``A``, ``b``, ``c`` are floats, or integers that stand for multiples of 2^-BITS.
    """

    def __init__(self, A: Any, b: Any, c: Any, metric: Any, rank: int, one: Any) -> None:
        """Set the rows; ``one`` is the number 1."""
        self.A, self.b, self.c, self.metric, self.one = A, b, c, metric, one
        self.shape = A.shape[1], rank
        self.rows = self.matrix(np.c_[A.reshape(len(A), -1), b, metric])

    def split(self, z: Any) -> tuple[Any, Any, Any, Any]:
        """R, the values, t and the multipliers."""
        (m, r), k = self.shape, self.b.shape[1]
        return z[: m * r].reshape(m, r), z[m * r : m * r + k], z[m * r + k], z[m * r + k + 1 :]

    def matrix(self, entries: Any) -> Any:
        """Entries as a matrix to multiply: integers in flint, which is faster for long ones."""
        return entries if isinstance(self.one, float) else fmpz_mat(entries.tolist())

    def times(self, left: Any, right: Any) -> Any:
        """The scaled product of two matrices."""
        if isinstance(self.one, float):
            return left @ right
        return np.array([[int(c) // self.one for c in row] for row in (left * right).tolist()], dtype=object)

    def wrong(self, z: Any) -> Any:
        """f(z)."""
        R, values, t, multipliers = self.split(z)
        m = self.shape[0]
        gram = self.times(self.matrix(R), self.matrix(R.T))
        unknown = np.concatenate([gram.reshape(-1), values, [t]])
        rows = self.times(self.rows, self.matrix(unknown[:, None]))[:, 0] + self.c
        columns = self.times(self.matrix(multipliers[None]), self.rows)[0]
        S = columns[: m * m].reshape(m, m)
        columns[-1] -= self.one
        return np.concatenate([rows, self.times(self.matrix(S), self.matrix(R)).reshape(-1), columns[m * m :]])

    def jacobian(self, z: Any) -> Floats:
        """Derivative of f, in floats."""
        R, _, _, multipliers = self.split(z)
        (m, r), count, k = self.shape, len(self.A), self.b.shape[1]
        flat = (self.A @ R).reshape(count, -1)
        S = np.tensordot(multipliers, self.A, axes=1)
        return np.block(
            [
                [2 * flat, self.b, self.metric[:, None], np.zeros((count, count))],
                [np.kron(S, np.eye(r)), np.zeros((m * r, k + 1)), flat.T],
                [np.zeros((k + 1, m * r + k + 1)), np.c_[self.b, self.metric].T],
            ]
        )


class Polished(NamedTuple):
    """Rational basis of the range of the optimal Gram matrix, and the optimum; None if not rational."""

    basis: Vectors | None
    value: Fraction | None


NOT_POLISHED = Polished(None, None)


def polished(program: Program, found: Optimum, cut: float | None) -> Polished:
    """Polish an optimum, with a Gram matrix of the rank that ``cut`` shows."""
    active = np.flatnonzero(found.strong | program.equality)
    V = found.range(cut)
    sizes, vectors = np.linalg.eigh(V.T @ found.gram @ V)
    R = V @ vectors * np.sqrt(np.maximum(sizes, 0))
    if R.size + program.b.shape[1] + len(active) > LARGEST_JACOBIAN or not R.size:
        return NOT_POLISHED
    metric = program.metric[active].astype(float)
    rough = Conditions(program.A[active], program.b[active], program.c[active], metric, R.shape[1], 1.0)
    z = np.concatenate([R.reshape(-1), found.values, [found.value], found.multipliers[active]])
    z, J = _newton(rough, z)
    inverse = scipy.linalg.lstsq(J, np.eye(len(J)), SMALLEST_SINGULAR, lapack_driver="gelsy")[0]
    sharp = _in_integers(program, active, R.shape[1])
    digits = np.array([int(value * 2**60) << (BITS - 60) for value in z], dtype=object)
    last = 2**BITS
    for _ in range(CHORDS):
        wrong = sharp.wrong(digits)
        error = max(map(abs, wrong))
        if error <= 2**20:
            R_sharp, _, t, _ = sharp.split(digits)
            return Polished(sharp_basis(R_sharp.tolist(), SHARP), recognised(Fraction(int(t), 2**BITS), SHARP))
        if error >= last:
            break
        last = error
        shift = max(error.bit_length() - 60, 0)
        step = inverse @ np.array([float(value >> shift) for value in wrong])
        digits = digits - np.array([int(value) << shift for value in step], dtype=object)
    return NOT_POLISHED


def _newton(conditions: Conditions, z: Floats) -> tuple[Floats, Floats]:
    """Solve the conditions in float64; also the last Jacobian."""
    best, last = z, np.inf
    for _ in range(STEPS):
        wrong = conditions.wrong(z)
        if not (error := float(abs(wrong).max())) < last:
            break
        best, last = z, error
        z = z - scipy.linalg.lstsq(conditions.jacobian(z), wrong, SMALLEST_SINGULAR, lapack_driver="gelsy")[0]
    return best, conditions.jacobian(best)


def _in_integers(program: Program, active: Any, rank: int) -> Conditions:
    """The conditions of the exact rows, in multiples of 2^-BITS."""
    one = 2**BITS

    def fixed(rows: Any) -> Any:
        return np.array([[int(c.p) * one // int(c.q) if c else 0 for c in row] for row in rows], dtype=object)

    m = len(program.names)
    A = np.array([fixed(program.matrix(r).tolist()) for r in active], dtype=object).reshape(len(active), m, m)
    b = fixed([program.value_row(r) for r in active]).reshape(len(active), len(program.value_names))
    c = fixed([[program.constant(r)] for r in active])[:, 0]
    metric = np.array([one if program.metric[r] else 0 for r in active], dtype=object)
    return Conditions(A, b, c, metric, rank, one)
