"""Rows of given states, alone, together and in blocks."""

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from marginaudit.training.ntp.steps import reduced as reduced_module
from marginaudit.training.ntp.steps.iterate import Iterate
from marginaudit.training.ntp.steps.loss import Gradient, Row, row, rows_at
from marginaudit.training.ntp.steps.reduced import ReducedKQ
from marginaudit.training.ntp.steps.stepper import Stepper, descend
from tests.training.ntp.problems import REDUCED, SMALL, reduced, states


@pytest.mark.parametrize("t", [1, 50, 3000])
def test_a_row_of_a_given_state_is_that_of_steps(t: int) -> None:
    problem, iterate = reduced(SMALL, 9.0)
    while iterate.moves < t:
        Stepper(problem).step(iterate)
    stepped = row(problem, iterate, t)
    [given] = rows_at(problem, iterate, [(t, iterate.rest, 0.25, 0.125)], "law")
    for name, value in stepped.items():
        if name in ("error", "distance_error", "method"):
            continue
        np.testing.assert_allclose(given[name], value, rtol=1e-13, err_msg=name)
    assert given["method"] == "law"


def assert_same_rows(found: list[Row], expected: list[Row]) -> None:
    assert [set(row) for row in found] == [set(row) for row in expected]
    for one, other in zip(found, expected, strict=True):
        for name, value in other.items():
            if isinstance(value, str):
                assert one[name] == value
            else:
                np.testing.assert_allclose(one[name], value, rtol=1e-12, atol=1e-14, err_msg=name)


def test_rows_taken_in_blocks_are_those_taken_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """A block is more than one state, and the last one is not full; a state that is kept does not move on."""
    steps = [1, 2, *range(10, 160), 300]
    blocks: list[int] = []
    evaluated = ReducedKQ.evaluated

    def counted(problem: ReducedKQ, some: Sequence[Iterate]) -> list[tuple[Gradient, Row]]:
        blocks.append(len(some))
        return evaluated(problem, some)

    monkeypatch.setattr(ReducedKQ, "evaluated", counted)
    found = []
    for most in (64, 1):
        monkeypatch.setattr(reduced_module, "MOST_TOGETHER", most)
        problem, start = reduced(SMALL, 9.0)
        assert problem.together == most
        found.append(descend(Stepper(problem), start, 300, steps, None, 0))
    assert blocks == [64, 64, 25, *[1] * 153]
    assert [row["step"] for row in found[0]] == steps
    assert_same_rows(*found)


def test_rows_after_the_gradient_is_hidden_are_those_of_where_it_stopped() -> None:
    """The rows before are of a block that is not full."""
    problem, start = reduced(SMALL, 9.0)
    rows = descend(Hiding(problem, 5), start, 100, [3, 4, 50, 100], None, 0)
    assert [row["step"] for row in rows] == [3, 4, 50, 100]
    stopped = row(problem, start, 50)
    assert_same_rows(rows[2:], [stopped, {**stopped, "step": 100}])


class Hiding(Stepper):
    """Stepper whose gradient is hidden from some step on."""

    def __init__(self, loss: ReducedKQ, last: int) -> None:
        super().__init__(loss)
        self.most = last

    def advance(self, iterate: Iterate, goal: int, report: Callable[[int], None]) -> None:
        super().advance(iterate, min(goal, self.most), report)


@pytest.mark.parametrize("name", REDUCED)
@pytest.mark.parametrize("A", [0.2, 9.0, 250.0])
def test_compiled_rows_are_those_of_numpy(name: str, A: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """From a start to attention that is one-hot to rounding, and out of the kernel's range."""
    problem, start = reduced(REDUCED[name], A)
    placed = [start.placed(0, scores) for scores in states(problem)]
    if problem.exact is not None:
        rest = 0.1 * states(problem)[1]
        moves = [int(lead * problem.exact.norm / start.lr) for lead in (3, 20, 34, 60, 1e5, 1e12)]
        placed += [start.placed(t, rest) for t in moves]
    taken = [problem.compiled is not None and problem.compiled.look(state) is not None for state in placed]
    assert any(taken)
    rows = []
    for edges in (0, 10**9):
        monkeypatch.setattr(reduced_module, "MOST_EDGES_IN_NUMPY", edges)
        rows.append([row(problem, state, state.moves) for state in placed])
    for fast, slow in zip(*rows, strict=True):
        scale = max(1.0, abs(slow["log_gradient_norm"]))
        for column in ("log_loss", "log_other_weight", "log_excess", "log_gradient_norm"):
            assert fast[column] == pytest.approx(slow[column], rel=1e-13, abs=1e-13), column
        for column in ("loss", "min_optimal_weight", "norm", "one_minus_cos", "error", "distance_error", "along"):
            assert fast[column] == pytest.approx(slow[column], rel=1e-13, abs=1e-300, nan_ok=True), column
        for column in ("descent_reference", "descent_rest"):
            assert fast[column] == pytest.approx(slow[column], rel=1e-11, abs=1e-11 * scale, nan_ok=True), column


def test_compiled_rows_leave_the_largest_margins_of_W_ov_to_numpy() -> None:
    problem, start = reduced(SMALL, 301.0)
    assert problem.compiled is not None
    assert problem.compiled.look(start) is None


def test_no_bound_is_known_where_rounding_hides_attention() -> None:
    """W is near 0, as the difference of two arrays of size 1e12."""
    problem, start = reduced(SMALL, 9.0)
    moves = int(1e12 / start.lr)
    state = start.placed(moves, -start.lr * moves * start.reference)
    assert problem.compiled is not None
    looked = problem.compiled.look(state)
    assert looked is not None
    assert looked[0].rounding == problem.gradient(state).rounding == np.inf
