"""W*_ov of eq. 2 and W*_kq of eq. 3 in rational arithmetic, for any embeddings, with their optimality checked.

Both problems are min ||W||_F over <M_i, W> >= 1 with matrices M_i of rank one. Only the inner products <M_i, M_j>
matter, and W = sum_i lambda_i M_i. The multipliers come from non-negative least squares (Lawson and Hanson, Solving
least squares problems, chapter 23, problem LDP), which ends after finitely many pivots in exact arithmetic.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import flint

from tests.oracle.problem import Problem

Pair = tuple[str, str]


@dataclass(frozen=True)
class Constraint:
    """(winner - loser)^T W column >= 1, each of the three a sum of basis vectors and embeddings."""

    winner: str
    loser: str
    column: str


@dataclass(frozen=True)
class Solution:
    """A max-margin problem's solution.

    Attributes
    ----------
    norm_squared : ||W*||^2, or None where the problem is infeasible
    weights : W* by (row, column), as coefficients of row column^T
    constraints, multipliers, slacks : the problem's rows, each with its multiplier and <M, W*> - 1
    """

    norm_squared: Fraction | None
    weights: dict[Pair, Fraction]
    constraints: tuple[Constraint, ...]
    multipliers: tuple[Fraction, ...]
    slacks: tuple[Fraction, ...]


def solve_ov(p: Problem, gram: Sequence[Sequence[Fraction]]) -> Solution:
    """Eq. 2: (e_{n(x)} - e_v)^T W x >= 1."""
    n = p.n
    rows = [Constraint(n[x], v, x) for x in p.vocabulary for v in p.vocabulary if v != n[x]]
    identity = [[Fraction(i == j) for j in range(p.V)] for i in range(p.V)]
    return _solve(p, rows, identity, gram)


def solve_kq(p: Problem, gram: Sequence[Sequence[Fraction]]) -> Solution:
    """Eq. 3: (x_l* - x_l)^T W q >= 1 for every sample, its optimal positions against its other ones."""
    rows = dict.fromkeys(
        Constraint(x, z, tokens[-1])
        for tokens, y in p.counts
        for x, z in product(tokens, tokens)
        if p.maps(x, y) and not p.maps(z, y)
    )
    return _solve(p, list(rows), gram, gram)


def _solve(
    p: Problem, rows: list[Constraint], left: Sequence[Sequence[Fraction]], right: Sequence[Sequence[Fraction]]
) -> Solution:
    at = {x: i for i, x in enumerate(p.vocabulary)}

    def inner(a: Constraint, b: Constraint) -> Fraction:
        i, j, k, m = at[a.winner], at[a.loser], at[b.winner], at[b.loser]
        return (left[i][k] - left[i][m] - left[j][k] + left[j][m]) * right[at[a.column]][at[b.column]]

    products = [[inner(a, b) for b in rows] for a in rows]
    multipliers = least_distance(products)
    if multipliers is None:
        return Solution(None, {}, tuple(rows), (), ())
    reached = [sum((m * x for m, x in zip(multipliers, row, strict=True)), Fraction(0)) for row in products]
    if not all(m >= 0 and r >= 1 and (m == 0 or r == 1) for m, r in zip(multipliers, reached, strict=True)):
        raise ArithmeticError("the multipliers and margins are not those of a solution")
    weights: dict[Pair, Fraction] = {}
    for row, multiplier in zip(rows, multipliers, strict=True):
        for x, sign in ((row.winner, 1), (row.loser, -1)):
            weights[x, row.column] = weights.get((x, row.column), Fraction(0)) + sign * multiplier
    return Solution(
        sum(multipliers, Fraction(0)), weights, tuple(rows), tuple(multipliers), tuple(r - 1 for r in reached)
    )


def least_distance(products: Sequence[Sequence[Fraction]]) -> list[Fraction] | None:
    """Multipliers lambda of min ||w|| over C w >= 1, given C C^T: w = C^T lambda; None if there is no such w.

    >>> least_distance([[Fraction(2), Fraction(1)], [Fraction(1), Fraction(2)]])
    [Fraction(1, 3), Fraction(1, 3)]
    >>> least_distance([[Fraction(2), Fraction(-2)], [Fraction(-2), Fraction(2)]]) is None
    True
    """
    # non-negative least squares of (C^T over a row of ones) u = (0, .., 0, 1)
    normal = flint.fmpq_mat([[_rational(value + 1) for value in row] for row in products])
    ones = flint.fmpq_mat([[flint.fmpq(1)] for _ in products])
    u, passive = [flint.fmpq(0)] * len(products), list[int]()
    while True:
        descent = ones - normal * flint.fmpq_mat([[value] for value in u])
        entering = max((i for i in range(len(u)) if i not in passive), key=lambda i: descent[i, 0], default=None)
        if entering is None or descent[entering, 0] <= 0:
            break
        passive.append(entering)
        while True:
            wanted = _least_squares(normal, passive)
            if all(value > 0 for value in wanted):
                break
            share = min(u[i] / (u[i] - value) for i, value in zip(passive, wanted, strict=True) if value <= 0)
            for i, value in zip(passive, wanted, strict=True):
                u[i] += share * (value - u[i])
            passive = [i for i in passive if u[i] > 0]
        for i, value in zip(passive, wanted, strict=True):
            u[i] = value
    rest = 1 - sum(u, flint.fmpq(0))
    return [_fraction(value / rest) for value in u] if rest != 0 else None


def _least_squares(normal: flint.fmpq_mat, passive: list[int]) -> list[flint.fmpq]:
    matrix = flint.fmpq_mat([[normal[i, j] for j in passive] for i in passive])
    found = matrix.solve(flint.fmpq_mat([[flint.fmpq(1)] for _ in passive]))
    return [found[i, 0] for i in range(len(passive))]


def _rational(value: Fraction) -> flint.fmpq:
    return flint.fmpq(value.numerator, value.denominator)


def _fraction(value: flint.fmpq) -> Fraction:
    return Fraction(int(value.p), int(value.q))
