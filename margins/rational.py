"""The hard-margin problem min |w| s.t. A w >= 1 with rational rows, and whether it has a solution, exactly.

The rows are vectors of data, a few coordinates long; orders have the faster `marginaudit.margins.exact`.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from flint import arb, ctx, fmpq, fmpq_mat

from marginaudit.margins.errors import NotExact

ROOT_BITS = 128

Vector = tuple[fmpq, ...]
"""Coordinates, as fractions."""

Matrix = Sequence[Sequence[fmpq]]
"""Rows of coordinates."""


def dot(u: Iterable[fmpq], v: Iterable[fmpq]) -> fmpq:
    """The scalar product."""
    return sum((a * b for a, b in zip(u, v, strict=True)), fmpq(0))


def combined(weights: Sequence[fmpq], rows: Matrix) -> Vector:
    """The sum of the rows, weighted."""
    return tuple(dot(weights, column) for column in zip(*rows, strict=True))


def balanced(vectors: Matrix, weights: Sequence[int]) -> tuple[Vector | None, Vector]:
    """Some y >= 0 with y.weights = 1 under which the vectors sum to 0, and (); or None and v with v.x_n >= weight_n.

    Phase one of the simplex method with Bland's rule, which ends; by Farkas' lemma there is one of both.
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
    """The point nearest to 0 of the convex hull of the rows, and weights that combine it.

    Wolfe's algorithm, in rational arithmetic: a row that lies less far ahead than those of positive weight is taken in;
    then the weights move towards those of the nearest point of the plane through these rows, and rows whose weight
    falls to 0 are left out. No set of rows comes twice, as the point comes nearer to 0 each time.
    """
    rows = fmpq_mat([list(x) for x in X])
    first = min(range(len(X)), key=lambda n: dot(X[n], X[n]))
    weights = {first: fmpq(1)}
    while True:
        point = combined([*weights.values()], [X[n] for n in weights])
        ahead = (rows * fmpq_mat([[value] for value in point])).entries()
        behind = min(range(len(X)), key=ahead.__getitem__)
        if ahead[behind] >= dot(point, point):
            return tuple(weights.get(n, fmpq(0)) for n in range(len(X))), point
        weights[behind] = fmpq(0)
        while min(aim := _nearest_of_plane([X[n] for n in weights])) <= 0:
            share = min(old / (old - new) for old, new in zip(weights.values(), aim, strict=True) if new <= 0)
            moved = {n: old + share * (new - old) for (n, old), new in zip(weights.items(), aim, strict=True)}
            weights = {n: value for n, value in moved.items() if value > 0}
        weights = dict(zip(weights, aim, strict=True))


def _nearest_of_plane(rows: Matrix) -> list[fmpq]:
    """Weights of sum 1, of either sign, of the nearest point of the plane through independent rows."""
    products = fmpq_mat([[1 + dot(u, v) for v in rows] for u in rows])
    found = products.solve(fmpq_mat([[fmpq(1)] for _ in rows])).entries()
    return [value / sum(found) for value in found]


@dataclass(frozen=True)
class ExactMargin:
    """The optimum of min |w| s.t. x_n.w >= 1, with its proof.

    Attributes
    ----------
    w : the optimum, sum_n alpha_n x_n
    margins : x_n.w, each at least 1
    support : the n with a margin of 1
    alpha : duals, by n; positive on every support vector that has a positive one in any dual solution
    zero : for each support vector whose dual is 0 in all of them, v with v.w = 0, v.x_n >= 0 on the support, v.x_k >= 1
    """

    w: Vector
    margins: Vector
    support: tuple[int, ...]
    alpha: Vector
    zero: dict[int, Vector]

    @property
    def norm2(self) -> fmpq:
        """|w|^2, the sum of the duals."""
        return dot(self.w, self.w)


def to_float(value: fmpq) -> float:
    """The nearest float64; infinite beyond the largest.

    >>> to_float(fmpq(1, 3)), to_float(fmpq(-(10**400)))
    (0.3333333333333333, -inf)
    """
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def root(value: fmpq) -> float:
    """The square root, also where the number itself is beyond float64.

    >>> root(fmpq(10**320))
    1e+160
    """
    with ctx.workprec(ROOT_BITS):
        return float(arb(value).sqrt())


def written(rows: Iterable[Iterable[float]]) -> tuple[Vector, ...]:
    """Rows of float64 numbers as fractions: each its shortest decimal, as which it is written.

    >>> written([[0.1, 3.0]])
    ((1/10, 3),)
    """
    return tuple(tuple(fmpq(*Fraction(repr(float(v))).as_integer_ratio()) for v in row) for row in rows)


def exact_hard_margin(X: Matrix) -> ExactMargin:
    """The optimum of separable data, in rational arithmetic: the point nearest to 0 of their convex hull, scaled.

    Raises
    ------
    NotExact
        The data are not separable.
    """
    weights, point = nearest(X)
    size = dot(point, point)
    if size == 0:
        raise NotExact("a convex combination of the rows is 0, so that there is none")
    w, first = (tuple(value / size for value in of) for of in (point, weights))
    margins = tuple(dot(x, w) for x in X)
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
