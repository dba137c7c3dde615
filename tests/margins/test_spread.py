"""The dual solution with the largest least multiplier: stars, which need no linear program."""

import numpy as np
import pytest

from marginaudit.margins.spread import is_star, spread


@pytest.mark.parametrize(
    ("edges", "star"),
    [
        ([(0, 1)], True),
        ([(0, 1), (0, 2), (0, 3)], True),
        ([(1, 0), (2, 0), (3, 0)], True),
        ([(0, 2), (1, 2), (1, 3)], False),  # a tree with two centres
        ([(0, 2), (0, 3), (1, 2), (1, 3)], False),
        ([(0, 1), (0, 1)], False),  # an edge twice
    ],
)
def test_stars(edges: list[tuple[int, int]], star: bool) -> None:
    tail, head = np.array(edges).T
    assert is_star(tail, head, int(max(tail.max(), head.max())) + 1) is star


def divergence(winner: np.ndarray, loser: np.ndarray, flow: np.ndarray, nodes: int) -> np.ndarray:
    found = np.zeros(nodes)
    np.add.at(found, winner, flow)
    np.subtract.at(found, loser, flow)
    return found


@pytest.mark.parametrize("inward", [False, True])
def test_a_star_s_multipliers_are_its_solution_bit_by_bit(inward: bool) -> None:
    """What a linear program gives is off by its tolerance."""
    flow = np.random.default_rng(0).random(50)
    centre, outer = np.zeros(50, dtype=np.int64), np.arange(1, 51)
    winner, loser = (outer, centre) if inward else (centre, outer)
    found = spread(winner, loser, divergence(winner, loser, flow, 51))
    assert found.multiplier.tolist() == flow.tolist()
    assert found.residual <= 1e-14


def test_small_multipliers_are_those_of_the_flow_made_small() -> None:
    """No tolerance of the solver takes a flow of 1e-8 for none."""
    rng = np.random.default_rng(1)
    winner, loser = np.array([(a, 6 + x) for a in range(6) for x in range(6) if rng.random() < 0.4]).T
    solution = divergence(winner, loser, rng.random(len(winner)) + 0.1, 12)
    found = spread(winner, loser, 1e-8 * solution)
    least = spread(winner, loser, solution).multiplier.min()
    assert found.multiplier.min() == pytest.approx(1e-8 * least, rel=1e-6, abs=0)
    assert found.residual < 1e-20


def test_the_residual_is_the_length_of_what_is_left() -> None:
    """A divergence that sums to 0.3 and not to 0 along a star: its centre is off by as much."""
    found = spread(np.array([0, 0]), np.array([1, 2]), np.array([1.3, -0.5, -0.5]))
    assert found.residual == pytest.approx(0.3)
