"""Quantiles over seeds against their law."""

from math import ceil

import numpy as np
from scipy.stats import binom

from marginaudit.reports.snap.quantiles import quantile, ranks
from marginaudit.training.snap.limit import Approximation


def test_quantiles_lie_between_their_bounds() -> None:
    rng, seeds, delta = np.random.default_rng(0), 500, 0.1
    low, high = ranks(seeds, delta)
    assert high < seeds * delta < low
    assert binom.cdf(high, seeds, delta) <= 0.001 < binom.cdf(high + 1, seeds, delta)
    assert binom.sf(low, seeds, delta) <= 0.001 < binom.sf(low - 1, seeds, delta)
    sample = rng.random((seeds, 400))
    found = quantile(Approximation(sample, np.zeros_like(sample)), np.arange(1, 401), delta)
    outside = int(((found.lower > 0.9) | (found.upper < 0.9)).sum())
    assert outside <= ceil(400 * 0.002) + 4
    assert 0.03 < found.radius.mean() < 0.06
    few = quantile(Approximation(sample[:20], np.zeros((20, 400))), np.arange(1, 401), delta)
    assert np.isinf(few.radius).all()
