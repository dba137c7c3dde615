"""The fast-forward against true steps, other solvers and its own stated error."""

from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
import scipy
from numpy.typing import NDArray

from marginaudit.margins import CertificateError
from marginaudit.orders.ntp import CASES, Dataset, free_dataset, prefix_closed_dataset
from marginaudit.training.ntp.far import flow as flow_module
from marginaudit.training.ntp.far import late_field
from marginaudit.training.ntp.far.flow import ATOL, COARSER, RTOL, Flow, FlowFailure, fast_forward
from marginaudit.training.ntp.far.late_field import LOOK_AHEAD, LateField
from marginaudit.training.ntp.model.edges import MergedEdges
from marginaudit.training.ntp.model.reference import ExactReference
from tests.training.ntp.far.late_model import TWO_SIZES, block, late_steps, of_dataset, of_graph, one_minus_cos

DEGENERATE = free_dataset(V=8, N=30, L=5, seed=2)
SMALLEST_SLACK = free_dataset(V=20, N=100, L=8, seed=11)


def eta_of(data: Dataset) -> float:
    return float(0.05 / np.sqrt(data.V))


def compare(
    merged: MergedEdges, reference: ExactReference, eta: float, t0: int, rows: list[int]
) -> tuple[Flow, NDArray[np.float64], NDArray[np.float64]]:
    """Flow from t0, and the relative differences and distances of true steps from it at each row."""
    start, *states = late_steps(merged, reference, eta, [t0, *rows])
    found = fast_forward(merged, reference, eta, t0, start, rows)
    gap = np.array([one_minus_cos(reference, eta * t, rest) for t, rest in zip(rows, states, strict=True)])
    distance = np.linalg.norm(found.rest - np.array(states), axis=1)
    return found, np.abs(gap / found.one_minus_cos - 1), distance


def covered(found: Flow, relative: NDArray[np.float64], distance: NDArray[np.float64], eta: float) -> np.bool:
    """The steps' own rounding, at most eps eta a step and mostly along What, is in the distance and not the gap."""
    steps = np.finfo(float).eps * eta * (found.step - found.step[0] + 1)
    bound = found.discretisation + found.inherited + found.integration + found.rounding
    return (relative <= found.error).all() and (distance <= bound + 4 * steps).all()


@pytest.mark.parametrize(
    "data",
    [CASES["section-7"](), CASES["example-1"](), DEGENERATE, SMALLEST_SLACK],
    ids=["section-7", "example-1", "degenerate", "smallest slack"],
)
def test_the_stated_error_covers_true_steps(data: Dataset) -> None:
    problem = of_dataset(data)
    eta = eta_of(data)
    rows = [100_000, 100_001, 100_010, 101_000, 120_000, 200_000, 400_000, 1_000_000]
    found, relative, distance = compare(*problem, eta, 100_000, rows)
    assert covered(found, relative, distance, eta)
    assert (found.error < 1e-5).all()
    np.testing.assert_allclose(found.rest[0], late_steps(*problem, eta, [100_000])[0], rtol=0, atol=1e-13)


def test_a_tiny_slack() -> None:
    """An edge between two blocks, slack by 1/195, that still carries flux at t = 1e6."""
    problem = of_graph(block(8, 7, 0) | block(7, 6, 15) | {(0, 22)})
    slack = [x for x in problem[1].slack if x > 0]
    assert slack == [Fraction(1, 195)]
    found, relative, distance = compare(*problem, 0.01, 100_000, [100_100, 200_000, 500_000, 1_000_000])
    assert covered(found, relative, distance, 0.01)
    assert (found.discretisation > 1e-10).all()
    far = fast_forward(*problem, 0.01, 1_000_000, found.rest[-1], [10**7, 10**18])
    apart = np.linalg.norm(far.rest - found.rest[-1], axis=1)
    assert 1e-9 < apart[0] == pytest.approx(apart[1], rel=1e-3, abs=0)


def test_the_bound_is_tight_at_first() -> None:
    """All steps leave the flow in one direction: the distance is eta/2 times the arc, up to higher orders."""
    problem, eta = of_dataset(DEGENERATE), eta_of(DEGENERATE)
    found, _, distance = compare(*problem, eta, 20_000, [20_001, 20_100, 20_400, 60_000])
    np.testing.assert_allclose(found.discretisation[:3] / distance[:3], 1.01, atol=0.02)
    assert distance[3] < found.discretisation[3] < 3 * distance[3]


def test_error_and_bound_are_linear_in_the_step() -> None:
    problem, s0 = of_dataset(DEGENERATE), 400.0
    distances, bounds = [], []
    for eta in (0.04, 0.02, 0.01):
        t0 = round(s0 / eta)
        found, _, distance = compare(*problem, eta, t0, [4 * t0])
        distances.append(distance[0])
        bounds.append(found.discretisation[0])
    np.testing.assert_allclose(np.divide(distances[:-1], distances[1:]), 2, rtol=1e-3)
    np.testing.assert_allclose(np.divide(bounds[:-1], bounds[1:]), 2, rtol=1e-3)


def test_alive_slack_edges() -> None:
    """An early start, from which the flux through edges with positive slack still matters."""
    problem = of_dataset(SMALLEST_SLACK)
    eta = eta_of(SMALLEST_SLACK)
    start = late_steps(*problem, eta, [20_000])[0]
    slack = np.array([float(x) for x in problem[1].slack])
    sigma = eta * 20_000 / problem[1].norm
    assert 0 < sigma * slack[slack > 0].min() < 5
    found, relative, distance = compare(*problem, eta, 20_000, [20_100, 40_000, 160_000, 1_000_000])
    assert covered(found, relative, distance, eta)
    tight = problem[0].weight * (slack == 0)
    without = type(problem[0])(problem[0].winner, problem[0].loser, np.maximum(tight, 1e-300), problem[0].number)
    other = fast_forward(without, problem[1], eta, 20_000, start, [20_100, 40_000, 160_000, 1_000_000])
    assert (np.abs(other.one_minus_cos / found.one_minus_cos - 1) > 10 * found.error).any()


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("seed", range(12))
def test_the_stated_error_covers_true_steps_to_1e7(seed: int) -> None:
    V, N, L = ((6, 15, 4), (8, 30, 5), (12, 60, 6), (20, 100, 8))[seed % 4]
    data = free_dataset(V=V, N=N, L=L, seed=seed)
    t0 = 5_000 * V if seed % 3 else 100_000
    rows = sorted({*np.geomspace(t0, 10**7, 25).astype(int).tolist(), t0 + 1, t0 + 100})
    found, relative, distance = compare(*of_dataset(data), eta_of(data), t0, rows)
    assert covered(found, relative, distance, eta_of(data))
    if found.discretisation[-1] > 1e-8:
        later = found.step > t0
        assert (found.error[later] < 1000 * relative[later]).all()


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_stated_error_covers_true_steps_of_prefix_closed_data() -> None:
    for seed in range(3):
        data = prefix_closed_dataset(V=12, N=40, L=6, seed=seed)
        rows = np.geomspace(100_000, 3_000_000, 10).astype(int).tolist()
        assert covered(*compare(*of_dataset(data), eta_of(data), 100_000, rows), eta_of(data))


@pytest.mark.parametrize("data", [DEGENERATE, CASES["free-20"]()], ids=["degenerate", "free-20"])
def test_another_solver_in_plain_coordinates(data: Dataset) -> None:
    """dW/ds = Gam/|Gam| as printed, from s0 to 8 s0, by an explicit method of order 8."""
    merged, reference = of_dataset(data)
    eta, t0 = eta_of(data), 40_000
    [rest] = late_steps(merged, reference, eta, [t0])
    What = reference.unit[0]
    slack = np.array([float(x) for x in reference.slack])

    def speed(s: float, rho: NDArray[np.float64]) -> NDArray[np.float64]:
        exponent = -s / reference.norm * slack - (rho[merged.winner] - rho[merged.loser])
        flux = merged.weight * np.exp(exponent - exponent.max())
        pulled = np.bincount(merged.winner, flux, len(rho)) - np.bincount(merged.loser, flux, len(rho))
        return pulled / np.linalg.norm(pulled) - What

    rows = [2 * t0, 8 * t0]
    s = eta * np.array([t0, *rows])
    other = scipy.integrate.solve_ivp(speed, (s[0], s[-1]), rest, method="DOP853", t_eval=s[1:], rtol=1e-12, atol=1e-12)
    assert other.status == 0
    found = fast_forward(merged, reference, eta, t0, rest, rows)
    np.testing.assert_allclose(found.rest, other.y.T, rtol=0, atol=1e-9)


def test_rows_do_not_depend_on_each_other() -> None:
    merged, reference = of_dataset(DEGENERATE)
    eta, t0 = eta_of(DEGENERATE), 50_000
    [rest] = late_steps(merged, reference, eta, [t0])
    many = np.unique(np.geomspace(t0, 10**18, 200).astype(np.int64))
    found = fast_forward(merged, reference, eta, t0, rest, many)
    alone = fast_forward(merged, reference, eta, t0, rest, many[[60, -1]])
    np.testing.assert_allclose(found.one_minus_cos[[60, -1]], alone.one_minus_cos, rtol=1e-9)
    np.testing.assert_allclose(found.arc[[60, -1]], alone.arc, rtol=1e-2)
    assert (np.diff(found.one_minus_cos) < 0).all()
    assert (np.diff(found.arc) >= 0).all()


def test_integration_is_a_bound_on_the_solver_s_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """Against the same problem solved to 1e-11."""
    merged, reference = of_graph(TWO_SIZES)
    [rest] = late_steps(merged, reference, 0.01, [20_000])
    rows = [10**power for power in (5, 6, 8, 11, 14, 18)]
    found = fast_forward(merged, reference, 0.01, 20_000, rest, rows)
    monkeypatch.setattr(flow_module, "RTOL", 1e-11)
    monkeypatch.setattr(flow_module, "ATOL", 1e-13)
    exact = fast_forward(merged, reference, 0.01, 20_000, rest, rows)
    assert (np.linalg.norm(found.rest - exact.rest, axis=1) < found.integration + found.rounding).all()
    assert (found.integration[:5] < 1e-6).all()
    assert RTOL * COARSER < 1e-4
    assert ATOL < RTOL


def test_arc() -> None:
    """Against the sum over all steps of how far their unit gradients lie apart."""
    merged, reference = of_dataset(DEGENERATE)
    eta, t0, t1 = eta_of(DEGENERATE), 20_000, 24_000
    rests = late_steps(merged, reference, eta, range(t0, t1 + 2))
    moves = np.diff(rests, axis=0) / eta
    arc = np.linalg.norm(np.diff(moves, axis=0), axis=1).sum()
    found = fast_forward(merged, reference, eta, t0, rests[0], [t1])
    assert found.arc[0] == pytest.approx(arc, rel=2e-3, abs=0)
    assert found.discretisation[0] == pytest.approx(1.01 * eta / 2 * arc * np.exp(arc), rel=2e-3, abs=0)


def test_the_error_of_the_start_is_passed_on() -> None:
    merged, reference = of_dataset(DEGENERATE)
    eta, t0 = eta_of(DEGENERATE), 50_000
    [rest] = late_steps(merged, reference, eta, [t0])
    rows = [t0, 10**6, 10**12]
    off = np.random.default_rng(0).normal(size=len(rest)) * 1e-4
    exact = fast_forward(merged, reference, eta, t0, rest, rows)
    found = fast_forward(merged, reference, eta, t0, rest + off, rows, start_error=float(np.linalg.norm(off)))
    np.testing.assert_allclose(found.inherited, np.linalg.norm(off) * np.exp(found.arc), rtol=1e-12)
    assert (np.linalg.norm(found.rest - exact.rest, axis=1) <= found.inherited + 1e-9).all()
    assert (np.abs(exact.one_minus_cos / found.one_minus_cos - 1) <= found.error).all()
    assert (found.error > exact.error).all()


def test_one_minus_cos_and_rest_belong_together() -> None:
    merged, reference = of_dataset(DEGENERATE)
    eta, t0 = eta_of(DEGENERATE), 50_000
    [rest] = late_steps(merged, reference, eta, [t0])
    found = fast_forward(merged, reference, eta, t0, rest, [t0, 10**9, 10**18])
    for t, state, gap in zip(found.step, found.rest, found.one_minus_cos, strict=True):
        assert gap == pytest.approx(one_minus_cos(reference, eta * float(t), state), rel=1e-13, abs=0)
    assert len(found) == 3


def test_a_single_relation_has_no_direction_error() -> None:
    merged, reference = of_graph(block(1, 1, 0))
    [rest] = late_steps(merged, reference, 0.01, [10_000])
    found = fast_forward(merged, reference, 0.01, 10_000, rest, [10**6, 10**18])
    assert (found.one_minus_cos < 1e-30).all()
    assert (found.error > 1).all()


def test_no_rows() -> None:
    merged, reference = of_graph(block(1, 2, 0))
    [rest] = late_steps(merged, reference, 0.01, [10_000])
    assert len(fast_forward(merged, reference, 0.01, 10_000, rest, [])) == 0


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


def test_unit_gradient(field: SimpleNamespace) -> None:
    merged, reference = field.merged, field.reference
    slack = np.array([float(x) for x in reference.slack])
    margin = field.s / reference.norm * slack + field.rest[merged.winner] - field.rest[merged.loser]
    flux = merged.weight * np.exp(-margin)
    pulled = np.bincount(merged.winner, flux, len(field.rest)) - np.bincount(merged.loser, flux, len(field.rest))
    expected = pulled / np.linalg.norm(pulled) - reference.unit[0]
    np.testing.assert_allclose(field.field.unit_gradient(field.s, field.state), expected, atol=1e-14)
    signs = np.zeros((len(merged), len(field.rest)))
    signs[np.arange(len(merged)), merged.winner] = 1
    signs[np.arange(len(merged)), merged.loser] = -1
    largest = np.linalg.eigvalsh(signs.T @ (flux[:, None] * signs)).max() / np.linalg.norm(pulled)
    assert largest <= field.field.largest_curvature(field.s, field.state) < 1.5 * largest


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
