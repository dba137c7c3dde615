"""Quantiles over many seeds of SGD, with bounds from the exact binomial law."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from marginaudit.claims.run import once_a_run
from marginaudit.claims.series import Series, series
from marginaudit.claims.snap.binomial import above, at_most
from marginaudit.claims.snap.conditions import late_steps
from marginaudit.claims.snap.run import ClassRun
from marginaudit.training.approximation import Approximation
from marginaudit.training.snap.limit.counts import class_counts
from marginaudit.training.snap.limit.fluctuation import Fluctuation

DELTAS = (0.1, 0.01)
"""Failing probabilities at which statements about chance are audited."""

DOUBT = 0.001
"""The probability that a bound on a quantile is on the wrong side."""

RECORDS = 24

NUMBERS = 2_000_000
"""Counts that are drawn, at most."""

Law = Callable[[ArrayLike, int, float], Fluctuation]
"""Function from counts, M and eta_Y to theta and sigma."""


@dataclass(frozen=True)
class Drawn:
    """theta and sigma of every seed at recorded t >> K^2.

    Attributes
    ----------
    step : (records,) array
    theta : Approximation, shape (seeds, records)
        The largest |theta_n|.
    sigma : Approximation, shape (seeds, records)
        |sigma| of the first class; all classes have one law.
    """

    step: NDArray[np.int64]
    theta: Approximation
    sigma: Approximation


@once_a_run
def late_counts(run: ClassRun) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Recorded t >> K^2, and the counts of many seeds there."""
    seeds = min(run.config.seeds, max(1, NUMBERS // run.K))
    steps = late_steps(run, max(4, min(RECORDS, NUMBERS // (seeds * run.K))))
    return steps, class_counts(steps.tolist(), run.dataset.frequencies, seeds, run.config.seed)


@once_a_run
def drawn(run: ClassRun, law: Law) -> Drawn:
    """theta and sigma of many seeds."""
    steps, counts = late_counts(run)
    at = law(counts, run.M, run.eta_Y)
    return Drawn(steps, largest(at.theta), Approximation(np.abs(at.sigma.value[..., 0]), at.sigma.error[..., 0]))


def ranks(seeds: int, delta: float, doubt: float = DOUBT) -> tuple[int, int]:
    """Ranks, from the largest value down, of a lower and an upper bound on the (1-delta)-quantile.

    Each is wrong with a probability of at most ``doubt``.

    The probability of a value from the quantile on is at least delta, so that x seeds or fewer have one with a
    probability of at most P(Binomial(n, delta) <= x); that of a value above it is at most delta. Where the seeds
    show no bound, the rank is n or -1.

    >>> ranks(2000, 0.01)
    (35, 7)
    >>> ranks(10, 0.01)
    (2, -1)
    """
    left = np.arange(seeds)
    low = np.flatnonzero(above(left, seeds, delta) <= doubt)
    high = np.flatnonzero(at_most(left, seeds, 1 - delta) <= doubt)
    return int(low[0]) if len(low) else seeds, int(high[-1]) if len(high) else -1


def quantile(of: Approximation, step: NDArray[np.int64], delta: float) -> Series:
    """The (1-delta)-quantile at each step of values of shape (seeds, records), between its two bounds; delta <= 1/2.

    Where the seeds show no upper bound, the largest value with an infinite error bar; where they do, they show both.
    """
    seeds = len(of.value)
    low, high = ranks(seeds, delta)
    value = np.sort(of.value, axis=0)
    if high < 0:
        return series(value[-1], radius=np.full(len(step), np.inf), step=step)
    lower, upper = value[seeds - 1 - low], value[seeds - 1 - high]
    return series((lower + upper) / 2, radius=(upper - lower) / 2 + of.error.max(axis=0), step=step)


def largest(of: Approximation) -> Approximation:
    """The largest absolute value over the last axis."""
    return Approximation(np.abs(of.value).max(axis=-1), of.error.max(axis=-1))


def deviation_shape(delta: float, per_class: bool) -> Callable[[ClassRun, NDArray[np.float64]], ArrayLike]:
    """K/sqrt(N) sqrt(ln(1/delta)), with ln(K/delta) for all classes at once."""
    return lambda run, N: run.K / np.sqrt(N) * np.sqrt(np.log((1 if per_class else run.K) / delta))
