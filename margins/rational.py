"""The hard-margin problem min |w| s.t. A w >= 1, and equalities, with rational rows, and its feasibility, exactly.

For rows of a few coordinates, such as data points; orders have the faster `marginaudit.margins.exact`.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from flint import arb, ctx, fmpq, fmpq_mat

from marginaudit.margins.errors import NotExact
from marginaudit.margins.least_norm import Matrix as Matrix
from marginaudit.margins.least_norm import Vector as Vector
from marginaudit.margins.least_norm import least_norm

ROOT_BITS = 128


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
    """Point of the rows' convex hull nearest to 0, and its weights."""
    y, _ = least_norm(X, [fmpq(1)] * len(X))
    total = sum(y, fmpq(0))
    weights = tuple(value / total for value in y)
    return weights, _times(zip(*X, strict=True), weights)


def _times(X: Iterable[Iterable[fmpq]], w: Iterable[fmpq]) -> Vector:
    """Matrix-vector product X w, over one common denominator."""
    return tuple((fmpq_mat([list(x) for x in X]) * fmpq_mat([[value] for value in w])).entries())


@dataclass(frozen=True)
class ExactMargin:
    """The optimum of min |w| s.t. x_n.w >= 1 and e_m.w = b_m, with its proof.

    Attributes
    ----------
    w : the optimum, sum_n alpha_n x_n + sum_m beta_m e_m
    margins : x_n.w, each at least 1
    support : the n with a margin of 1
    alpha : duals, by n; positive on every support vector with a positive dual in some dual solution
    zero : for each other support vector k, v with v.w = 0, v.e_m = 0, v.x_n >= 0 on the support, v.x_k >= 1
    beta : duals of the equalities, of either sign
    labels : names of the rows, then of the equalities; () for none
    """

    w: Vector
    margins: Vector
    support: tuple[int, ...]
    alpha: Vector
    zero: dict[int, Vector]
    beta: Vector = ()
    labels: tuple[str, ...] = ()

    @property
    def norm2(self) -> fmpq:
        """|w|^2, the sum of the duals, each times its right-hand side."""
        return _times([self.w], self.w)[0]

    @property
    def named(self) -> dict[str, fmpq]:
        """Duals that are not 0, by label or, without labels, by number: those of equalities after all rows."""
        duals = (*self.alpha, *self.beta)
        return {name: value for name, value in zip(names(self.labels, len(duals)), duals, strict=True) if value != 0}


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


def names(labels: Sequence[str], count: int) -> Sequence[str]:
    """The labels, or the numbers from 0."""
    return labels or [str(n) for n in range(count)]


def exact_hard_margin(
    rows: Matrix, equalities: Matrix = (), values: Sequence[fmpq] = (), labels: Sequence[str] = ()
) -> ExactMargin:
    """Optimum of min |w| s.t. x_n.w >= 1 for the rows and e_m.w = b_m for the equalities, in rational arithmetic.

    ``values`` are the b_m, 0 by default, and ``labels`` name the rows, then the equalities.

    Raises
    ------
    NotExact
        No w meets all rows, such as data that are not separable.

    >>> exact_hard_margin(written([[1, 0], [0, 1]]), written([[1, -2]]), labels=("x", "y", "x = 2 y")).w
    (2, 1)
    """
    found = solved(rows, equalities, values, labels)
    if isinstance(found, ExactMargin):
        return found
    if not equalities:
        raise NotExact("the rows are not separable: a convex combination of them is 0")
    parts = [
        f"{value} times {name}" for name, value in zip(names(labels, len(found)), found, strict=True) if value != 0
    ]
    raise NotExact(f"no w meets all rows, as they sum to 0 >= 1: {', '.join(parts)}")


def solved(
    rows: Matrix, equalities: Matrix, values: Sequence[fmpq], labels: Sequence[str] = ()
) -> ExactMargin | Vector:
    """The optimum, or the multipliers, of rows, then equalities, under which infeasible rows sum to 0 >= 1."""
    first = len(equalities)
    targets = [*(values or [fmpq(0)] * first), *[fmpq(1)] * len(rows)]
    y, w = least_norm([*equalities, *rows], targets, first)
    if w is None:
        return (*y[first:], *y[:first])
    margins = _times(rows, w) if rows else ()
    support = tuple(n for n, margin in enumerate(margins) if margin == 1)
    duals, zero = _duals(rows, equalities, w, support, (*y[first:], *y[:first]))
    mean = tuple(sum(column, fmpq(0)) / len(duals) for column in zip(*duals, strict=True))
    return ExactMargin(w, margins, support, mean[: len(rows)], zero, mean[len(rows) :], tuple(labels))


def _duals(
    rows: Matrix, equalities: Matrix, w: Vector, support: Sequence[int], first: Vector
) -> tuple[list[Vector], dict[int, Vector]]:
    """Dual solutions, of rows and equalities, of which each support vector that can has a positive multiplier.

    With them the witnesses of all others.
    """
    opposite = [tuple(-value for value in e) for e in equalities]
    columns = [*(rows[n] for n in support), *equalities, *opposite, tuple(-value for value in w)]
    m, k = len(equalities), len(support)
    duals, zero = [first], {}
    for i, n in enumerate(support):
        if first[n] != 0:
            continue
        y, v = balanced(columns, [int(j == i) for j in range(len(columns))])
        if y is None:
            zero[n] = v
            continue
        at = dict(zip(support, y, strict=False))
        found = [at.get(j, fmpq(0)) for j in range(len(rows))]
        found += [up - down for up, down in zip(y[k : k + m], y[k + m : -1], strict=True)]
        if y[-1] != 0:
            duals.append(tuple(value / y[-1] for value in found))
        else:  # a direction along which the duals are unbounded
            duals.append(tuple(a + b for a, b in zip(first, found, strict=True)))
    return duals, zero
