"""Intervals of counts against h and its share at every count."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import mpmath as mp
import numpy as np
import pytest

from marginaudit.training.approximation import Approximation
from marginaudit.training.snap.counts import mean_counts
from marginaudit.training.snap.counts.binomial import Interval
from marginaudit.training.snap.counts.mean_counts import Lagging, Means, lagging, like_growth, like_share, means
from marginaudit.training.snap.limit.continuous import continuous

EPS = float(np.finfo(float).eps)


@pytest.mark.parametrize(("M", "eta"), [(4, 0.5), (1000, 0.5), (10**9, 0.01), (1000, 30.0)])
def test_intervals_of_counts_are_those_of_growth_and_share(M: int, eta: float) -> None:
    """Every count is tried: it is within where the closed forms say so, apart from ends that are not known."""
    N = np.array([240])
    at = means(N, 2, M, eta)
    assert at.mean.tolist() == [120.0]
    level, mean = continuous(np.arange(400), M, eta), continuous([120.0], M, eta)
    growth = np.abs(level.h.value / mean.h.value[0] - 1)
    share = np.abs(level.share.value / mean.share.value[0] - 1)
    k = np.arange(400)
    for d in (1e-4, 0.03, 0.4, 0.99, 1.0, 1.7, 40.0):
        for like, off in ((like_growth, growth), (like_share, share)):
            found = like(at, np.array([d]))
            (low, high), (least, most) = found.widest, found.narrowest
            assert ((k >= low) & (k <= high))[off <= d].all()
            assert (off[(k >= least) & (k <= most)] <= d * (1 + 1e-9)).all()
            assert (least - low)[0] < 1e-3
            assert high[0] > 1e9 or (high - most)[0] < 1e-3


def exactly(at: Means) -> tuple[Any, Callable[[Any], Any]]:
    """exp(M h) - 1 at N-bar, of one N, and the s at which it is something, in many digits (eq. 45)."""
    M, eta, mean = (mp.mpf(float(x)) for x in (at.M[0], at.eta, at.mean[0]))

    def time(excess: Any) -> Any:
        return (excess + (M - 1) * mp.log1p(excess)) / (M * eta)

    return mp.findroot(lambda y: time(y) - mean, float(at.excess[0])), time


@pytest.mark.parametrize(("M", "eta", "first"), [(1000, 0.5, 3), (10**14, 0.01, 2300)])
def test_the_least_count_of_a_share_where_sums_cancel(M: int, eta: float, first: int) -> None:
    """M + exp(M h) - 1 is that of N-bar over 1 + d, and so little above M."""
    for mean in range(first, first + 100):
        at = means(np.array([mean]), 1, M, eta)
        d = at.excess / M * (1 - 1e-6)
        with mp.workdps(50):
            excess, time = exactly(at)
            count = time((excess - mp.mpf(d[0]) * M) / (1 + mp.mpf(d[0])))
        found = like_share(at, d)
        assert found.widest[0][0] <= count <= found.narrowest[0][0] < count * (1 + 1e-6)


def test_the_greatest_count_where_growth_is_many_times_larger() -> None:
    for mean in range(1, 100):
        at = means(np.array([mean]), 1, 10**9, 1e-3)
        d = 40 / at.x
        with mp.workdps(50):
            excess, time = exactly(at)
            count = time((1 + excess) ** (1 + mp.mpf(d[0])) - 1)
        found = like_growth(at, d)
        assert found.narrowest[1][0] <= count <= found.widest[1][0] < count * (1 + 1e-12)


def test_counts_whose_time_is_ahead_by_a_lag_that_grows() -> None:
    """However the lag grows to that of N: all counts of such times are in the widest interval."""
    k, lag = np.arange(41), 3.0
    low, high = np.array([9.75]), np.array([20.25])
    found = Lagging(np.array([9.0]), np.array([lag])).counts(Interval((low, high), (low + 0.5, high - 0.5)))
    reached = []
    for grown in (0.0 * k, lag * (k > 0), lag * k / 40, lag * (k > 15)):
        like = (k + grown >= low) & (k + grown <= high)
        reached += [k[like].min(), k[like].max()]
        assert found.widest[0] <= k[like].min()
        assert k[like].max() <= found.widest[1]
        assert like[(k >= found.narrowest[0]) & (k <= found.narrowest[1])].all()
    assert (min(reached), max(reached)) == (np.ceil(found.widest[0]), np.floor(found.widest[1]))


def test_the_lag_is_taken_with_its_error_and_what_it_is_at_most_without(monkeypatch: pytest.MonkeyPatch) -> None:
    x = Approximation(np.array([6.0]), np.array([0.5]))
    led = SimpleNamespace(level=SimpleNamespace(logit=x), lag=Approximation(np.array([2.0]), np.array([0.25])))
    monkeypatch.setattr(mean_counts, "h_star", lambda *_: led)
    found = lagging(np.array([40]), M=100, eta_Y=0.5)
    assert found.lag.tolist() == [2.25]
    assert found.L.tolist() == pytest.approx([np.exp(0.5) / 2 * np.log((99 + np.exp(5.5)) / 100)], rel=1e-12, abs=0)


def test_how_well_the_ends_are_known() -> None:
    """Ends of intervals of counts are times known to 16 EPS (1 + x), x = M h there; those of a share to twice that."""
    at = means(np.array([200, 2000]), 2, 5000, 0.5)
    for found, off in (
        (like_growth(at, np.full(2, 0.5)), 1 + 1.5 * at.x),
        (like_share(at, np.full(2, 0.5)), 2 * (1 + at.x)),
    ):
        np.testing.assert_allclose(found.widest[1] / found.narrowest[1] - 1, 32 * EPS * off, rtol=0.05)
