"""The flow against true steps: its stated error covers them."""

import numpy as np
import pytest
import scipy
from numpy.typing import NDArray

from marginaudit.orders.ntp import Dataset, free_dataset
from marginaudit.training.ntp.far import flow as flow_module
from marginaudit.training.ntp.far import late_field
from marginaudit.training.ntp.far.flow import (
    ATOL,
    COARSER,
    RTOL,
    Flow,
    fast_forward,
    integrated,
    with_bounds,
)
from marginaudit.training.ntp.model.edges import MergedEdges
from marginaudit.training.ntp.model.reference import ExactReference
from tests.training.ntp.far.late_model import (
    DEGENERATE,
    TWO_SIZES,
    late_steps,
    of_dataset,
    of_graph,
    one_minus_cos,
)

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


@pytest.mark.parametrize("data", [DEGENERATE, SMALLEST_SLACK], ids=["degenerate", "smallest slack"])
def test_the_stated_error_covers_true_steps(data: Dataset) -> None:
    problem = of_dataset(data)
    eta = eta_of(data)
    rows = [100_000, 100_001, 100_010, 101_000, 120_000, 200_000, 400_000, 1_000_000]
    found, relative, distance = compare(*problem, eta, 100_000, rows)
    assert covered(found, relative, distance, eta)
    assert (found.error < 1e-5).all()
    np.testing.assert_allclose(found.rest[0], late_steps(*problem, eta, [100_000])[0], rtol=0, atol=1e-13)


def test_the_solver_overflows_in_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    taken = scipy.integrate.Radau.step

    def step(solver: scipy.integrate.Radau) -> str | None:
        np.inf * np.zeros(1), np.exp(np.full(1, 1e3))
        return taken(solver)

    problem, eta = of_dataset(DEGENERATE), eta_of(DEGENERATE)
    (start,) = late_steps(*problem, eta, [100_000])
    expected = fast_forward(*problem, eta, 100_000, start, [200_000]).rest
    monkeypatch.setattr(scipy.integrate.Radau, "step", step)
    assert (fast_forward(*problem, eta, 100_000, start, [200_000]).rest == expected).all()


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


def test_another_solver_in_plain_coordinates() -> None:
    """dW/ds = Gam/|Gam| as printed, from s0 to 8 s0, by an explicit method of order 8."""
    merged, reference = of_dataset(DEGENERATE)
    eta, t0 = eta_of(DEGENERATE), 40_000
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


@pytest.mark.parametrize("interpolated", [False, True])
def test_integration_is_a_bound_on_the_solver_s_error(interpolated: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Against the same problem solved to 1e-11 with a stop at each row."""
    merged, reference = of_graph(TWO_SIZES)
    [rest] = late_steps(merged, reference, 0.01, [20_000])
    rows = [10**power for power in (5, 6, 8, 11, 14, 18)]
    if interpolated:
        rows = np.unique(np.geomspace(20_001, 1e18, 250).astype(np.int64)).tolist()
        monkeypatch.setattr(flow_module, "MOST_PAIRS_STOPPED_AT", 0)
    found = fast_forward(merged, reference, 0.01, 20_000, rest, rows)
    monkeypatch.setattr(flow_module, "MOST_PAIRS_STOPPED_AT", 1_000)
    stopped = fast_forward(merged, reference, 0.01, 20_000, rest, rows)
    assert (stopped.rounding[-1] > 1.2 * found.rounding[-1]) == interpolated
    monkeypatch.setattr(flow_module, "RTOL", 1e-11)
    monkeypatch.setattr(flow_module, "ATOL", 1e-13)
    exact = fast_forward(merged, reference, 0.01, 20_000, rest, rows)
    assert (np.linalg.norm(found.rest - exact.rest, axis=1) < found.integration + found.rounding).all()
    assert (found.integration[:5] < 1e-6).all()
    assert RTOL * COARSER < 1e-4
    assert ATOL < RTOL


def last_along(problem: tuple[MergedEdges, ExactReference], flow: Flow) -> float:
    """<rho, What> at the last step."""
    return float(flow.rest[-1] @ problem[1].unit[0])


def test_a_start_that_is_lost_at_every_step_needs_no_second_solution() -> None:
    """The bars are those with one; a start known at the last step has it."""
    problem, eta, rows = of_dataset(DEGENERATE), eta_of(DEGENERATE), [200_000, 10**6]
    [start] = late_steps(*problem, eta, [100_000])
    known = fast_forward(*problem, eta, 100_000, start, rows, start_error=0.5 * eta * rows[-1])
    lost = fast_forward(*problem, eta, 100_000, start, rows, start_error=1.5 * eta * rows[-1])
    assert known.distance_error[-1] < 2
    assert np.isfinite(known.integration).all()
    assert np.isinf(lost.integration).all()
    np.testing.assert_allclose(lost.rest, known.rest, rtol=0, atol=1e-5)
    reached = (eta * rows[-1] + last_along(problem, known)) * (1 + 1e-9)
    late = fast_forward(*problem, eta, 100_000, start, rows, start_error=reached)
    assert np.isinf(late.integration).all()
    assert (late.rest == known.rest).all()
    field, s = late_field.LateField(*problem), np.log(eta * np.array(rows))
    fine, coarse = (integrated(field, eta, eta * 100_000, start, s, looser) for looser in (1.0, COARSER))
    both = with_bounds(field.What, eta, lost.step, fine, coarse, 1.5 * eta * rows[-1])
    np.testing.assert_array_equal(lost.error, both.error)
    np.testing.assert_array_equal(lost.distance_error, both.distance_error)
    assert np.isinf(lost.error).all()
    assert (lost.distance_error == 2).all()


def test_states_that_no_bar_knows_are_interpolated() -> None:
    """The solver stops at the last row alone, and the states between its steps are those with a stop at each."""
    problem, eta, rows = of_dataset(DEGENERATE), eta_of(DEGENERATE), np.geomspace(10**5, 10**8, 200).astype(int)
    [start] = late_steps(*problem, eta, [100_000])
    field, s = late_field.LateField(*problem), np.log(eta * rows)
    each, free = (
        integrated(field, eta, eta * 100_000, start, s, 1.0, interpolated=interpolated)
        for interpolated in (False, True)
    )
    assert free.solver_steps[-1] < each.solver_steps[-1] / 2
    np.testing.assert_allclose(free.across, each.across, rtol=0, atol=1e-6)
    np.testing.assert_allclose(free.along, each.along, rtol=0, atol=1e-6)


def test_an_unknown_start_is_followed_by_long_steps() -> None:
    """Their error stays far below that of the start."""
    problem, eta, rows = of_dataset(DEGENERATE), eta_of(DEGENERATE), np.geomspace(10**5, 10**8, 200).astype(int)
    [start] = late_steps(*problem, eta, [100_000])
    known, unknown = (fast_forward(*problem, eta, 100_000, start, rows, start_error=error) for error in (0.99, 1.0))
    assert unknown.rounding[-1] < known.rounding[-1] / 1.5
    assert (unknown.integration < 1e-4 * unknown.inherited).all()
    apart = np.linalg.norm(unknown.rest - known.rest, axis=1)
    assert (apart <= unknown.integration + known.integration + unknown.rounding + known.rounding).all()
