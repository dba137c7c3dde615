"""The two problems once more, in rational arithmetic and by brute force: nothing of the package's solvers."""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import combinations
from typing import TypeAlias, TypeVar

import flint
import mpmath
import numpy as np
from numpy.typing import ArrayLike, NDArray

from marginaudit.margins.ntp import Exact
from marginaudit.orders.ntp import Dataset, Sample
from tests.oracle.solutions import least_distance

Node = TypeVar("Node", int, str)
NamedRow: TypeAlias = tuple[str, str, str]
"""Column token, winner, loser."""


def related(edges_by_query: dict[str, list[tuple[str, str]]], *, isolated: Iterable[str] = ()) -> Dataset:
    """A dataset whose relation under each query holds the given edges, and the query under all their winners.

    Every sample holds its query, so a winner beats it unless it is the winner itself.
    """
    samples: list[Sample] = []
    tokens: dict[str, None] = {}
    for query, edges in edges_by_query.items():
        for winner, loser in edges:
            tokens |= dict.fromkeys((winner, loser, query))
    tokens |= dict.fromkeys(isolated)
    names = tuple(sorted(tokens))
    n = {x: names[(i + 1) % len(names)] for i, x in enumerate(names)}
    for query, edges in edges_by_query.items():
        samples += [Sample((winner, loser, query), n[winner]) for winner, loser in edges]
    return Dataset("related", names, tuple(samples), (1,) * len(samples), next_token=n)


def kq_constraints(dataset: Dataset) -> list[NamedRow]:
    """(query, winner, loser) from the samples themselves, each once."""
    n = dataset.collocation.function
    found: dict[NamedRow, None] = {}
    for sample in dataset.samples:
        for w in sample.tokens:
            for x in sample.tokens:
                if n[w] == sample.next != n[x]:
                    found[sample.tokens[-1], w, x] = None
    return sorted(found, key=lambda row: tuple(dataset.index[x] for x in row))


def edges_of(dataset: Dataset) -> dict[str, list[tuple[str, str]]]:
    """(winner, loser) by query."""
    found: dict[str, list[tuple[str, str]]] = {}
    for q, w, x in kq_constraints(dataset):
        found.setdefault(q, []).append((w, x))
    return found


def ov_constraints(dataset: Dataset) -> list[NamedRow]:
    """(x, n(x), v) for v != n(x)."""
    n = dataset.collocation.function
    return [(x, n[x], v) for x in dataset.vocabulary for v in dataset.vocabulary if v != n[x]]


def exact_rows(
    dataset: Dataset, constraints: list[NamedRow], *, left: ArrayLike, right: ArrayLike
) -> list[list[Fraction]]:
    """The rows of A as rationals, from the given factors (vocabulary, dimension) as they stand in float64."""
    K, Q = ([[Fraction(v) for v in row] for row in np.asarray(side, dtype=float).tolist()] for side in (left, right))
    index = dataset.index
    return [
        [(a - b) * c for a, b in zip(K[index[w]], K[index[x]], strict=True) for c in Q[index[q]]]
        for q, w, x in constraints
    ]


def dot(a: Iterable[Fraction | int], b: Iterable[Fraction]) -> Fraction:
    return sum((x * y for x, y in zip(a, b, strict=True)), Fraction(0))


def combine(A: Iterable[Iterable[Fraction | int]], lam: Sequence[Fraction]) -> list[Fraction]:
    """A^T lam."""
    return [dot(column, lam) for column in zip(*A, strict=True)]


def check_exact_solution(dataset: Dataset, solution: Exact, constraints: list[NamedRow]) -> None:
    """The optimality conditions for one-hot tokens, in rationals, and what the solution says of itself in float64."""
    weights = {(x, q): v for q, column in solution.weights_exact.items() for x, v in column.items()}
    zero = Fraction(0)
    assert all(weights.values())
    lam = [solution.multipliers_exact.fraction(i) for i in range(len(constraints))]
    assert all(value >= 0 for value in lam)
    pulled: dict[tuple[str, str], Fraction] = {}
    for (q, w, x), value in zip(constraints, lam, strict=True):
        assert weights.get((w, q), zero) - weights.get((x, q), zero) >= 1
        pulled[w, q] = pulled.get((w, q), zero) + value
        pulled[x, q] = pulled.get((x, q), zero) - value
    assert {pair: value for pair, value in pulled.items() if value} == weights
    norm_squared = sum((value**2 for value in weights.values()), Fraction(0))
    assert norm_squared == sum(lam, Fraction(0)) == solution.norm_squared_exact

    certificate, scores = solution.certificate, np.zeros((dataset.V, dataset.V))
    assert certificate.primal == certificate.dual == solution.norm_squared == float(norm_squared)
    assert certificate.gap == certificate.max_violation == solution.weight_radius == 0
    assert solution.direction_radius == 0 if norm_squared else np.isnan(solution.direction_radius)
    assert solution.multipliers.tolist() == list(map(float, lam))
    for (x, q), value in weights.items():
        scores[dataset.index[x], dataset.index[q]] = value
    assert np.array_equal(solution.scores, scores)


def brute_force(edges: list[tuple[Node, Node]]) -> dict[Node, Fraction] | None:
    """The exact minimum of sum w^2 s.t. w_a - w_b >= 1, over all sets of active rows; None if infeasible."""
    nodes = sorted({x for edge in edges for x in edge})
    rows = [[(x == a) - (x == b) for x in nodes] for a, b in edges]
    for size in range(1, len(nodes)):
        for chosen in combinations(rows, size):
            active = flint.fmpq_mat([list(map(flint.fmpq, row)) for row in chosen])
            gram = active * active.transpose()
            if gram.det() == 0:
                continue
            lam = gram.solve(flint.fmpq_mat([[flint.fmpq(1)]] * size))
            w = active.transpose() * lam
            values = [Fraction(int(v.p), int(v.q)) for v in w.entries()]
            if all(v >= 0 for v in lam.entries()) and all(dot(row, values) >= 1 for row in rows):
                return dict(zip(nodes, values, strict=True))
    return None


def refuting_set(edges: list[tuple[str, str]]) -> tuple[str, ...] | None:
    """A smallest S of winners with |N(S)| k < |S| m, by trying all, or None."""
    winners, losers = {a for a, _ in edges}, {b for _, b in edges}
    for size in range(1, len(winners) + 1):
        for chosen in combinations(sorted(winners), size):
            met = {b for a, b in edges if a in chosen}
            if len(met) * len(winners) < size * len(losers):
                return chosen
    return None


def rational_optimum(A: list[list[Fraction]]) -> list[Fraction]:
    """The minimum-norm w with A w >= 1, A of rationals, by the oracle; the optimality conditions are asserted."""
    multipliers = least_distance([[dot(a, b) for b in A] for a in A])
    assert multipliers is not None
    w = combine(A, multipliers)
    assert min(multipliers) >= 0
    assert min(dot(row, w) for row in A) >= 1
    assert dot(w, w) == sum(multipliers)
    return w


def true_distances(W: NDArray[np.float64], w: list[Fraction]) -> tuple[mpmath.mpf, mpmath.mpf]:
    """||W/||W|| - w/||w|||| and ||W - w||, in 60 digits; W as it stands in float64, w of rationals."""
    with mpmath.workdps(60):
        left = [mpmath.mpf(v) for v in np.ravel(W).tolist()]
        right = [mpmath.mpf(v.numerator) / v.denominator for v in w]
        lengths = [mpmath.sqrt(sum(v**2 for v in side)) for side in (left, right)]
        direction = sum((a / lengths[0] - b / lengths[1]) ** 2 for a, b in zip(left, right, strict=True))
        weight = sum((a - b) ** 2 for a, b in zip(left, right, strict=True))
        return mpmath.sqrt(direction), mpmath.sqrt(weight)
