"""Rows of given states, alone, together and in blocks."""

import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest

from marginaudit.orders.ntp import Dataset, Sample
from marginaudit.training.ntp.steps import reduced as reduced_module
from marginaudit.training.ntp.steps.descent import Descent, descend
from marginaudit.training.ntp.steps.iterate import Iterate
from marginaudit.training.ntp.steps.loss import Gradient, Row, row, rows_at
from marginaudit.training.ntp.steps.reduced import ReducedKQ
from tests.training.ntp.problems import REDUCED, SMALL, at_scores, reduced, states


@pytest.mark.parametrize("t", [1, 50, 3000])
def test_a_row_of_a_given_state_is_that_of_steps(t: int) -> None:
    problem, iterate = reduced(SMALL, 9.0)
    while iterate.moves < t:
        Descent(problem).step(iterate)
    stepped = row(problem, iterate, t)
    [given] = rows_at(problem, iterate, [(t, iterate.rest, 0.25)], "law")
    for name, value in stepped.items():
        if name in ("error", "distance_error", "method"):
            continue
        np.testing.assert_allclose(given[name], value, rtol=1e-13, err_msg=name)
    assert given["method"] == "law"
    assert 0.25 < given["error"] < 0.25 + 1e-10
    assert 0.25 * given["distance"] <= given["distance_error"] < 0.26 * given["distance"]
    assert rows_at(problem, iterate, [(t, iterate.rest, np.inf)], "law")[0]["distance_error"] == 2


def assert_same_rows(found: list[Row], expected: list[Row]) -> None:
    assert [set(row) for row in found] == [set(row) for row in expected]
    for one, other in zip(found, expected, strict=True):
        for name, value in other.items():
            if isinstance(value, str):
                assert one[name] == value
            else:
                np.testing.assert_allclose(one[name], value, rtol=1e-12, atol=1e-14, err_msg=name)


@pytest.mark.parametrize("name", REDUCED)
@pytest.mark.parametrize("A", [0.0, 0.3, 30.0])
def test_several_states_looked_at_together_are_as_each_alone(name: str, A: float) -> None:
    """Also where one of them is so far behind that `CommonMargin` takes over, whose fluxes do not cancel there."""
    problem, _ = reduced(REDUCED[name], A, exact=False)
    behind = np.zeros(problem.space.shape)
    behind[problem.merged.loser] = 8.0
    near = [at_scores(problem, scores) for scores in states(problem)[:4]]
    for together in (near, [*near, at_scores(problem, behind)]):
        for (gradient, measured), state in zip(problem.looked_at(together), together, strict=True):
            alone = problem.gradient(state)
            np.testing.assert_allclose(gradient.value, alone.value, rtol=1e-12, atol=1e-14)
            for part in ("norm", "log_scale", "rounding", "curvature", "concavity"):
                assert getattr(gradient, part) == pytest.approx(getattr(alone, part), rel=1e-12, abs=1e-300), part
            assert_same_rows([measured], [problem.measure(state)])


def test_a_flux_that_is_zero_counts_as_one_of_no_known_sign() -> None:
    """h of c: exp(A (0.2 - 0.4)) underflows, and a and b have equal attention, so up to 2 + 4 Phi."""
    samples, following = (Sample(tuple("aabbc"), "a"),), {"a": "a", "b": "b", "c": "c"}
    problem, start = reduced(Dataset("even", ("a", "b", "c"), samples, (1,), next_token=following), 4000.0, exact=False)
    gradient = problem.token_gradient(start)
    assert gradient.value.tolist() == [-1, 1, 0]
    assert gradient.concavity == pytest.approx(2 + 4 * 0.6, rel=1e-12, abs=0)


def test_states_of_sentences_of_one_token_have_no_margins() -> None:
    """Attention has nothing to choose from, and the gradient is 0."""
    samples = (Sample(("a",), "b"), Sample(("b",), "a"))
    problem, start = reduced(Dataset("alone", ("a", "b"), samples, (1, 2), next_token={"a": "b", "b": "a"}), 2.0, False)
    for gradient, measured in problem.looked_at([start.placed(t, start.rest) for t in (1, 2)]):
        assert gradient.hidden
        assert measured["loss"] == pytest.approx(math.log1p(math.exp(-2.0)), rel=1e-14, abs=0)


def test_rows_taken_in_blocks_are_those_taken_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """A block is more than one state, and the last one is not full; a state that is kept does not move on."""
    steps = [1, 2, *range(10, 160), 300]
    blocks: list[int] = []
    looked_at = ReducedKQ.looked_at

    def counted(problem: ReducedKQ, some: Sequence[Iterate]) -> list[tuple[Gradient, Row]]:
        blocks.append(len(some))
        return looked_at(problem, some)

    monkeypatch.setattr(ReducedKQ, "looked_at", counted)
    found = []
    for most in (64, 1):
        monkeypatch.setattr(reduced_module, "MOST_TOGETHER", most)
        problem, start = reduced(SMALL, 9.0)
        assert problem.together == most
        found.append(descend(Descent(problem), start, 300, steps, None, 0))
    assert blocks == [64, 64, 25, *[1] * 153]
    assert [row["step"] for row in found[0]] == steps
    assert_same_rows(*found)


def test_rows_of_given_states_are_taken_in_blocks() -> None:
    problem, start = reduced(SMALL, 9.0)
    rng = np.random.default_rng(0)
    given = [(t, rng.normal(size=start.high.shape), 1e-9 * t) for t in range(1, 100)]
    alone = [found for one in given for found in rows_at(problem, start, [one], "flow")]
    assert_same_rows(rows_at(problem, start, given, "flow"), alone)


def test_rows_after_the_gradient_is_hidden_are_those_of_where_it_stopped() -> None:
    """The rows before are of a block that is not full."""
    problem, start = reduced(SMALL, 9.0)
    rows = descend(Hiding(problem, 5), start, 100, [3, 4, 50, 100], None, 0)
    assert [row["step"] for row in rows] == [3, 4, 50, 100]
    stopped = row(problem, start, 50)
    assert_same_rows(rows[2:], [stopped, {**stopped, "step": 100}])


@pytest.mark.parametrize("normalised", [True, False])
def test_a_copy_of_a_state_stays_where_it_is(normalised: bool) -> None:
    """The NumPy form adds to the low part of rho in place."""
    problem, iterate = reduced(SMALL, 9.0, normalised=normalised)
    for _ in range(3):
        Descent(problem).step(iterate)
    copy, rest, low = iterate.copied(), iterate.rest.copy(), iterate.low.copy()
    Descent(problem).step(iterate)
    assert (copy.moves, iterate.moves) == (3, 4)
    np.testing.assert_array_equal(copy.rest, rest)
    np.testing.assert_array_equal(copy.low, low)
    assert (iterate.low != low).any()


class Hiding(Descent):
    """Descent whose gradient is hidden from some step on."""

    def __init__(self, loss: ReducedKQ, last: int) -> None:
        super().__init__(loss)
        self.most = last

    def advance(self, iterate: Iterate, goal: int, report: Callable[[int], None]) -> None:
        super().advance(iterate, min(goal, self.most), report)


def test_few_states_of_a_large_problem_are_looked_at_together(monkeypatch: pytest.MonkeyPatch) -> None:
    tokens = len(reduced(SMALL, 9.0)[0].classes.token)
    for most, together in ((3 * tokens, 3), (3 * tokens - 1, 2), (tokens - 1, 1), (10**9, 64)):
        monkeypatch.setattr(reduced_module, "AT_ONCE", most)
        assert reduced(SMALL, 9.0)[0].together == together
