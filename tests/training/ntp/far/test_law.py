"""Potentials and the asymptotic law, against closed forms, other iterations, steps, and the flow to t = 1e18."""

import numpy as np
import pytest
from numpy.typing import NDArray

from marginaudit.orders.ntp import free_dataset
from marginaudit.training.ntp.far.flow import Flow, fast_forward
from marginaudit.training.ntp.far.law import AsymptoticLaw, asymptotic_law
from marginaudit.training.ntp.far.potentials import potentials
from marginaudit.training.ntp.model.edges import MergedEdges
from marginaudit.training.ntp.model.reference import ExactReference
from tests.solutions import known
from tests.training.ntp.far.late_model import (
    TWICE_DEGENERATE,
    TWO_SIZES,
    block,
    late_steps,
    of_dataset,
    of_graph,
    one_minus_cos,
)

ETA = 0.01
FAR = [10**power for power in range(8, 19)]


def sinkhorn(
    winner: NDArray[np.int64],
    loser: NDArray[np.int64],
    log_weight: NDArray[np.float64],
    supply: NDArray[np.float64],
    start: NDArray[np.float64],
    sweeps: int = 4000,
) -> NDArray[np.float64]:
    """Each winner, then each loser, set in turn so that its own sum is right; sums over all kept at the end."""
    r = start.copy()
    for _ in range(sweeps):
        flux = np.exp(log_weight - (r[winner] - r[loser]))
        r += np.where(supply > 0, np.log(np.maximum(np.bincount(winner, flux, len(r)), 1e-300) / np.abs(supply)), 0)
        flux = np.exp(log_weight - (r[winner] - r[loser]))
        r -= np.where(supply < 0, np.log(np.maximum(np.bincount(loser, flux, len(r)), 1e-300) / np.abs(supply)), 0)
    return np.asarray(r + (start.sum() - r.sum()) / len(r))


@pytest.mark.parametrize("spread", [0, 1, 8])
@pytest.mark.parametrize(("k", "m"), [(1, 1), (1, 5), (3, 2), (4, 7)])
def test_potentials_against_sinkhorn(k: int, m: int, spread: int) -> None:
    merged, reference = of_graph(block(k, m, 0))
    rng = np.random.default_rng(k + m)
    log_weight, start = spread * rng.normal(size=len(merged)), rng.normal(size=k + m)
    W = np.array([float(w) for w in reference.weight])
    component = np.zeros(k + m, dtype=np.int64)
    r = potentials(merged.winner, merged.loser, log_weight, W, component, np.ones(k + m), start)
    np.testing.assert_allclose(
        r, sinkhorn(merged.winner, merged.loser, log_weight, W, start), rtol=0, atol=1e-11 * (1 + spread)
    )


def test_potentials_are_not_sought_from_a_level_whose_fluxes_underflow() -> None:
    """As after large steps."""
    ends, component = (np.array([0, 0]), np.array([1, 2])), np.zeros(3, dtype=np.int64)
    level = np.array([2e3, -1e3, -1e3])
    r = potentials(*ends, np.log([2.0, 8.0]), np.array([2.0, -1.0, -1.0]), component, np.ones(3), level)
    np.testing.assert_allclose(r, np.log([16, 16 / 2**3, 16 / 8**3]) / 3 + level.mean(), rtol=0, atol=1e-14)


@pytest.mark.parametrize("missed", [0.9e-8, 1.1e-8])
def test_how_much_of_a_supply_may_be_missed(missed: float) -> None:
    """1e-8 of its largest entry: here what the node misses whose potential is not sought."""
    ends, component = (np.array([0, 0]), np.array([1, 2])), np.zeros(3, dtype=np.int64)
    supply = np.array([4 * (1 + missed), -2.0, -2.0])
    arguments = *ends, np.zeros(2), supply, component, np.ones(3), np.zeros(3)
    if missed < 1e-8:
        potentials(*arguments)
    else:
        with pytest.raises(RuntimeError, match=r"miss it by 4\.4e-08"):
            potentials(*arguments)


def one_optimal_token(seed: int) -> tuple[MergedEdges, ExactReference]:
    return of_dataset(free_dataset(V=9, N=25, L=5, seed=seed, optimal=(1, 1), max_count=3))


@pytest.mark.parametrize("seed", range(4))
def test_one_optimal_token_a_query_has_a_closed_form(seed: int) -> None:
    """rho_a = sum_j L_j/(m+1), rho_j = rho_a - L_j with L_j = log(w_j (m+1)), whatever state it is read from."""
    merged, reference = one_optimal_token(seed)
    rho = np.zeros(len(reference.weight))
    for a in np.unique(merged.winner):
        edges = merged.winner == a
        m = edges.sum()
        L = np.log(merged.weight[edges] * (m + 1))
        rho[a] = L.sum() / (m + 1)
        rho[merged.loser[edges]] = rho[a] - L
    W = np.array([float(w) for w in reference.weight])
    u = rho - (rho @ W) / (W @ W) * W
    [rest] = late_steps(merged, reference, ETA, [10**6])
    law = asymptotic_law(merged, reference, ETA, 10**6, rest)
    assert not law.support.degenerate
    assert law.second is None
    assert law.unsettled == 0
    np.testing.assert_allclose(law.offset, u, atol=1e-13)
    assert law.constant == pytest.approx(u @ u / (2 * ETA**2), rel=1e-12, abs=0)
    gap = one_minus_cos(reference, ETA * 10**6, rest)
    assert law.one_minus_cos(10**6) == pytest.approx(gap, rel=1e-11, abs=0)
    assert law.one_minus_cos([10**18])[0] * 1e36 == pytest.approx(law.constant, rel=1e-12, abs=0)


def flow_and_laws(
    merged: MergedEdges, reference: ExactReference, t0: int = 200_000
) -> tuple[Flow, AsymptoticLaw, AsymptoticLaw]:
    [rest] = late_steps(merged, reference, ETA, [t0])
    flow = fast_forward(merged, reference, ETA, t0, rest, FAR)
    return (
        flow,
        asymptotic_law(merged, reference, ETA, t0, rest),
        asymptotic_law(merged, reference, ETA, FAR[-1], flow.rest[-1]),
    )


@pytest.mark.parametrize("seed", [0, 13])
def test_nondegenerate_law_against_flow(seed: int) -> None:
    merged, reference = of_dataset(free_dataset(V=8, N=30, L=5, seed=seed))
    assert (np.array([float(x) for x in reference.slack]) > 0).any()
    flow, early, late = flow_and_laws(merged, reference)
    assert early.second is None
    for law in (early, late):
        np.testing.assert_allclose(law.one_minus_cos(FAR), flow.one_minus_cos, rtol=2e-11)
        assert (np.abs(law.one_minus_cos(FAR) / flow.one_minus_cos - 1) < flow.error + 1e-13).all()


@pytest.mark.parametrize("seed", [2, 3, 4])
def test_degenerate_law_against_flow(seed: int) -> None:
    """Its own error falls like log s/s: below 1e-8 from t = 1e12 on, below 1e-13 at 1e18."""
    merged, reference = of_dataset(free_dataset(V=8, N=30, L=5, seed=seed))
    flow, early, late = flow_and_laws(merged, reference)
    assert early.second is not None
    assert not early.log_log
    for law in (early, late):
        slack = 2 * law.unsettled / np.linalg.norm(law.offset)
        off = np.abs(law.one_minus_cos(FAR) / flow.one_minus_cos - 1)
        s = ETA * np.array(FAR)
        assert (off < 40 * np.log(s) / s + slack + 2e-11).all()
        assert off[-1] < slack + 1e-12
    assert off[0] > 1e-7


def test_what_the_state_leaves_open() -> None:
    """On TWO_SIZES an edge between components of the second support dies as slowly as s^(-1/3)."""
    merged, reference = of_graph(TWO_SIZES)
    flow, early, late = flow_and_laws(merged, reference)
    moved = np.linalg.norm(early.offset - late.offset)
    assert early.unsettled == pytest.approx(moved, rel=0.1, abs=0)
    middle = asymptotic_law(merged, reference, ETA, FAR[5], flow.rest[5])
    end = late.unsettled
    assert middle.unsettled == pytest.approx(np.linalg.norm(middle.offset - late.offset), rel=0.01, abs=2 * end)
    assert end < 0.03 * middle.unsettled
    off = np.abs(late.one_minus_cos(FAR) / flow.one_minus_cos - 1)
    assert off[-1] < 1e-5
    np.testing.assert_allclose(np.log10(off[4:-1] / off[5:]), 1 / 3, atol=0.06)


def test_a_second_degeneracy_gives_no_numbers() -> None:
    """The flow's component means then drift apart like log log s, with the factor that the third problem says."""
    merged, reference = of_graph(TWICE_DEGENERATE)
    flow, law, _ = flow_and_laws(merged, reference)
    assert law.log_log
    assert np.isnan(law.one_minus_cos(FAR)).all()
    assert np.isnan(law.offset).all()
    assert law.constant == 2 / (2 * ETA**2)
    place = known(law.second_support).component[law.support.component]
    first, second = place[0], place[4]
    apart = flow.rest[:, place == first].mean(axis=1) - flow.rest[:, place == second].mean(axis=1)
    slope = np.diff(apart) / np.diff(np.log(np.log(ETA * np.array(FAR, dtype=float))))
    np.testing.assert_allclose(slope, 1, atol=0.04)
