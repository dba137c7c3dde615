"""Which tight constraints can carry a multiplier, and the second max-margin problem, against other solvers."""

from fractions import Fraction

import numpy as np
import pytest
import scipy
from hypothesis import given
from numpy.typing import NDArray

from marginaudit.margins.support import Support, support
from marginaudit.margins.weighted_margin import WeightedMargin, weighted_margin
from marginaudit.orders.ntp import free_dataset
from marginaudit.training.ntp.model.edges import MergedEdges
from marginaudit.training.ntp.model.reference import ExactReference
from tests.margins.test_weighted_margin import acyclic_graphs
from tests.solutions import known
from tests.training.ntp.far.late_model import TWICE_DEGENERATE, TWO_SIZES, block, of_dataset, of_graph


def largest_multiplier(
    winner: NDArray[np.int64],
    loser: NDArray[np.int64],
    tight: NDArray[np.bool_],
    W: tuple[Fraction, ...],
    edge: np.int64,
) -> float:
    """Of one edge over all dual solutions, by a linear program."""
    pulled = np.zeros((len(W), len(winner)))
    np.add.at(pulled, (winner, np.arange(len(winner))), 1.0)
    np.add.at(pulled, (loser, np.arange(len(winner))), -1.0)
    bounds = [(0, None if free else 0) for free in tight]
    cost = np.zeros(len(winner))
    cost[edge] = -1
    found = scipy.optimize.linprog(cost, A_eq=pulled, b_eq=[float(w) for w in W], bounds=bounds)
    assert found.status == 0
    return -known(found.fun)


def check_carried(merged: MergedEdges, reference: ExactReference) -> Support:
    found = support(merged.winner, merged.loser, reference.slack, reference.multiplier, len(reference.weight))
    assert found.tight.tolist() == [slack == 0 for slack in reference.slack]
    for edge in np.flatnonzero(found.tight):
        largest = largest_multiplier(merged.winner, merged.loser, found.tight, reference.weight, edge)
        assert (largest > 1e-7) == found.carried[edge], edge
    assert not found.carried[~found.tight].any()
    assert found.degenerate == bool((found.tight & ~found.carried).any())
    inside = found.component[merged.winner] == found.component[merged.loser]
    assert (inside[found.tight] == found.carried[found.tight]).all()
    assert found.size.sum() == len(reference.weight)
    assert (np.bincount(found.component) == found.size).all()
    for number in range(len(found.size)):
        assert sum(w for w, c in zip(reference.weight, found.component, strict=True) if c == number) == 0
    return found


@given(acyclic_graphs())
def test_carried_edges_are_those_that_a_linear_program_finds(edges: set[tuple[int, int]]) -> None:
    check_carried(*of_graph(edges))


@pytest.mark.parametrize("seed", range(6))
def test_carried_edges_of_random_datasets(seed: int) -> None:
    check_carried(*of_dataset(free_dataset(V=8, N=25, L=5, seed=seed)))


def test_both_kinds_of_support_occur() -> None:
    kinds = {check_carried(*of_dataset(free_dataset(V=8, N=25, L=5, seed=seed))).degenerate for seed in range(6)}
    assert kinds == {True, False}


@pytest.mark.parametrize(("edges", "uncarried"), [(TWO_SIZES, 3), (TWICE_DEGENERATE, 3), (block(3, 4, 0), 0)])
def test_known_graphs(edges: set[tuple[int, int]], uncarried: int) -> None:
    assert check_carried(*of_graph(edges)).uncarried.sum() == uncarried


def second_of(edges: set[tuple[int, int]]) -> WeightedMargin:
    merged, reference = of_graph(edges)
    found = support(merged.winner, merged.loser, reference.slack, reference.multiplier, len(reference.weight))
    free = found.uncarried
    return weighted_margin(found.size, found.component[merged.winner[free]], found.component[merged.loser[free]])


def test_the_second_problem_of_two_sizes() -> None:
    second = second_of(TWO_SIZES)
    assert sorted(second.x) == [Fraction(-2, 3), Fraction(-1, 3), Fraction(1, 3), Fraction(2, 3)]
    assert sorted(second.slack) == [0, 0, Fraction(1, 3)]
    assert second.norm_squared == Fraction(8, 3)


def test_the_second_problem_may_be_degenerate_too() -> None:
    second = second_of(TWICE_DEGENERATE)
    found = support(second.winner, second.loser, second.slack, second.multiplier, len(second.x))
    assert sorted(second.x) == [Fraction(-1, 2)] * 2 + [Fraction(1, 2)] * 2
    assert found.degenerate
    assert found.uncarried.sum() == 1
