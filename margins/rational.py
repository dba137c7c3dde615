"""The hard-margin problem min |w| s.t. A w >= 1 with rational rows, and its feasibility, exactly.

For rows of a few coordinates, such as data points; orders have the faster `marginaudit.margins.exact`.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import scipy  # its subpackages load when first used
from flint import arb, ctx, fmpq, fmpq_mat, fmpz, fmpz_mat

from marginaudit.margins.errors import NotExact
from marginaudit.margins.lifting import solve

ROOT_BITS = 128

Vector = tuple[fmpq, ...]
"""Coordinates."""

Matrix = Sequence[Sequence[fmpq]]
"""Rows of coordinates."""


def dot(u: Iterable[fmpq], v: Iterable[fmpq]) -> fmpq:
    """The scalar product."""
    return sum((a * b for a, b in zip(u, v, strict=True)), fmpq(0))


def combined(weights: Sequence[fmpq], rows: Matrix) -> Vector:
    """Weighted sum of the rows."""
    return tuple(dot(weights, column) for column in zip(*rows, strict=True))


def balanced(vectors: Matrix, weights: Sequence[int]) -> tuple[Vector | None, Vector]:
    """Either (y, ()), y >= 0 with y.weights = 1 and sum of y_n x_n = 0, or (None, v) with v.x_n >= weight_n.

    Phase one of the simplex method with Bland's rule, which terminates; by Farkas' lemma exactly one exists.
    """
    equations = [*zip(*vectors, strict=True), map(fmpq, weights)]
    m, n = len(equations), len(vectors)
    rows = [[*row, *(fmpq(i == j) for j in range(m)), fmpq(i == m - 1)] for i, row in enumerate(equations)]
    basis = list(range(n, n + m))
    cost = [sum(column, fmpq(0)) for column in zip(*rows, strict=True)]
    cost[n : n + m] = [fmpq(0)] * m
    while (entering := next((j for j in range(n) if cost[j] > 0), None)) is not None:
        ratios = [(row[-1] / row[entering], basis[i], i) for i, row in enumerate(rows) if row[entering] > 0]
        leaving = min(ratios)[2]
        pivot = rows[leaving] = [value / rows[leaving][entering] for value in rows[leaving]]
        for row in [*(row for i, row in enumerate(rows) if i != leaving), cost]:
            if (factor := row[entering]) != 0:
                row[:] = [value - factor * p for value, p in zip(row, pivot, strict=True)]
        basis[leaving] = entering
    if cost[-1] > 0:
        *z, last = (1 + value for value in cost[n : n + m])
        return None, tuple(-value / last for value in z)
    y = {j: row[-1] for j, row in zip(basis, rows, strict=True)}
    return tuple(y.get(j, fmpq(0)) for j in range(n)), ()


def nearest(X: Matrix) -> tuple[Vector, Vector]:
    """Point of the rows' convex hull nearest to 0, and its weights.

    Wolfe's algorithm in rational arithmetic, from a float64 guess: move the weights towards those of the nearest point
    of the plane through the rows of positive weight, and drop rows whose weight reaches 0; then add a row with a
    smaller product with the point. It terminates, as each iteration brings the point nearer to 0, so that no set of
    rows recurs.
    """
    rows, scale = fmpq_mat([list(x) for x in X]).numer_denom()
    try:
        weights, point = _wolfe(rows, _guess(X))
    except ZeroDivisionError:  # the guessed rows are dependent
        weights, point = _wolfe(rows, {min(range(len(X)), key=lambda n: dot(X[n], X[n])): fmpq(1)})
    return tuple(weights.get(n, fmpq(0)) for n in range(len(X))), tuple(value / scale for value in point)


def _wolfe(rows: fmpz_mat, weights: dict[int, fmpq]) -> tuple[dict[int, fmpq], list[fmpq]]:
    """Wolfe's algorithm from positive weights of sum 1; ZeroDivisionError where their rows are affinely dependent."""
    listed = rows.table()
    while True:
        while min(aim := _nearest_of_plane(fmpz_mat([listed[n] for n in weights]))) <= 0:
            total = sum(aim, fmpz(0))
            ends = {n: fmpq(value, total) for n, value in zip(weights, aim, strict=True)}
            share = min(old / (old - ends[n]) for n, old in weights.items() if ends[n] <= 0)
            moved = {n: old + share * (ends[n] - old) for n, old in weights.items()}
            weights = {n: value for n, value in moved.items() if value > 0}
        total = sum(aim, fmpz(0))
        point = fmpz_mat([aim]) * fmpz_mat([listed[n] for n in weights])
        ahead = (rows * point.transpose()).entries()
        behind = min(range(len(ahead)), key=ahead.__getitem__)
        weights = {n: fmpq(value, total) for n, value in zip(weights, aim, strict=True)}
        if ahead[behind] * total >= (point * point.transpose())[0, 0]:
            return weights, [fmpq(value, total) for value in point.entries()]
        weights[behind] = fmpq(0)


def _nearest_of_plane(rows: fmpz_mat) -> list[fmpz]:
    """Weights, of positive sum and any sign, of the point nearest to 0 on the plane through independent rows."""
    size = rows.nrows()
    products = rows * rows.transpose() + fmpz_mat(size, size, [1] * size**2)
    return solve(products, [1] * size)[0]


def _guess(X: Matrix) -> dict[int, fmpq]:
    """Weights of sum 1 by non-negative least squares in float64: min |sum y_n x_n|^2 + (1 - sum y_n)^2."""
    largest = max(abs(value) for x in X for value in x)
    scaled = np.array([[to_float(value / largest) if value != 0 else 0.0 for value in x] for x in X])
    try:
        y, _ = scipy.optimize.nnls(np.vstack([scaled.T, np.ones(len(X))]), np.append(np.zeros(scaled.shape[1]), 1.0))
    except RuntimeError:  # too many iterations
        y = np.zeros(len(X))
    found = {n: fmpq(*value.as_integer_ratio()) for n, value in enumerate(y.tolist()) if value > 0} or {0: fmpq(1)}
    total = sum(found.values(), fmpq(0))
    return {n: value / total for n, value in found.items()}


def _times(X: Matrix, w: Iterable[fmpq]) -> Vector:
    """Matrix-vector product X w, over one common denominator."""
    return tuple((fmpq_mat([list(x) for x in X]) * fmpq_mat([[value] for value in w])).entries())


@dataclass(frozen=True)
class ExactMargin:
    """The optimum of min |w| s.t. x_n.w >= 1, with its proof.

    Attributes
    ----------
    w : the optimum, sum_n alpha_n x_n
    margins : x_n.w, each at least 1
    support : the n with a margin of 1
    alpha : duals, by n; positive on every support vector with a positive dual in some dual solution
    zero : for each other support vector k, v with v.w = 0, v.x_n >= 0 on the support, v.x_k >= 1
    """

    w: Vector
    margins: Vector
    support: tuple[int, ...]
    alpha: Vector
    zero: dict[int, Vector]

    @property
    def norm2(self) -> fmpq:
        """|w|^2, the sum of the duals."""
        return _times([self.w], self.w)[0]


def to_float(value: fmpq) -> float:
    """Nearest float64; infinite beyond the largest.

    >>> to_float(fmpq(1, 3)), to_float(fmpq(-(10**400)))
    (0.3333333333333333, -inf)
    """
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def root(value: fmpq) -> float:
    """Square root, also of numbers beyond float64.

    >>> root(fmpq(10**320))
    1e+160
    """
    with ctx.workprec(ROOT_BITS):
        return float(arb(value).sqrt())


def written(rows: Iterable[Iterable[float]]) -> tuple[Vector, ...]:
    """Rows of float64 numbers as fractions, each equal to its shortest decimal.

    >>> written([[0.1, 3.0]])
    ((1/10, 3),)
    """
    return tuple(tuple(fmpq(*Fraction(repr(float(v))).as_integer_ratio()) for v in row) for row in rows)


def exact_hard_margin(X: Matrix) -> ExactMargin:
    """Optimum of separable data in rational arithmetic: the point of their convex hull nearest to 0, scaled.

    Raises
    ------
    NotExact
        The data are not separable.
    """
    weights, point = nearest(X)
    [size] = _times([point], point)
    if size == 0:
        raise NotExact("the rows are not separable: a convex combination of them is 0")
    w, first = (tuple(value / size for value in of) for of in (point, weights))
    margins = _times(X, w)
    support = tuple(n for n, margin in enumerate(margins) if margin == 1)
    columns = [*(X[n] for n in support), [-value for value in w]]
    duals, zero = [[first[n] for n in support]], {}
    for k, n in enumerate(support):
        if first[n] == 0:
            y, v = balanced(columns, [int(i == k) for i in range(len(columns))])
            if y is None:
                zero[n] = v
            else:
                duals.append([value / y[-1] for value in y[:-1]])
    mean = {n: sum(column) / len(duals) for n, column in zip(support, zip(*duals, strict=True), strict=True)}
    return ExactMargin(w, margins, support, tuple(mean.get(n, fmpq(0)) for n in range(len(X))), zero)
