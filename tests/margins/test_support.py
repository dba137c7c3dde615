"""Which tight constraints can carry a multiplier, against a linear program."""

from fractions import Fraction

import numpy as np
import scipy
from hypothesis import example, given
from numpy.typing import NDArray

from marginaudit.margins.support import support
from tests.margins.test_weighted_margin import acyclic_graphs
from tests.solutions import known
from tests.training.ntp.far.late_model import TWICE_DEGENERATE, TWO_SIZES, block, of_graph


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


@given(acyclic_graphs())
@example(TWO_SIZES)
@example(TWICE_DEGENERATE)
@example(block(3, 4, 0))
def test_carried_edges_are_those_that_a_linear_program_finds(edges: set[tuple[int, int]]) -> None:
    merged, reference = of_graph(edges)
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
