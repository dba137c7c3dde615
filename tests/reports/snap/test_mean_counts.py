"""Intervals of counts against h and its share at every count."""

from math import ceil, log, sqrt

import numpy as np
import pytest

from marginaudit.reports.snap.mean_counts import like_growth, like_share, means, radius_of
from marginaudit.training.snap.growth import larger_zero
from marginaudit.training.snap.limit.continuous import continuous


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


def test_the_radius_and_the_zero_are_as_printed() -> None:
    at = means(np.array([1000]), 3, 100, 0.5)
    assert at.mean.tolist() == [334.0]
    assert radius_of(at.N, 0.1).tolist() == [ceil(sqrt(1000 * log(10)))]
    for M in (4, 100, 10**9):
        x = larger_zero(np.log([float(M)]))[0]
        assert np.exp(x) == pytest.approx((M - 1) * x, rel=1e-12, abs=0)
        assert x > 1
