"""The field that the flow follows, and when its solver gives up."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import scipy

from marginaudit.training.ntp.far import late_field
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


def test_jacobian(field: SimpleNamespace) -> None:
    """Against central differences; what it leaves out is of relative order |D|/||W*||."""
    found, log_s = field.field, np.log(field.s)
    size = len(field.state)
    numeric = np.empty((size, size))
    for i in range(size):
        h = np.zeros(size)
        h[i] = 1e-6
        numeric[:, i] = (found.speed(log_s, field.state + h) - found.speed(log_s, field.state - h)) / 2e-6
    given = np.asarray(found.jacobian(log_s, field.state)) / np.exp(LOOK_AHEAD)
    left_out = np.linalg.norm(found.unit_gradient(field.s, field.state))
    assert left_out < 0.05
    assert np.abs(given - numeric)[:-1].max() < 2 * left_out * np.abs(numeric).max()


def test_the_unit_gradient_is_that_of_the_fluxes_at_the_weights(field: SimpleNamespace) -> None:
    merged, What = field.merged, field.reference.unit[0]
    W = field.s * What + field.rest
    flux = merged.weight * np.exp(W[merged.loser] - W[merged.winner])
    gradient = flux @ (np.eye(len(W))[merged.winner] - np.eye(len(W))[merged.loser])
    unit = What + field.field.unit_gradient(field.s, field.state)
    np.testing.assert_allclose(unit, gradient / np.linalg.norm(gradient), rtol=0, atol=1e-13)


def test_with_and_without_the_zeros_of_its_matrices_the_field_is_the_same(
    field: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Small matrices are multiplied with their zeros, large ones without."""
    monkeypatch.setattr(late_field, "DENSE", 0)
    sparse, log_s = LateField(field.merged, field.reference), np.log(field.s)
    matrix = sparse.jacobian(log_s, field.state)
    assert scipy.sparse.issparse(matrix)
    assert isinstance(field.field.jacobian(log_s, field.state), np.ndarray)
    np.testing.assert_allclose(field.field.jacobian(log_s, field.state), matrix.toarray(), rtol=1e-12, atol=1e-10)
    flux = fluxes_of(sparse.edges, field.s, field.state)
    _, _, length, _ = turn(sparse.edges, flux)
    by_matrix = sparse._response @ flux * (field.s / length)  # noqa: SLF001  (the other way to it)
    np.testing.assert_allclose(field.field.speed(log_s, field.state)[:-1], by_matrix[:-1], rtol=0, atol=1e-13)


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


@pytest.mark.parametrize("fault", ["status", "raises"])
def test_a_solver_that_fails(monkeypatch: pytest.MonkeyPatch, fault: str) -> None:
    class Radau(scipy.integrate.Radau):
        def step(self) -> str | None:
            if self.t > np.log(1e4):
                if fault == "raises":
                    raise RuntimeError("Factor is exactly singular")
                self.status = "failed"
                return str(self.TOO_SMALL_STEP)
            message: str | None = super().step()
            return message

    merged, reference = of_dataset(DEGENERATE)
    [rest] = late_steps(merged, reference, 0.01, [20_000])
    assert fast_forward(merged, reference, 0.01, 20_000, rest, [10**7]).step.tolist() == [10**7]
    monkeypatch.setattr(scipy.integrate, "Radau", Radau)
    with pytest.raises(FlowFailure, match=r"Radau .* at t = 1\.\d+e\+06: (Required step size|Factor is)"):
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
