"""Linear programs and the hard-margin SVM in rational arithmetic."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import fmpq, fmpq_mat

from marginaudit.margins import NotExact, SolverFailure, hard_margin

Vector = tuple[Fraction, ...]
Matrix = Sequence[Sequence[Fraction]]


def dot(u: Sequence[Fraction], v: Sequence[Fraction]) -> Fraction:
    """The scalar product."""
    return sum((a * b for a, b in zip(u, v, strict=True)), Fraction(0))


def combined(weights: Sequence[Fraction], rows: Matrix) -> Vector:
    """The sum of the rows, weighted."""
    return tuple(dot(weights, column) for column in zip(*rows, strict=True))


def feasible(A: Matrix, b: Sequence[Fraction]) -> tuple[Vector | None, Vector]:
    """Some y >= 0 with A y = b and (); or None and, by Farkas' lemma, z with z A <= 0 and z.b > 0.

    Phase one of the simplex method with Bland's rule, which ends.
    """
    m, n = len(A), len(A[0])
    signs = [-1 if value < 0 else 1 for value in b]
    rows = [
        [sign * a for a in row] + [Fraction(i == j) for j in range(m)] + [sign * value]
        for i, (row, sign, value) in enumerate(zip(A, signs, b, strict=True))
    ]
    basis = list(range(n, n + m))
    cost = [sum(column, Fraction(0)) for column in zip(*rows, strict=True)]
    cost[n : n + m] = [Fraction(0)] * m
    while (entering := next((j for j in range(n) if cost[j] > 0), None)) is not None:
        ratios = [(row[-1] / row[entering], basis[i], i) for i, row in enumerate(rows) if row[entering] > 0]
        leaving = min(ratios)[2]
        pivot = rows[leaving] = [value / rows[leaving][entering] for value in rows[leaving]]
        for row in [*(row for i, row in enumerate(rows) if i != leaving), cost]:
            if factor := row[entering]:
                row[:] = [value - factor * p for value, p in zip(row, pivot, strict=True)]
        basis[leaving] = entering
    if cost[-1] > 0:
        return None, tuple(sign * (1 + cost[n + i]) for i, sign in enumerate(signs))
    y = [Fraction(0)] * (n + m)
    for i, j in enumerate(basis):
        y[j] = rows[i][-1]
    return tuple(y[:n]), ()


def reduced(rows: Matrix) -> tuple[list[list[fmpq]], int]:
    """The reduced row echelon form, and the rank."""
    found, rank = fmpq_mat([[fmpq(v.numerator, v.denominator) for v in row] for row in rows]).rref()
    return found.tolist(), rank


def solved(K: Matrix, b: Sequence[Fraction]) -> Vector | None:
    """Some y with K y = b, or None."""
    rows, rank = reduced([[*row, value] for row, value in zip(K, b, strict=True)])
    pivots = [next(j for j, value in enumerate(row) if value != 0) for row in rows[:rank]]
    if len(K[0]) in pivots:
        return None
    known = {j: Fraction(int(row[-1].p), int(row[-1].q)) for j, row in zip(pivots, rows, strict=False)}
    return tuple(known.get(j, Fraction(0)) for j in range(len(K[0])))


def separated(X: Matrix) -> tuple[Vector | None, Vector]:
    """Some w with x_n.w >= 1 for all n and (); or None and y >= 0 of sum 1 with sum_n y_n x_n = 0, so that none is."""
    y, z = feasible([*zip(*X, strict=True), [Fraction(1)] * len(X)], [*[Fraction(0)] * len(X[0]), Fraction(1)])
    return (None, y) if y is not None else (tuple(-value / z[-1] for value in z[:-1]), ())


@dataclass(frozen=True)
class Svm:
    """The optimum of min |w| s.t. x_n.w >= 1, with what proves it.

    Attributes
    ----------
    w : the optimum, sum_n alpha_n x_n
    margins : x_n.w, each at least 1
    support : the n with a margin of 1
    alpha : duals, by n; positive on every support vector that has a positive one in any dual solution
    zero : for each support vector whose dual is 0 in all of them, v with v.w = 0, v.x_n >= 0 on the support, v.x_k > 0
    """

    w: Vector
    margins: Vector
    support: tuple[int, ...]
    alpha: Vector
    zero: dict[int, Vector]

    @property
    def norm2(self) -> Fraction:
        """|w|^2, the sum of the duals."""
        return dot(self.w, self.w)


def svm(X: Matrix) -> Svm:
    """The hard-margin SVM of separable data, its optimality checked in rational arithmetic.

    The engine finds which duals are positive; these rows are solved for exactly, and every condition is checked.

    Raises
    ------
    NotExact
        No choice of rows meets the conditions.
    """
    try:
        multipliers = hard_margin(np.array([[float(x) for x in row] for row in X])).multipliers
    except SolverFailure as failure:
        raise NotExact(str(failure)) from None
    for least in (1e-8, 1e-12, 1e-16, 1e-24, 1e-6, 1e-4):
        chosen = [x for x, value in zip(X, multipliers, strict=True) if value > least * multipliers.max()]
        duals = solved([[dot(u, v) for v in chosen] for u in chosen], [Fraction(1)] * len(chosen))
        if duals is not None and (found := _checked(X, combined(duals, chosen))) is not None:
            return found
    raise NotExact("no support vectors give an optimum in rational arithmetic")


def _checked(X: Matrix, w: Vector) -> Svm | None:
    """The optimum w with its duals, or None where w is none."""
    margins = tuple(dot(x, w) for x in X)
    if min(margins) < 1:
        return None
    support = tuple(n for n, margin in enumerate(margins) if margin == 1)
    columns = [*(X[n] for n in support), tuple(-value for value in w)]
    duals, zero = [], {}
    for k, n in enumerate(support):
        unit = [Fraction(i == k) for i in range(len(columns))]
        y, z = feasible([*zip(*columns, strict=True), unit], [*[Fraction(0)] * len(w), Fraction(1)])
        if y is None:
            zero[n] = tuple(-value for value in z[:-1])
        else:
            duals.append([value / y[-1] for value in y[:-1]])
    if not duals:
        return None
    mean = {n: sum(column) / len(duals) for n, column in zip(support, zip(*duals, strict=True), strict=True)}
    return Svm(w, margins, support, tuple(mean.get(n, Fraction(0)) for n in range(len(X))), zero)
