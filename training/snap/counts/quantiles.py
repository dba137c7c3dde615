"""Quantiles over seeds, with bounds from the exact binomial law."""

import numpy as np

from marginaudit.training.approximation import Approximation
from marginaudit.training.snap.counts.binomial import above, at_most

DOUBT = 0.001
"""The probability that a bound on a quantile is on the wrong side."""


def ranks(seeds: int, delta: float, doubt: float = DOUBT) -> tuple[int, int]:
    """Ranks, counted from the largest value, of a lower and an upper bound on the (1-delta)-quantile.

    Each bound fails with probability at most ``doubt``.

    A value is at or above the quantile with probability at least delta, so at most x seeds have such a value with
    probability at most P(Binomial(n, delta) <= x). A value is above the quantile with probability at most delta. With
    too few seeds for a bound, the rank is n or -1.

    >>> ranks(2000, 0.01)
    (35, 7)
    >>> ranks(10, 0.01)
    (2, -1)
    """
    left = np.arange(seeds)
    low = np.flatnonzero(above(left, seeds, delta) <= doubt)
    high = np.flatnonzero(at_most(left, seeds, 1 - delta) <= doubt)
    return int(low[0]) if len(low) else seeds, int(high[-1]) if len(high) else -1


def quantile(of: Approximation, delta: float) -> Approximation:
    """(1-delta)-quantile of values of shape (seeds, ..), with its two bounds as error bar; delta <= 1/2.

    With too few seeds for an upper bound, the largest value with an infinite error bar; an upper bound implies a lower
    one.
    """
    seeds = len(of.value)
    low, high = ranks(seeds, delta)
    value = np.sort(of.value, axis=0)
    if high < 0:
        return Approximation(value[-1], np.full_like(value[-1], np.inf))
    lower, upper = value[seeds - 1 - low], value[seeds - 1 - high]
    return Approximation((lower + upper) / 2, (upper - lower) / 2 + of.error.max(axis=0))


def largest(of: Approximation) -> Approximation:
    """Largest absolute value over the last axis."""
    return Approximation(np.abs(of.value).max(axis=-1), of.error.max(axis=-1))
