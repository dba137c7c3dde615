"""The max-margin problem with masses, against a quadratic program."""

from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from marginaudit.margins import CertificateError
from marginaudit.margins.weighted_margin import weighted_margin


@st.composite
def acyclic_graphs(draw: st.DrawFn) -> set[tuple[int, int]]:
    """Edges from smaller to larger numbers below 8."""
    return draw(st.sets(st.sampled_from(list(combinations(range(8), 2))), min_size=1, max_size=14))


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
