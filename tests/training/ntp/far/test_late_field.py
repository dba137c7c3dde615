"""The field that the flow follows, and when its solver gives up."""

from types import SimpleNamespace

import numpy as np
import pytest
import scipy

from marginaudit.margins import CertificateError
from marginaudit.training.ntp.far import flow as flow_module
from marginaudit.training.ntp.far import late_field
from marginaudit.training.ntp.far.flow import COARSER, RTOL, FlowFailure, fast_forward
from marginaudit.training.ntp.far.late_field import LOOK_AHEAD, LateField
from tests.training.ntp.far.late_model import DEGENERATE, block, late_steps, of_dataset, of_graph


@pytest.fixture(scope="module")
def field() -> SimpleNamespace:
    merged, reference = of_dataset(DEGENERATE)
    s = 200.0
    [rest] = late_steps(merged, reference, 0.01, [20_000])
    found = LateField(merged, reference, rest)
    return SimpleNamespace(field=found, s=s, rest=rest, state=found.enter(s, rest), merged=merged, reference=reference)


def test_coordinates(field: SimpleNamespace) -> None:
    found = field.field
    f, y, lag = np.split(field.state, [len(found.W), -1])
    assert np.abs(np.bincount(found.component, f)).max() < 1e-14
    assert np.abs(found.across(field.state)).max() < 20
    along = found.along(field.state)
    np.testing.assert_allclose(found.across(field.state) + along * found.What, field.rest, atol=1e-13)
    assert len(y) == len(found.size)
    assert lag.shape == (1,)


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


def test_with_and_without_the_zeros_of_its_matrices_the_field_is_the_same(
    field: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Small matrices are multiplied with their zeros, large ones without."""
    monkeypatch.setattr(late_field, "DENSE", 0)
    sparse, log_s = LateField(field.merged, field.reference, field.rest), np.log(field.s)
    matrix = sparse.jacobian(log_s, field.state)
    assert scipy.sparse.issparse(matrix)
    assert isinstance(field.field.jacobian(log_s, field.state), np.ndarray)
    np.testing.assert_allclose(field.field.jacobian(log_s, field.state), matrix.toarray(), rtol=1e-12, atol=1e-10)
    np.testing.assert_allclose(
        field.field.speed(log_s, field.state), sparse.speed(log_s, field.state), rtol=0, atol=1e-13
    )


def test_steps_that_are_too_long() -> None:
    """Beyond eta times curvature = 2 descent oscillates; the bound on the curvature is exact for one pair."""
    merged, reference = of_graph(block(1, 1, 0) | block(1, 2, 2))
    [rest] = late_steps(merged, reference, 0.01, [10_000])
    found = LateField(merged, reference, rest)
    limit = 2 / found.largest_curvature(100.0, found.enter(100.0, rest))
    fast_forward(merged, reference, 0.99 * limit, 10_000, rest, [10**6])
    with pytest.raises(FlowFailure, match="may not follow the flow"):
        fast_forward(merged, reference, 1.01 * limit, 10_000, rest, [10**6])


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
    with pytest.raises(FlowFailure, match="the curvature reaches 1e\\+03 gradient norms"):
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


@pytest.mark.parametrize("steps", [[10, 5], [3], [4, 10, 9]])
def test_bad_steps(steps: list[int]) -> None:
    merged, reference = of_graph(block(1, 2, 0))
    with pytest.raises(ValueError, match="expected increasing ones"):
        fast_forward(merged, reference, 0.01, 4, np.zeros(3), steps)
    with pytest.raises(ValueError, match=">= 1"):
        fast_forward(merged, reference, 0.01, 0, np.zeros(3), [5])


def test_a_row_that_is_asked_for_twice_is_the_same_row() -> None:
    problem, start = of_graph(block(2, 3, 0)), np.zeros(5)
    once = fast_forward(*problem, 0.1, 1, start, [1, 1000])
    twice = fast_forward(*problem, 0.1, 1, start, [1, 1, 1000, 1000])
    assert twice.step.tolist() == [1, 1, 1000, 1000]
    for name in ("rest", "error", "arc", "rounding"):
        assert (getattr(twice, name)[::2] == getattr(once, name)).all()
        assert (getattr(twice, name)[::2] == getattr(twice, name)[1::2]).all()


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
    assert len(fast_forward(merged, reference, 0.01, 20_000, rest, [10**7])) == 1
    monkeypatch.setattr(scipy.integrate, "Radau", Radau)
    with pytest.raises(FlowFailure, match=r"Radau .* at t = 1\.\d+e\+06: (Required step size|Factor is)"):
        fast_forward(merged, reference, 0.01, 20_000, rest, [10**7])


@pytest.mark.parametrize("place", ["field", "step"])
def test_a_failed_certificate_is_no_failed_flow(monkeypatch: pytest.MonkeyPatch, place: str) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise CertificateError("a second-level margin is below 1")

    merged, reference = of_dataset(DEGENERATE)
    [rest] = late_steps(merged, reference, 0.01, [20_000])
    if place == "field":
        monkeypatch.setattr(flow_module, "LateField", refuse)
    else:
        monkeypatch.setattr(scipy.integrate.Radau, "step", refuse)
    with pytest.raises(CertificateError, match="second-level"):
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


def test_potentials_that_do_not_exist() -> None:
    """A wrong W*, which the carried edges cannot add up to."""
    merged, reference = of_graph(block(2, 2, 0))
    wrong = type(reference)(
        tuple(2 * w if w > 0 else w for w in reference.weight),
        reference.norm_squared,
        reference.slack,
        reference.multiplier,
    )
    with pytest.raises(FlowFailure, match="potentials of the support"):
        fast_forward(merged, wrong, 0.01, 10_000, np.zeros(4), [10**6])
