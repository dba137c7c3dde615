"""The slow flow against true steps, and against closed forms far out."""

from typing import Any

import mpmath
import numpy as np
import pytest

from marginaudit import Evidence, Limit, Verdict, iterate, slow_flow
from marginaudit.claims import NotFollowed
from marginaudit.training import NotIntegrated, integrated
from marginaudit.training.slow_flow import followed

X = np.array([[1.0, 0.0], [0.0, 2.0]])
WHAT = np.array([1.0, 0.5]) / np.hypot(1, 0.5)
"""The maximum-margin direction of both rows."""

FAR = np.unique(np.geomspace(1, 1e18, 18 * 8 + 1).round())


def logistic(w: Any) -> Any:
    return X.T @ (1 / (1 + np.exp(X @ w)))


def stepping(f: Any, eta: float) -> Any:
    return lambda w: w + eta * f(w)


def angle(w: Any) -> Any:
    return np.linalg.norm(w / np.linalg.norm(w) - WHAT)


@pytest.mark.parametrize(
    ("f", "start", "eta"),
    [
        (lambda w: np.exp(-w), 0.0, 1.0),
        (lambda w: -(w**3), 1.0, 0.1),
        (logistic, np.zeros(2), 1.0),
        (lambda w: 1 / w, np.array([1.0, 2.0]), 1.0),
        (lambda w: np.array([np.exp(-w[0]), w[0] * np.exp(-2 * w[0]) - w[1] / 4]), np.array([0.0, 1.0]), 0.5),
    ],
    ids=["log", "power", "logistic", "growing", "coupled"],
)
def test_the_flow_keeps_within_its_bar_of_true_steps(f: Any, start: Any, eta: float) -> None:
    early, true = (
        followed(f, start, eta, [3000, 10_000, 30_000], 1000),
        followed(f, start, eta, [3000, 10_000, 30_000], 30_000),
    )
    apart = np.linalg.norm(early.state - true.state, axis=1)
    assert (apart <= early.error + true.error).all()
    assert (apart > 1e-3 * early.error).any(), "a bar that nothing comes near proves nothing"


def test_the_bar_of_an_expanding_step_grows() -> None:
    """f = 1/(1+w) downwards from above expands; the formula without mu would be a hundred times too narrow."""

    def f(w: Any) -> Any:
        return w / (1 + w**2) / 10

    early, true = followed(f, 0.01, 1.0, [100], 20), followed(f, 0.01, 1.0, [100], 100)
    apart = abs(early.state[0, 0] - true.state[0, 0])
    force = [float(f(followed(f, 0.01, 1.0, [t], 100).state[0, 0])) for t in (20, 100)]
    assert apart > 1.05 * (force[1] - force[0]) / 2
    assert apart <= early.error[0]


def test_the_flow_at_1e18_is_the_closed_form() -> None:
    """w' = -w^3 from the parting step on has w = (w_K^-2 + 2 (t - K))^(-1/2); w' = e^-w has log(e^w_K + t - K)."""
    K, t, eta = 1000, 10**18, 0.25
    pairs: list[tuple[Any, Any]] = [
        (lambda w: -(w**3), lambda w: (w**-2 + 2 * mpmath.mpf(eta) * (t - K)) ** -0.5),
        (lambda w: np.exp(-w), lambda w: mpmath.log(mpmath.exp(w) + mpmath.mpf(eta) * (t - K))),
    ]
    for f, closed in pairs:
        parted = float(iterate(stepping(f, eta), 1.0, [K]).value[0])
        with mpmath.workdps(50):
            expected = float(closed(mpmath.mpf(parted)))
        found = followed(f, 1.0, eta, [t], K)
        assert abs(found.state[0, 0] - expected) <= found.error[0] < 1e-6


def test_a_limit_of_order_1_over_log_t_is_decided_at_1e18() -> None:
    """Descent on the logistic loss tends to the maximum margin in direction; not to another one."""

    def of(predicted: float, last: float, measure: Any) -> Verdict:
        at = FAR[: int(np.searchsorted(FAR, last, side="right"))]
        judged = Limit(
            lambda _: slow_flow(logistic, np.zeros(2), at, eta=1.0, measure=measure),
            predicted=lambda _: predicted,
            regime=lambda _: 1e3,
            scale=lambda _: 1.0,
            approach=lambda t: 1 / np.log(t + 2),
        ).judge(None)
        assert judged.evidence is Evidence.FLOAT64
        return judged.verdict

    assert of(0, 1e18, angle) is Verdict.HOLDS
    assert of(0, 1e6, angle) is Verdict.INCONCLUSIVE
    assert of(0.5, 1e18, lambda w: w[1] / w[0]) is Verdict.HOLDS
    assert of(0.53, 1e18, lambda w: w[1] / w[0]) is Verdict.VIOLATED
    assert of(0, 1e18, lambda w: np.linalg.norm(w / np.linalg.norm(w) - [1, 0])) is Verdict.VIOLATED


def test_measures_carry_the_bar_over() -> None:
    at = [1, 10**6, 10**18]
    state = followed(logistic, np.zeros(2), 1.0, at, 1000)
    found = slow_flow(logistic, np.zeros(2), at, eta=1.0, measure=lambda w, t: 3 * w[0] + t, true_steps=1000)
    assert found.value.tolist() == pytest.approx((3 * state.state[:, 0] + at).tolist(), rel=1e-15, abs=0)
    assert found.radius[1] == pytest.approx(3 * state.error[1] + 64 * 2.0**-52 * found.value[1], rel=1e-3, abs=0)


def test_a_flow_that_ends_early_is_not_followed() -> None:
    with pytest.raises(NotFollowed, match="ended early"):
        slow_flow(lambda w: w / 100, 1.0, [10**18], eta=1.0, true_steps=100)
    with pytest.raises(ValueError, match="expected measure="):
        slow_flow(logistic, np.zeros(2), [1], eta=1.0)
    with pytest.raises(ValueError, match="logaddexp"):
        slow_flow(lambda w: np.logaddexp(0, w), 0.0, [1], eta=1.0)


def test_the_solver_against_a_closed_form() -> None:
    y, error = integrated(lambda s, y: np.exp(s) * -(y**3), np.log([1.0, 1e3, 1e18]), np.array([1.0]), scale=1e-9)
    expected = (1 + 2 * (np.array([1.0, 1e3, 1e18]) - 1)) ** -0.5
    assert (np.abs(y[:, 0] - expected) <= error).all()
    with pytest.raises(NotIntegrated):
        integrated(lambda s, y: y**2, np.array([0.0, 2.0]), np.array([1.0]))
