"""Confidence intervals for a fixed number of independent samples; each covers at least as often as it says."""

from math import isnan, log, sqrt
from typing import Any, TypeAlias

import numpy as np

from marginaudit.orders.arrays import Floats

Interval: TypeAlias = tuple[float, float]


def clopper_pearson(successes: int, n: int, confidence: float) -> Interval:
    """Exact interval of a probability.

    >>> clopper_pearson(10, 10, 0.99)[1]
    1.0
    """
    from scipy.stats import binomtest

    found = binomtest(successes, n).proportion_ci(confidence, method="exact")
    return float(found.low), float(found.high)


def hoeffding(values: Floats, low: float, high: float, confidence: float) -> Interval:
    """Interval of the mean of values in [low, high], of the same width for all."""
    off = (high - low) * sqrt(log(2 / (1 - confidence)) / (2 * len(values)))
    return _within(float(values.mean()), off, low, high)


def empirical_bernstein(values: Floats, low: float, high: float, confidence: float) -> Interval:
    """Interval of the mean of values in [low, high], narrow for a small variance (Maurer and Pontil 2009, theorem 4).

    Both of its sides fail with a probability of at most (1 - confidence)/2.
    """
    n = len(values)
    if n < 2:
        return low, high
    logarithm = log(4 / (1 - confidence))
    off = sqrt(2 * float(values.var(ddof=1)) * logarithm / n) + 7 * (high - low) * logarithm / (3 * (n - 1))
    return _within(float(values.mean()), off, low, high)


def chebyshev(values: Floats, variance: float, confidence: float) -> Interval:
    """Interval of the mean of values with at most this variance."""
    return _within(float(values.mean()), sqrt(variance / (len(values) * (1 - confidence))), -np.inf, np.inf)


def of_quantile(values: Floats, level: float, confidence: float) -> Interval:
    """Interval of a quantile between two order statistics; an end is infinite for too few values."""
    from scipy.stats import quantile_test

    found: Any = quantile_test(values, p=level).confidence_interval(confidence)
    low, high = float(found.low), float(found.high)
    return (-np.inf if isnan(low) else low), (np.inf if isnan(high) else high)


def _within(mean: float, off: float, low: float, high: float) -> Interval:
    return max(low, mean - off), min(high, mean + off)
