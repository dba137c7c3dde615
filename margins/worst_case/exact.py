"""Exact linear algebra: solutions of linear equations with free unknowns, and rational bases of float subspaces."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import fmpq, fmpq_mat

from marginaudit.margins.rational import to_float
from marginaudit.orders.arrays import Floats

BITS = 48
"""Binary digits of a rounded free unknown."""

SIGNIFICANT = 4
"""A guessed rational has at most a ``SIGNIFICANT``-th of the digits that are known."""

Vectors = list[list[fmpq]]
"""Rational vectors."""

Rows = Sequence[Sequence[fmpq]]


@dataclass(frozen=True)
class Solutions:
    """All solutions z of linear equations: the pivots as affine functions of the free unknowns.

    Row k of ``matrix`` is pivot k's unknown with the opposite coefficients of the free unknowns and the constant.
    """

    count: int
    pivots: list[int]
    free: list[int]
    matrix: list[list[fmpq]]

    def at(self, y: Sequence[fmpq]) -> list[fmpq]:
        """The solution with these free unknowns."""
        z = [fmpq(0)] * self.count
        for k, value in zip(self.free, y, strict=True):
            z[k] = value
        for k, row in zip(self.pivots, self.matrix, strict=True):
            z[k] = row[-1] - sum(
                (c * value for c, value in zip(row, y, strict=False) if c != 0 and value != 0), fmpq(0)
            )
        return z

    @property
    def floats(self) -> tuple[Floats, Floats]:
        """N of shape (free, unknowns) and n with z = n + y N."""
        N, n = np.zeros((len(self.free), self.count)), np.zeros(self.count)
        for j, k in enumerate(self.free):
            N[j, k] = 1
        for k, row in zip(self.pivots, self.matrix, strict=True):
            N[:, k] = [-to_float(c) for c in row[:-1]]
            n[k] = to_float(row[-1])
        return N, n


def solutions(equations: Rows, right: Sequence[fmpq], preferred: Sequence[int]) -> Solutions | None:
    """All solutions, with pivots that stand early in ``preferred``; None if there are none."""
    count = len(preferred)
    some = [k for k, row in enumerate(equations) if right[k] != 0 or any(c != 0 for c in row)]
    if not some:
        return Solutions(count, [], list(range(count)), [])
    reduced, rank = fmpq_mat([[*(equations[k][j] for j in preferred), right[k]] for k in some]).rref()
    rows = reduced.tolist()[:rank]
    leading = [next(j for j, c in enumerate(row) if c != 0) for row in rows]
    if leading and leading[-1] == count:
        return None
    free = sorted(set(range(count)) - set(leading))
    matrix = [[row[j] for j in (*free, count)] for row in rows]
    return Solutions(count, [preferred[j] for j in leading], [preferred[j] for j in free], matrix)


def flint(value: Fraction) -> fmpq:
    """The rational for flint."""
    return fmpq(value.numerator, value.denominator)


def fraction(value: fmpq) -> Fraction:
    """The rational from flint."""
    return Fraction(int(value.p), int(value.q))


def floats(vectors: Vectors) -> Floats:
    """The vectors as floats, one per row."""
    return np.array([[to_float(c) for c in v] for v in vectors])


def rounded(values: Floats) -> list[fmpq]:
    """Values of few binary digits nearby."""
    return [fmpq(round(float(value) * 2**BITS), 2**BITS) for value in values]


def rational_basis(vectors: Floats, tolerance: float) -> Vectors | None:
    """Rational vectors that span nearly the same space as the float columns: a reduced echelon form.

    None if some coordinate is no rational of few digits.
    """
    pivots = _pivots(vectors)
    left = np.linalg.solve(vectors[pivots].T, vectors.T)
    return _simple([[Fraction(float(c)) for c in row] for row in left], Fraction(tolerance))


def sharp_basis(vectors: "list[list[int]]", tolerance: Fraction) -> Vectors | None:
    """`rational_basis` of columns of integers."""
    pivots = _pivots(np.array([[float(c) for c in row] for row in vectors]))
    columns = fmpq_mat([[fmpq(c) for c in row] for row in vectors]).transpose()
    chosen = fmpq_mat([[fmpq(c) for c in vectors[k]] for k in pivots]).transpose()
    left = chosen.inv() * columns
    return _simple([[fraction(c) for c in row] for row in left.tolist()], tolerance)


def _pivots(vectors: Floats) -> list[int]:
    """Rows of a well-conditioned square block."""
    left, pivots = vectors.copy(), []
    for k in range(left.shape[1]):
        i, j = map(int, np.unravel_index(int(np.argmax(abs(left[:, k:]))), left[:, k:].shape))
        left[:, [k, k + j]] = left[:, [k + j, k]]
        left[:, k + 1 :] -= np.outer(left[:, k], left[i, k + 1 :] / left[i, k])
        pivots.append(i)
    return pivots


def _simple(rows: list[list[Fraction]], tolerance: Fraction) -> Vectors | None:
    """The coordinates replaced by simple rationals nearby, if all are."""
    guessed = [[recognised(c, tolerance) for c in row] for row in rows]
    if any(c is None for row in guessed for c in row):
        return None
    return [[flint(c) for c in row if c is not None] for row in guessed]


def recognised(value: Fraction, tolerance: Fraction) -> Fraction | None:
    """The simplest rational within the tolerance, if its digits are few beside those known."""
    found = simplest(value, tolerance)
    return found if found.denominator**SIGNIFICANT <= 10 / tolerance else None


def simplest(value: Fraction, tolerance: Fraction) -> Fraction:
    """The rational of least denominator within the tolerance.

    >>> print(simplest(Fraction("0.333"), Fraction("0.01")), simplest(Fraction("-0.75"), Fraction("0.01")))
    1/3 -3/4
    """
    low, high = value - tolerance, value + tolerance
    h, k, h_last, k_last = 1, 0, 0, 1  # convergents of the continued fraction that the two ends share
    while (whole := math.ceil(low)) > high:
        whole -= 1
        h, k, h_last, k_last = whole * h + h_last, whole * k + k_last, h, k
        low, high = 1 / (high - whole), 1 / (low - whole)
    return Fraction(whole * h + h_last, whole * k + k_last)
