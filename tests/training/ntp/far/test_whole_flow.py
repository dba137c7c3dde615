"""The flow of the whole loss against true steps: its stated error covers them."""

from typing import Any

import numpy as np
import pytest

from marginaudit.margins.ntp import solve_kq, solve_ov
from marginaudit.orders.ntp import Dataset, free_dataset
from marginaudit.training.ntp import train
from marginaudit.training.ntp.far import horizon, whole_flow
from marginaudit.training.ntp.far.flow import Flow, FlowFailure
from marginaudit.training.ntp.far.horizon import one_hot
from marginaudit.training.ntp.far.whole_flow import TOLERANCE, flow_to_one_hot
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
@pytest.mark.parametrize(
    ("t0", "lr", "least"), [(25, 0.1, 0.5), (200, None, 0.0), (1_500, None, 0.0), (6_000, None, 0.0)]
)
def test_the_stated_error_covers_true_steps(data: Dataset, t0: int, lr: float | None, least: float) -> None:
    """Also from a start where the loss is not convex; with long steps the bound is sharp."""
    problem, iterate = started(data, t0, lr)
    wanted = [t0 + 1, *range(300, 2_000, 50), 7_000, 12_000]
    found = flow_to_one_hot(known(problem.compiled), iterate, wanted, 0, 10**6)
    assert set(found.step.tolist()) >= {t for t in wanted if t0 < t <= found.step[-1]}
    ends = [one_hot(problem, iterate.placed(t, rest)) for t, rest in zip(found.step.tolist(), found.rest, strict=True)]
    assert ends[-1]
    assert not any(ends[i] for i, t in enumerate(found.step) if 25 / 16 * t < found.step[-1])
    bound = found.discretisation + found.inherited + found.integration + found.rounding
    parts = []
    for i, t in enumerate(found.step.tolist()):
        Stepper(problem).advance(iterate, t, lambda _: None)
        direction = iterate.direction()
        assert abs(direction.one_minus_cos / found.one_minus_cos[i] - 1) <= found.error[i] + direction.error
        parts.append(float(np.linalg.norm(iterate.rest - found.rest[i])) / (bound[i] + iterate.state_error))
    assert least <= max(parts) <= 1


def test_errors_grow_where_the_loss_is_not_convex() -> None:
    problem, iterate = started(DATA, 200)
    assert problem.gradient(iterate).concavity > 0
    kernel = known(problem.compiled)
    found = flow_to_one_hot(kernel, iterate, [], 0, 10**6)
    assert (found.inherited > 1.05 * iterate.state_error * np.exp(found.arc)).all()
    convex = started(DATA, 5_000)[1]
    late = flow_to_one_hot(kernel, convex, [], 0, 10**6)
    np.testing.assert_allclose(late.inherited, convex.state_error * np.exp(late.arc), rtol=1e-9)


def test_the_defect_is_that_of_the_differences_of_true_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sum of eta |D^4 v| / 5 over true steps, as errors grow."""
    monkeypatch.setattr(whole_flow, "TOLERANCE", 1e-13)
    problem, iterate = started(DATA, 25, lr=0.1)
    found = flow_to_one_hot(known(problem.compiled), iterate, [], 0, 300)
    growth = found.inherited / iterate.state_error
    units = []
    for t in range(25, 304):
        Stepper(problem).advance(iterate, t, lambda _: None)
        gradient = problem.gradient(iterate)
        units.append(-gradient.value / gradient.norm)
    defects = np.cumsum(iterate.lr / 5 * np.linalg.norm(np.diff(units, n=4, axis=0), axis=1))
    between = np.diff(defects[found.step - 26])
    stated = np.diff(found.discretisation / (1.01 * growth))
    assert (between / growth[1:] < 1.03 * stated).all()
    assert (stated < 1.03 * between / growth[:-1]).all()


def test_rounding_of_the_field_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    problem, iterate = started(DATA, 5_000)
    plain = flow_to_one_hot(known(problem.compiled), iterate, [], 0, 10**6)
    assert (plain.rounding >= TOLERANCE * np.linalg.norm(plain.rest, axis=1)).all()
    larger = 1e-6
    monkeypatch.setattr(whole_flow, "EPS", larger)
    found = flow_to_one_hot(known(problem.compiled), iterate, [], 0, 10**6)
    relative = []
    for t, rest in zip(found.step.tolist(), found.rest, strict=True):
        relative.append(known(problem.compiled).gradient_at(t, iterate, rest)[0].relative)
    s = iterate.lr * np.array([5_000, *found.step.tolist()])
    least = (1 + 1 + 4 / 3 + 2) * larger * (min(relative) + 4) * (s[-1] - s[0])
    most = least * (max(relative) + 4) / (min(relative) + 4) * np.exp(found.arc[-1])
    assert least < found.rounding[-1] < 1.01 * most


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
    monkeypatch.setattr(horizon, "CLOSE", 1e-12)
    assert run(10**6, [8_000, 10**6]).stage2.method[0] == "steps"
    monkeypatch.setattr(horizon, "CLOSE", 1e-2)
    short = run(5_500, [5_000, 5_500])
    assert short.stage2.method.tolist() == ["flow", "flow"]
    assert short.stopped == ""


def test_a_flow_that_fails_is_replaced_by_true_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: object) -> None:
        raise FlowFailure("not this one")

    monkeypatch.setattr(horizon, "MOST_EDGES_STEPPED", 0)
    monkeypatch.setattr(whole_flow, "flow_to_one_hot", failing)
    found = run(10**9, [50_000, 10**9]).stage2
    assert found.method.tolist() == ["steps", "flow"]


def test_the_flow_needs_no_more_accuracy_than_its_start(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its own error bound, without that of the moved state, covers true steps."""
    monkeypatch.setattr(horizon, "CLOSE", 0.0)
    problem, iterate = started(DATA, 200)
    assert problem.gradient(iterate).concavity > 0
    wanted = [300, 2_000, 7_000]
    follow = horizon.accurate_flow
    size = float(np.linalg.norm(iterate.weights))
    assert follow(problem, iterate, wanted, 10**6, False) is None
    iterate.inherited_error = 0.1 * size
    found = known(follow(problem, iterate, wanted, 10**6, False))
    assert (found.distance_error < 2).any()
    monkeypatch.setattr(horizon, "NEGLIGIBLE", 1e-12)
    assert follow(problem, iterate, wanted, 10**6, False) is None
    iterate.inherited_error = 1e5 * size  # at no step is W known
    assert (known(follow(problem, iterate, wanted, 10**6, False)).distance_error == 2).all()
    bound = found.discretisation + found.integration + found.rounding
    iterate.inherited_error = 0.0
    for t in wanted:
        Stepper(problem).advance(iterate, t, lambda _: None)
        [at] = np.flatnonzero(found.step == t)
        assert np.linalg.norm(iterate.rest - found.rest[at]) <= bound[at] + iterate.state_error


def test_a_flow_that_is_not_accurate_is_not_followed_further() -> None:
    problem, iterate = started(DATA, 5_000)
    asked: list[list[int]] = []

    def accurate(flow: Flow) -> bool:
        asked.append(flow.step.tolist())
        return len(asked) < 2

    with pytest.raises(FlowFailure, match="from t = 5000 is not accurate at t = 7813"):
        flow_to_one_hot(known(problem.compiled), iterate, [6_000], 0, 20_000, accurate)
    assert asked == [[6_000, 6_250], [7_813]]
