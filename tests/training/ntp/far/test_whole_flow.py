"""The flow of the whole loss against true steps: its stated error covers them."""

from typing import Any

import numpy as np
import pytest

from marginaudit.margins.ntp import solve_kq, solve_ov
from marginaudit.orders.ntp import Dataset, free_dataset
from marginaudit.training.ntp import train
from marginaudit.training.ntp.far import horizon, whole_flow
from marginaudit.training.ntp.far.flow import FlowFailure
from marginaudit.training.ntp.far.horizon import one_hot
from marginaudit.training.ntp.far.whole_flow import flow_to_one_hot
from marginaudit.training.ntp.steps.iterate import Iterate
from marginaudit.training.ntp.steps.reduced import ReducedKQ
from marginaudit.training.ntp.steps.stepper import Stepper
from marginaudit.training.ntp.trained import Training
from tests.solutions import known
from tests.training.ntp.problems import reduced

DATA = free_dataset(V=20, N=100, L=8, seed=3)
A = 9.2


def started(data: Dataset, t: int, lr: float | None = None) -> tuple[ReducedKQ, Iterate]:
    problem, iterate = reduced(data, A, lr=lr)
    Stepper(problem).advance(iterate, t, lambda _: None)
    return problem, iterate


@pytest.mark.parametrize("data", [DATA, free_dataset(V=30, N=90, L=6, seed=8)], ids=lambda data: data.name)
@pytest.mark.parametrize("t0", [200, 1_500, 6_000])
def test_the_stated_error_covers_true_steps(data: Dataset, t0: int) -> None:
    """Also from a start where the loss is not convex."""
    problem, iterate = started(data, t0)
    wanted = [300, 2_000, 7_000, 12_000]
    found = flow_to_one_hot(known(problem.compiled), iterate, wanted, 0, 10**6)
    assert set(found.step.tolist()) >= {t for t in wanted if t > t0}
    ends = [one_hot(problem, iterate.placed(t, rest)) for t, rest in zip(found.step.tolist(), found.rest, strict=True)]
    assert ends[-1]
    assert not any(ends[:-2])
    bound = found.discretisation + found.inherited + found.integration + found.rounding
    off = []
    for i, t in enumerate(found.step.tolist()):
        Stepper(problem).advance(iterate, t, lambda _: None)
        off.append(float(np.linalg.norm(iterate.rest - found.rest[i])))
        direction = iterate.direction()
        assert abs(direction.one_minus_cos / found.one_minus_cos[i] - 1) <= found.error[i] + direction.error
        assert off[-1] <= bound[i] + iterate.state_error
    assert max(off) > 1e-8
    assert (found.integration < found.discretisation).all()


def test_errors_grow_where_the_loss_is_not_convex() -> None:
    problem, iterate = started(DATA, 200)
    assert problem.gradient(iterate).concavity > 0
    kernel = known(problem.compiled)
    found = flow_to_one_hot(kernel, iterate, [], 0, 10**6)
    by_arc = iterate.lr / 2 * found.arc * np.exp(found.arc)
    assert (found.discretisation > 1.05 * by_arc).all()
    late = flow_to_one_hot(kernel, started(DATA, 5_000)[1], [], 0, 10**6)
    np.testing.assert_allclose(late.discretisation, 1.01 * iterate.lr / 2 * late.arc * np.exp(late.arc), rtol=1e-9)


def test_steps_that_may_not_follow_the_flow_are_refused() -> None:
    problem, iterate = started(DATA, 30, lr=5.0)
    with pytest.raises(FlowFailure, match="may not follow the flow"):
        flow_to_one_hot(known(problem.compiled), iterate, [], 0, 10**6)
    problem, iterate = reduced(DATA, A)
    behind = np.zeros(problem.space.shape)
    behind[problem.merged.winner] = -10.0
    with pytest.raises(FlowFailure, match="out of the compiled form's range"):
        flow_to_one_hot(known(problem.compiled), iterate.placed(1, behind), [], 0, 10**6)


def run(steps2: int, at: list[int], **options: Any) -> Training:
    ov, kq = solve_ov(DATA), solve_kq(DATA)
    return train(DATA, steps2=steps2, at=at, ov_reference=ov, kq_reference=kq, **options)


def test_training_on_many_edges_changes_to_the_flow(monkeypatch: pytest.MonkeyPatch) -> None:
    at = [100, 5_000, 30_000, 99_000, 10**6, 10**9]
    stepped = run(10**9, at).stage2
    monkeypatch.setattr(horizon, "MOST_EDGES_STEPPED", 0)
    monkeypatch.setattr(horizon, "FIRST_SWITCH", 2_000)
    monkeypatch.setattr(horizon, "CLOSE", 1e-2)
    done: list[int] = []
    found = run(10**9, at, progress=done.append).stage2
    assert stepped.method.tolist() == ["steps"] * 4 + ["flow"] * 2
    assert found.method.tolist() == ["steps"] + ["flow"] * 5
    assert (np.abs(found.one_minus_cos / stepped.one_minus_cos - 1) <= found.error + stepped.error).all()
    assert (found.error < 1e-2).all()
    assert done == sorted(done)
    for column in ("norm", "log_loss", "log_other_weight", "log_gradient_norm", "log_excess", "along"):
        np.testing.assert_allclose(getattr(found, column), getattr(stepped, column), rtol=1e-4, err_msg=column)
    # not close enough, and so more true steps; or the flow is longer than the stage
    monkeypatch.setattr(horizon, "CLOSE", 1e-7)
    assert run(10**6, [8_000, 10**6]).stage2.method[0] == "steps"
    monkeypatch.setattr(horizon, "CLOSE", 1e-2)
    short = run(5_500, [5_000, 5_500])
    assert short.stage2.method.tolist() == ["flow", "flow"]
    assert short.stopped == ""


def test_training_changes_to_the_flow_only_where_the_loss_is_convex(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(horizon, "MOST_EDGES_STEPPED", 0)
    monkeypatch.setattr(horizon, "FIRST_SWITCH", 400)
    monkeypatch.setattr(horizon, "CLOSE", np.inf)
    assert run(10**6, [401, 10**5]).stage2.method.tolist() == ["steps", "flow"]


def test_a_flow_that_fails_is_replaced_by_true_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: object) -> None:
        raise FlowFailure("not this one")

    monkeypatch.setattr(horizon, "MOST_EDGES_STEPPED", 0)
    monkeypatch.setattr(whole_flow, "flow_to_one_hot", failing)
    found = run(10**9, [50_000, 10**9]).stage2
    assert found.method.tolist() == ["steps", "flow"]


def test_the_flow_follows_earlier_once_rounding_has_moved_the_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its own error bound, without that of the moved state, covers true steps."""
    monkeypatch.setattr(horizon, "CLOSE", 0.0)
    problem, iterate = started(DATA, 200)
    assert problem.gradient(iterate).concavity > 0
    wanted = [300, 2_000, 7_000]
    follow = horizon.accurate_flow
    size = float(np.linalg.norm(iterate.weights))
    assert iterate.lr < 0.1 * size
    for error in (0.0, 0.9 * iterate.lr):
        iterate.inherited_error = error
        assert follow(problem, iterate, wanted, 10**6, False) is None
    iterate.inherited_error = 0.1 * size
    found = known(follow(problem, iterate, wanted, 10**6, False))
    assert (found.distance_error < 2).any()
    monkeypatch.setattr(horizon, "NEGLIGIBLE", 1e-6)
    assert follow(problem, iterate, wanted, 10**6, False) is None
    iterate.inherited_error = 1e5 * size  # at no step is W known
    assert (known(follow(problem, iterate, wanted, 10**6, False)).distance_error == 2).all()
    bound = found.discretisation + found.integration + found.rounding
    iterate.inherited_error = 0.0
    for t in wanted:
        Stepper(problem).advance(iterate, t, lambda _: None)
        [at] = np.flatnonzero(found.step == t)
        assert np.linalg.norm(iterate.rest - found.rest[at]) <= bound[at] + iterate.state_error
