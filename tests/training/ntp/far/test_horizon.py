"""Stage 2 beyond its true steps: against the steps themselves, and what it refuses."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from marginaudit.margins.ntp import solve_kq, solve_ov
from marginaudit.orders.ntp import CASES, Dataset, Sample, broken, free_dataset
from marginaudit.training.ntp import no_fast_forward, train
from marginaudit.training.ntp.far import flow, horizon
from marginaudit.training.ntp.far.horizon import one_hot
from marginaudit.training.ntp.model.edges import MergedEdges
from marginaudit.training.ntp.model.reference import ExactReference
from marginaudit.training.ntp.steps.iterate import Iterate
from marginaudit.training.ntp.steps.reduced import ReducedKQ
from marginaudit.training.ntp.steps.stepper import Stepper
from marginaudit.training.ntp.trained import Training
from tests.solutions import known
from tests.training.ntp.problems import at_scores, reduced

EXAMPLE = CASES["example-1"]()

FREE = free_dataset(V=6, N=14, L=4, seed=5, optimal=(1, 2), non_optimal=(1, 3))


def run(data: Dataset, steps2: int, at: list[int], **options: Any) -> Training:
    return train(data, steps2=steps2, at=at, ov_reference=solve_ov(data), kq_reference=solve_kq(data), **options)


def switch_at(step: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SWITCH", "LATE_SWITCH"):
        monkeypatch.setattr(horizon, name, step)


@pytest.fixture
def early(monkeypatch: pytest.MonkeyPatch) -> None:
    switch_at(10_000, monkeypatch)


def failing(_merged: MergedEdges, _exact: ExactReference, _lr: float, t0: int, *_: Any, **__: float) -> None:
    raise flow.FlowFailure(f"from {t0}")


@pytest.mark.parametrize("data", [EXAMPLE, FREE], ids=lambda data: data.name)
def test_the_flow_agrees_with_the_steps_within_the_stated_error(data: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    at = [100, 30_000, 100_000, 300_000]
    switch_at(10**6, monkeypatch)
    steps = run(data, at[-1], at)
    switch_at(20_000, monkeypatch)
    flow = run(data, at[-1], at)
    assert steps.stage2.method.tolist() == ["steps"] * 4
    assert flow.stage2.method.tolist() == ["steps", *["flow"] * 3]
    off = np.abs(flow.stage2.one_minus_cos / steps.stage2.one_minus_cos - 1)
    assert off[0] == 0
    assert (off[1:] > 0).any()
    assert (off <= flow.stage2.error + steps.stage2.error).all()
    assert (flow.stage2.error < 1e-2).all()
    for column in ("norm", "log_loss", "log_other_weight", "log_gradient_norm", "log_excess", "along"):
        left, right = getattr(flow.stage2, column), getattr(steps.stage2, column)
        np.testing.assert_allclose(left, right, rtol=1e-6, err_msg=column)
    np.testing.assert_allclose(flow.S, steps.S, atol=1e-3)


@pytest.mark.parametrize(
    ("data", "steps", "true_steps"),
    [
        (EXAMPLE, 500, 500),
        (EXAMPLE, 10**5, 10**5),
        (EXAMPLE, 10**18, 10**5),
        (FREE, 10**6, 10**6),
        (FREE, 10**18, 10**6),
    ],
    ids=lambda given: given.name if isinstance(given, Dataset) else "",
)
def test_the_true_steps_of_stage_2(data: Dataset, steps: int, true_steps: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """More where a tight constraint has no multiplier, as of the second."""

    class Asked(Exception):  # noqa: N818
        pass

    def ask(problem: ReducedKQ, iterate: Iterate, steps: int, at: Sequence[int], progress: None, done: int) -> None:
        raise Asked(steps)

    monkeypatch.setattr(horizon, "descend", ask)
    with pytest.raises(Asked, match=f"^{true_steps}$"):
        run(data, steps, [])


def test_the_steps_go_on_until_attention_is_one_hot(monkeypatch: pytest.MonkeyPatch) -> None:
    """By half as many again each time."""
    goals = [100]
    while goals[-1] < 10**5:
        goals.append(goals[-1] + goals[-1] // 2)
    steps = run(FREE, goals[-1], goals)
    hot = steps.stage2.log_other_weight + np.log(max(1, steps.margin)) < -56 * np.log(2)
    switch = goals[np.flatnonzero(hot)[0]]
    assert 100 < switch < goals[-1]
    switch_at(100, monkeypatch)
    trained = run(FREE, goals[-1], [switch, switch + 1, goals[-1]])
    assert trained.stage2.method.tolist() == ["steps", "flow", "flow"]
    off = abs(trained.stage2.one_minus_cos[2] / steps.stage2.one_minus_cos[-1] - 1)
    assert off <= trained.stage2.error[2] + steps.stage2.error[-1]


def test_the_flow_inherits_the_error_of_the_steps(early: None, monkeypatch: pytest.MonkeyPatch) -> None:
    inherited: list[float] = []

    def seen(*_: object, start_error: float) -> None:
        inherited.append(start_error)
        raise flow.FlowFailure("enough was seen")

    monkeypatch.setattr(flow, "fast_forward", seen)
    trained = run(FREE, 20_000, [])
    problem, iterate = reduced(FREE, trained.margin)
    Stepper(problem).advance(iterate, 10_000, lambda t: None)
    assert iterate.state_error > 0
    assert inherited == [iterate.state_error]


@pytest.mark.parametrize("case", CASES)
def test_the_law_is_a_second_answer(case: str, early: None) -> None:
    trained = run(CASES[case](), 10**18, [10**9, 10**12, 10**15, 10**18])
    assert trained.stopped == ""
    assert trained.asymptotics is not None
    assert trained.asymptotics.law is not None
    off = np.abs(trained.stage2.law / trained.stage2.one_minus_cos - 1)
    assert (off < [1e-5, 1e-8, 1e-9, 1e-9]).all()
    assert (trained.stage2.error < 1e-2).all()


def test_a_flow_that_fails_ends_the_run_with_its_true_steps(early: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flow, "fast_forward", failing)
    for at in ([5, 10**8, 10**12], [5], [10**12], [5, 10_000]):
        trained = run(FREE, 10**12, at)
        assert trained.stage2.step.tolist() == sorted({t for t in at if t <= 10_000} | {10_000})
        assert trained.stage2.method[-1] == "steps"
        assert "step 10000: from 10000" in trained.stopped
        assert len(trained.stage2.law) == len(trained.stage2)
    np.testing.assert_allclose(trained.S, run(FREE, 10_000, []).S, rtol=1e-12)


SYMMETRIC = Dataset(
    "two blocks",
    ("a", "b", "c", "d"),
    (Sample(("a", "b"), "b"), Sample(("c", "d"), "d")),
    (1, 1),
    next_token={"a": "b", "b": "a", "c": "d", "d": "c"},
)


def test_a_direction_on_w_star_itself_is_known() -> None:
    """1 - cos is the rounding of 0, which no relative bar bounds."""
    trained = run(SYMMETRIC, 10**12, [10**6, 10**12])
    assert trained.stage2.method.tolist() == ["flow", "flow"]
    assert (trained.stage2.error > 1e9).all()
    assert (trained.stage2.distance_error < 1e-13).all()


@pytest.mark.parametrize("lr2", [5.0, 0.0013], ids=["no flow yet", "a gradient that still turns"])
def test_the_flow_follows_from_later_on_where_that_is_better(lr2: float) -> None:
    late = free_dataset(V=9, N=14, L=7, seed=5, optimal=(1, 2), non_optimal=(1, 4), max_count=10**6)
    data, at = EXAMPLE if lr2 > 1 else late, [10**5, 3 * 10**5, 10**6]
    trained = run(data, 2 * 10**6, at, lr2=lr2)
    assert trained.stage2.method.tolist()[: len(at)] == ["steps"] * 3


def test_a_flow_that_fails_late_is_not_sought_earlier(monkeypatch: pytest.MonkeyPatch) -> None:
    """Attention is one-hot after both steps from which the flow may follow."""

    monkeypatch.setattr(flow, "fast_forward", failing)
    monkeypatch.setattr(horizon, "SWITCH", 100)
    monkeypatch.setattr(horizon, "LATE_SWITCH", 101)
    trained = run(EXAMPLE, 10**12, [])
    [last] = trained.stage2.step.tolist()
    assert last > 101
    assert f"step {last}: from {last}" in trained.stopped


def test_the_stiffest_equations_are_solved() -> None:
    """From t = 1.6e17 on, mu I is below the rounding of the rates."""
    assert run(CASES["free-20"](), 10**18, [], lr2=1.5).stopped == ""


def test_what_has_no_fast_forward() -> None:
    kq = solve_kq(EXAMPLE)
    assert no_fast_forward(EXAMPLE, kq) is None
    assert "plain" in known(no_fast_forward(EXAMPLE, kq, "gd"))
    assert "not known" in known(no_fast_forward(EXAMPLE, None))
    turned = broken(EXAMPLE, "orthonormal")
    assert "orthonormal" in known(no_fast_forward(turned, solve_kq(turned)))
    two = Dataset(
        "two",
        ("a", "b", "q"),
        (Sample(("a", "b", "q"), "b"),),
        (1,),
        next_token={"a": "b", "b": "b", "q": "a"},
    )
    assert "same next token" in known(no_fast_forward(two, solve_kq(two)))
    apart = Dataset("apart", tuple("abc"), (Sample(("a", "b"), "c"),), (1,), next_token={x: x for x in "abc"})
    assert len(apart.relations) == 0
    assert "n(x) of no token" in known(no_fast_forward(apart, solve_kq(apart)))


@pytest.mark.parametrize("A", [0.25, 50.0])
def test_attention_is_one_hot_below_the_rounding_of_a_gradient(A: float) -> None:
    """One optimal and one other token: log(other attention) + log(max(1, A)) below -56 log 2."""
    data = Dataset("pair", ("a", "b"), (Sample(("a", "b"), "b"),), (1,), next_token={"a": "b", "b": "a"})
    problem, _ = reduced(data, A, exact=False)
    limit = 56 * np.log(2) + np.log(max(1.0, A))
    for room in (-1e-3, 1e-3):
        scores = np.where(problem.classes.key == data.index["a"], limit + room, 0.0)
        assert one_hot(problem, at_scores(problem, scores)) == (room > 0)


def test_a_direction_that_the_flow_leaves_without_an_error_bar_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    followed = flow.fast_forward

    def astray(*of: Any, **more: Any) -> Any:
        found = followed(*of, **more)
        return replace(found, distance_error=np.full_like(found.error, 2.0))

    monkeypatch.setattr(horizon, "SWITCH", 10_000)
    assert not run(EXAMPLE, 30_000, [100, 30_000]).lost
    monkeypatch.setattr(flow, "fast_forward", astray)
    assert run(EXAMPLE, 30_000, [100, 30_000]).lost


@pytest.mark.parametrize("states", [0, 1, 2, 5, 40])
def test_the_law_is_of_the_first_state_that_determines_it(states: int, monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[int] = []
    for first in range(states + 1):

        def at(*given: Any, first: int = first) -> Any:
            tried.append(given[3])
            return given[3] if given[3] >= first else None

        monkeypatch.setattr(horizon, "_law_at", at)
        problem, _ = reduced(FREE, 9.0)
        every = [(t, np.zeros(1)) for t in range(states)]
        law: Any = horizon.law_from(problem, known(problem.exact), 0.1, every)
        assert law == (first if first < states else None)
        assert len(tried) <= 2 * np.log2(states + 1) + 2
        tried.clear()
