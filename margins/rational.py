"""The hard-margin problem min |w| s.t. A w >= 1 with rational rows, and whether it has a solution, exactly.

The rows are vectors of data, a few coordinates long; orders have the faster `marginaudit.margins.exact`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from flint import fmpq

from marginaudit.margins.errors import NotExact
from marginaudit.margins.hard_margin import hard_margin

Vector = tuple[fmpq, ...]
Matrix = Sequence[Sequence[fmpq]]


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


@dataclass(frozen=True)
class ExactMargin:
    """The optimum of min |w| s.t. x_n.w >= 1, with what proves it.

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


def exact_hard_margin(X: Matrix) -> ExactMargin:
    """The optimum of separable data, checked in rational arithmetic.

    `hard_margin` finds which duals are positive; these rows are solved for exactly, and every condition is checked.

    Raises
    ------
    NotExact
        No choice of rows meets the conditions.
    SolverFailure
        `hard_margin` finds no solution, as where there is none.
    """
    multipliers = hard_margin(np.array(X, dtype=float)).multipliers
    for least in (1e-8, 1e-12, 1e-16, 1e-24, 1e-6, 1e-4):
        chosen = [x for x, value in zip(X, multipliers, strict=True) if value > least * multipliers.max()]
        margins_less_1 = [*([dot(u, v) for v in chosen] for u in chosen), [fmpq(-1)] * len(chosen)]
        duals, _ = balanced(margins_less_1, [*[0] * len(chosen), 1])
        if duals is not None and (found := optimum(X, combined(duals[:-1], chosen))) is not None:
            return found
    raise NotExact("no support vectors give an optimum in rational arithmetic")


def optimum(X: Matrix, w: Vector) -> ExactMargin | None:
    """The optimum w with its duals, or None where w is none."""
    margins = tuple(dot(x, w) for x in X)
    if min(margins) < 1:
        return None
    support = tuple(n for n, margin in enumerate(margins) if margin == 1)
    columns = [*(X[n] for n in support), [-value for value in w]]
    duals, zero = [], {}
    for k, n in enumerate(support):
        y, v = balanced(columns, [int(i == k) for i in range(len(columns))])
        if y is None:
            zero[n] = v
        else:
            duals.append([value / y[-1] for value in y[:-1]])
    if not duals:
        return None
    mean = {n: sum(column) / len(duals) for n, column in zip(support, zip(*duals, strict=True), strict=True)}
    return ExactMargin(w, margins, support, tuple(mean.get(n, fmpq(0)) for n in range(len(X))), zero)
