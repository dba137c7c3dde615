"""The field that the flow follows, and when its solver gives up."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import scipy
from numpy.typing import NDArray

from marginaudit.training.ntp.far.flow import COARSER, RTOL, FlowFailure, fast_forward
from marginaudit.training.ntp.far.late_field import LOOK_AHEAD, LateField, fluxes_of, turn
from tests.training.ntp.far.late_model import DEGENERATE, block, late_steps, of_dataset, of_graph


@pytest.fixture(scope="module")
def field() -> SimpleNamespace:
    merged, reference = of_dataset(DEGENERATE)
    s = 200.0
    [rest] = late_steps(merged, reference, 0.01, [20_000])
    found = LateField(merged, reference)
    return SimpleNamespace(field=found, s=s, rest=rest, state=found.enter(s, rest), merged=merged, reference=reference)


def jacobian(field: LateField, s: float, state: NDArray[np.float64]) -> NDArray[np.float64]:
    """The derivative of the speed at `LOOK_AHEAD`, fluxes changing with their own margins alone."""
    edges = field.edges
    flux = fluxes_of(edges, s, state)
    _, _, length, _ = turn(edges, flux)
    flux[: len(edges.lam)] += edges.lam
    pulls = np.eye(len(edges.W))[edges.winner] - np.eye(len(edges.W))[edges.loser]
    components = (np.arange(len(edges.size)) == edges.component[:, np.newaxis]).astype(float)
    between = pulls @ components
    mean = between / edges.size
    by_lag = np.concatenate([np.zeros(len(edges.lam)), edges.slack / edges.norm])
    response = np.hstack([pulls - mean @ components.T, mean, np.zeros((len(flux), 1))])
    log_flux = np.hstack([-pulls, -between, by_lag[:, np.newaxis]])
    return np.asarray((response.T * (flux * s * np.exp(LOOK_AHEAD) / length)) @ log_flux)


def test_the_derivative(field: SimpleNamespace) -> None:
    """Against central differences; what it leaves out is of relative order |D|/||W*||."""
    found, log_s = field.field, np.log(field.s)
    size = len(field.state)
    numeric = np.empty((size, size))
    for i in range(size):
        h = np.zeros(size)
        h[i] = 1e-6
        numeric[:, i] = (found.speed(log_s, field.state + h) - found.speed(log_s, field.state - h)) / 2e-6
    given = jacobian(found, field.s, field.state) / np.exp(LOOK_AHEAD)
    left_out = np.linalg.norm(found.unit_gradient(field.s, field.state))
    assert left_out < 0.05
    assert np.abs(given - numeric)[:-1].max() < 2 * left_out * np.abs(numeric).max()


@pytest.mark.parametrize("mu", [0.7, 2.0 - 3.0j])
def test_the_solver_s_equations(field: SimpleNamespace, mu: complex) -> None:
    matrix = mu * np.eye(len(field.state)) - jacobian(field.field, field.s, field.state)
    right = np.random.default_rng(0).normal(size=len(matrix)) + 0 * mu
    given = mu - field.field.derivative(np.log(field.s), field.state)
    np.testing.assert_allclose(given(right), np.linalg.solve(matrix, right), rtol=1e-9, atol=1e-12)


def test_the_unit_gradient_is_that_of_the_fluxes_at_the_weights(field: SimpleNamespace) -> None:
    merged, What = field.merged, field.reference.unit[0]
    W = field.s * What + field.rest
    flux = merged.weight * np.exp(W[merged.loser] - W[merged.winner])
    gradient = flux @ (np.eye(len(W))[merged.winner] - np.eye(len(W))[merged.loser])
    unit = What + field.field.unit_gradient(field.s, field.state)
    np.testing.assert_allclose(unit, gradient / np.linalg.norm(gradient), rtol=0, atol=1e-13)


def test_the_speed_is_that_of_matrices(field: SimpleNamespace) -> None:
    """d f/ds is the pull of all edges off its mean over each component, and d y/ds that mean."""
    found, edges, log_s = field.field, field.field.edges, np.log(field.s)
    flux = fluxes_of(edges, field.s, field.state)
    D, _, length, _ = turn(edges, flux)
    pairs = np.eye(len(D))
    pulled = flux @ (pairs[edges.winner] - pairs[edges.loser])
    mean = np.bincount(edges.component, pulled) / edges.size
    np.testing.assert_allclose(D, pulled, rtol=0, atol=1e-13)
    expected = np.concatenate([pulled - mean[edges.component], mean]) * (field.s / length)
    np.testing.assert_allclose(found.speed(log_s, field.state)[:-1], expected, rtol=0, atol=1e-13)


@pytest.mark.parametrize("edges", [block(1, 1, 0), block(1, 1, 0) | block(1, 2, 2)], ids=["one edge", "two blocks"])
def test_no_curvature_is_larger_than_the_bound(edges: Any) -> None:
    """The Hessian's largest eigenvalue, of fluxes at W itself, over the gradient's norm; of one edge 2/sqrt 2."""
    merged, reference = of_graph(edges)
    [rest] = late_steps(merged, reference, 0.01, [10_000])
    W = 100.0 * reference.unit[0] + rest
    flux = merged.weight * np.exp(W[merged.loser] - W[merged.winner])
    A = np.eye(len(W))[merged.winner] - np.eye(len(W))[merged.loser]
    curvature = np.linalg.eigvalsh((A.T * flux) @ A)[-1] / np.linalg.norm(flux @ A)
    found = LateField(merged, reference)
    bound = found.largest_curvature(100.0, found.enter(100.0, rest))
    assert curvature <= bound * (1 + 1e-9)
    assert bound <= 1.5 * curvature


@pytest.mark.parametrize("at_the_start", [True, False])
def test_the_curvature_is_looked_at_before_and_after_each_step_of_the_solver(
    at_the_start: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    merged, reference = of_graph(block(1, 1, 0) | block(1, 2, 2))
    [rest] = late_steps(merged, reference, 0.01, [10_000])
    s0 = 0.01 * 10_000
    monkeypatch.setattr(
        LateField, "largest_curvature", lambda self, s, state: 1e3 if (s == s0) == at_the_start else 1.0
    )
    with pytest.raises(FlowFailure, match="curvature reaches 1e\\+03 "):
        fast_forward(merged, reference, 0.01, 10_000, rest, [] if at_the_start else [20_000])


def test_a_step_of_exactly_two_over_the_curvature_does_not_follow_the_flow(monkeypatch: pytest.MonkeyPatch) -> None:
    merged, reference = of_graph(block(1, 1, 0) | block(1, 2, 2))
    [rest] = late_steps(merged, reference, 0.5, [1000])
    monkeypatch.setattr(LateField, "largest_curvature", lambda self, s, state: 4.0)
    with pytest.raises(FlowFailure, match="may not follow"):
        fast_forward(merged, reference, 0.5, 1000, rest, [])
    monkeypatch.setattr(LateField, "largest_curvature", lambda self, s, state: np.nan)
    with pytest.raises(FlowFailure, match="may not follow"):
        fast_forward(merged, reference, 0.5, 1000, rest, [])


def test_a_solver_that_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    class Radau(scipy.integrate.Radau):
        def step(self) -> str | None:
            if self.t > np.log(1e4):
                self.status = "failed"
                return str(self.TOO_SMALL_STEP)
            message: str | None = super().step()
            return message

    merged, reference = of_dataset(DEGENERATE)
    [rest] = late_steps(merged, reference, 0.01, [20_000])
    assert fast_forward(merged, reference, 0.01, 20_000, rest, [10**7]).step.tolist() == [10**7]
    monkeypatch.setattr(scipy.integrate, "Radau", Radau)
    with pytest.raises(FlowFailure, match=r"Radau .* at t = 1\.\d+e\+06: Required step size"):
        fast_forward(merged, reference, 0.01, 20_000, rest, [10**7])


def test_every_step_of_the_solver_counts_as_a_rounding(monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[float] = []

    class Radau(scipy.integrate.Radau):
        rtol: float

        def step(self) -> str | None:
            taken.append(self.rtol)
            message: str | None = super().step()
            return message

    monkeypatch.setattr(scipy.integrate, "Radau", Radau)
    merged, reference = of_graph(block(2, 2, 0) | block(1, 2, 4))
    [rest] = late_steps(merged, reference, 0.01, [20_000])
    found = fast_forward(merged, reference, 0.01, 20_000, rest, [10**7])
    expected = np.finfo(float).eps * (taken.count(RTOL) + 64) * (1 + np.linalg.norm(found.rest))
    assert found.rounding[0] == pytest.approx(expected, rel=1e-12, abs=0)
    assert set(taken) == {RTOL, COARSER * RTOL}
