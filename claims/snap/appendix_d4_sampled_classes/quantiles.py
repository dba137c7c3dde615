"""Theta and sigma over many seeds of SGD, and their quantiles as series."""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from marginaudit.claims.run import once_a_run
from marginaudit.claims.series import Series, series
from marginaudit.claims.snap.conditions import late_steps
from marginaudit.claims.snap.run import ClassRun
from marginaudit.training.approximation import Approximation
from marginaudit.training.snap.counts.drawn import class_counts
from marginaudit.training.snap.counts.quantiles import largest, quantile
from marginaudit.training.snap.limit.fluctuation import FluctuationLaw

DELTAS = (0.1, 0.01)
"""Failure probabilities for auditing probabilistic statements."""

RECORDS = 24

NUMBERS = 2_000_000
"""Most counts sampled."""


@once_a_run
def late_counts(run: ClassRun) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Recorded t >> K^2, and the class counts of many seeds at each."""
    seeds = min(run.config.seeds, max(1, NUMBERS // run.K))
    steps = late_steps(run, max(4, min(RECORDS, NUMBERS // (seeds * run.K))))
    return steps, class_counts(steps.tolist(), run.dataset.frequencies, seeds, run.config.seed)


@once_a_run
def largest_theta(run: ClassRun, law: FluctuationLaw) -> tuple[NDArray[np.int64], Approximation]:
    """Recorded t >> K^2, and the largest |theta_n| of many seeds at each, shape (seeds, records)."""
    steps, counts = late_counts(run)
    return steps, largest(law(counts, run.M, run.eta_Y).theta)


@once_a_run
def first_sigma(run: ClassRun, law: FluctuationLaw) -> tuple[NDArray[np.int64], Approximation]:
    """Recorded t >> K^2, and |sigma| of the first class of many seeds at each, shape (seeds, records).

    All classes have the same distribution.
    """
    steps, counts = late_counts(run)
    return steps, largest(law(counts, run.M, run.eta_Y, slice(1)).sigma)


def quantile_along(step: NDArray[np.int64], of: Approximation, delta: float) -> Series:
    """(1-delta)-quantile over seeds at each step, of values of shape (seeds, records)."""
    found = quantile(of, delta)
    return series(found.value, radius=found.error, step=step)


def deviation_shape(delta: float, per_class: bool) -> Callable[[ClassRun, NDArray[np.float64]], ArrayLike]:
    """K/sqrt(N) sqrt(ln(1/delta)), with ln(K/delta) for all classes at once."""
    return lambda run, N: run.K / np.sqrt(N) * np.sqrt(np.log((1 if per_class else run.K) / delta))
