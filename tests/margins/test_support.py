"""Which tight constraints can carry a multiplier, and the second max-margin problem, against other solvers."""

from dataclasses import replace
from fractions import Fraction

import cvxpy as cp
import numpy as np
import pytest
import scipy
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from marginaudit.margins import CertificateError
from marginaudit.margins.support import Support, support
from marginaudit.margins.weighted_margin import WeightedMargin, weighted_margin
from marginaudit.orders.ntp import CASES, Dataset, free_dataset
from marginaudit.training.ntp.model.edges import MergedEdges
from marginaudit.training.ntp.model.reference import ExactReference
from tests.solutions import known
from tests.training.ntp.far.late_model import TWICE_DEGENERATE, TWO_SIZES, block, of_dataset, of_graph


@st.composite
def acyclic_graphs(draw: st.DrawFn, nodes: int = 8) -> set[tuple[int, int]]:
    """Edges from smaller to larger numbers; every node has one."""
    pairs = [(a, j) for a in range(nodes) for j in range(a + 1, nodes)]
    return draw(st.sets(st.sampled_from(pairs), min_size=1, max_size=14))


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


@settings(max_examples=15)
@given(acyclic_graphs(), st.lists(st.integers(1, 9), min_size=8, max_size=8))
def test_weighted_margin_against_a_quadratic_program(edges: set[tuple[int, int]], masses: list[int]) -> None:
    winner, loser = np.array(sorted(edges)).T
    mass = np.array(masses)
    found = weighted_margin(mass, winner, loser)
    x = cp.Variable(8)
    problem = cp.Problem(
        cp.Minimize(cp.sum(cp.multiply(mass, cp.square(x)))), [x[winner] - x[loser] >= np.ones(len(winner))]
    )
    problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11)
    np.testing.assert_allclose(np.array(found.x, dtype=float), np.asarray(x.value), atol=1e-5)
    assert float(found.norm_squared) == pytest.approx(problem.value, rel=1e-6, abs=0)


@pytest.mark.parametrize("seed", range(4))
def test_weighted_margin_of_large_graphs(seed: int) -> None:
    """Long paths and many redundant edges; it verifies itself."""
    rng = np.random.default_rng(seed)
    pairs = np.sort(rng.integers(60, size=(400, 2)), axis=1)
    pairs = np.unique(pairs[pairs[:, 0] < pairs[:, 1]], axis=0)
    order = rng.permutation(len(pairs))
    found = weighted_margin(rng.integers(1, 20, size=60), *pairs[order].T)
    dual = 2 * sum(found.multiplier) - found.norm_squared
    assert dual == found.norm_squared > 0


@pytest.mark.parametrize("data", [CASES["section-7"](), CASES["free-20"](), free_dataset(V=12, N=60, L=6, seed=0)])
def test_weighted_margin_of_unit_masses_is_the_first_problem(data: Dataset) -> None:
    merged, reference = of_dataset(data)
    found = weighted_margin(np.ones(len(reference.weight), dtype=np.int64), merged.winner, merged.loser)
    assert found.x == reference.weight
    assert found.norm_squared == reference.norm_squared
    assert found.slack == reference.slack


def test_a_cycle_has_no_margin() -> None:
    with pytest.raises(ValueError, match="directed cycle"):
        weighted_margin(np.ones(3, dtype=np.int64), np.array([0, 1, 2]), np.array([1, 2, 0]))


@pytest.mark.parametrize(
    ("x", "multiplier", "message"),
    [
        ([1, 0, -1], [1, 1, 0], None),
        ([1, 0, 0], [1, 1, 0], "margin is below 1"),
        ([1, 0, -1], [2, 2, -1], "multiplier is negative"),
        ([1, 0, -1], ["1/2", "1/2", "1/2"], "positive on a slack"),
        ([2, 1, 0], [1, 1, 0], "do not add up"),
    ],
)
def test_verify(x: list[int], multiplier: list[int | str], message: str | None) -> None:
    right = weighted_margin(np.array([1, 2, 1]), np.array([0, 1, 0]), np.array([1, 2, 2]))
    given_ = replace(right, x=tuple(map(Fraction, x)), multiplier=tuple(map(Fraction, multiplier)))
    if message is None:
        given_.verify()
        assert given_.x == right.x
    else:
        with pytest.raises(CertificateError, match=message):
            given_.verify()
