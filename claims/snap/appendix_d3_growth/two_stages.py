"""Scan and snap: the two stages of h and of the speed gamma of self-attention (Lemma 9, Theorem 1 (b)).

h(t/K) and gamma(t) depend on M and on y = eta_Y t/K alone, so a constant that serves every y at every M serves every
K and every eta_Y too.
"""

from collections.abc import Callable

import numpy as np

from marginaudit.claims.claim import NotFollowed
from marginaudit.claims.judgements import Bounded, HiddenConstant
from marginaudit.claims.series import FORMULA_ROUNDING, Series, series
from marginaudit.claims.snap.conditions import VOCABULARIES, no_recorded_growth
from marginaudit.claims.snap.config import FARTHEST
from marginaudit.claims.snap.run import ClassRun
from marginaudit.orders.arrays import Floats
from marginaudit.training.snap.growth import scan_end, snap_start
from marginaudit.training.snap.limit.continuous import continuous, gamma

BEFORE = np.geomspace(1e-6, 1, 121)
"""Times of the scan, relative to its last."""

AFTER = np.geomspace(1, 1e12, 121)
"""Times of the snap, relative to its first."""

Shape = Callable[[ClassRun, Floats], Floats]


def beyond_steps(run: ClassRun) -> str | None:
    """Reason why the corrected statements do not apply, or None.

    Raises
    ------
    NotFollowed
        The scan ends beyond `FARTHEST`, or see `no_recorded_growth`.
    """
    if run.M < 5:
        return "M is below 5."
    if reason := no_recorded_growth(run):
        return reason
    if run.transition > FARTHEST:
        raise NotFollowed(f"the scan ends at t = {run.transition:.3g}, beyond {FARTHEST:.0e} steps")
    return None


def range_in_numbers(run: ClassRun) -> str:
    """Note on the run's distance from the ends of range R."""
    return f"M/100 = {run.M / 100:.4g}, eta_Y/M^-0.99 = {run.eta_Y * run.M**0.99:.4g}."


def scan_times(run: ClassRun) -> Floats:
    """The recorded steps t <= K ln M/eta_Y, and times up to there."""
    return np.unique(np.concatenate([run.steps[run.steps <= run.transition], run.transition * BEFORE]))


def from_first_step(run: ClassRun, t: Floats) -> Floats:
    """Times from t = K on, starting at h(1)."""
    return np.unique(np.concatenate([[float(run.K)], t[t >= run.K]]))


def snap_times(run: ClassRun) -> Floats:
    """The recorded steps t >= 2 (1 + omega_1) K ln M/eta_Y, and times from there on."""
    return np.unique(np.concatenate([run.steps[run.steps >= run.snap_start], run.snap_start * AFTER]))


def h(run: ClassRun, t: Floats) -> Series:
    """h(t/K)."""
    found = continuous(t / run.K, run.M, run.eta_Y).h
    return series(found.value, radius=found.error, step=t)


def speeds(run: ClassRun, t: Floats) -> Series:
    """gamma(t)."""
    found = gamma(t, run.K, run.M, run.eta_Y)
    return series(found.value, radius=found.error, step=t)


def scaled_time(run: ClassRun, t: Floats) -> Floats:
    """eta_Y t/K."""
    return np.asarray(run.eta_Y * t / run.K)


def snap_h(run: ClassRun, t: Floats) -> Floats:
    """ln(M eta_Y t/K)/M."""
    return np.asarray(np.log(run.M * scaled_time(run, t)) / run.M)


def snap_gamma(run: ClassRun, t: Floats) -> Floats:
    """K ln(M eta_Y t/K)/(eta_Y t)."""
    return np.asarray(np.log(run.M * scaled_time(run, t)) / scaled_time(run, t))


def largest_over_M(quantity: str, y: Callable[[int], Floats], shape: Callable[[int, Floats], Floats]) -> Series:
    """The largest quantity over shape(M, y), along M; the quantity is "h" or "gamma", at K = 1 and eta_Y = 1."""
    values, radii = [], []
    for M in VOCABULARIES.tolist():
        at = y(M)
        found = continuous(at, M, 1.0).h if quantity == "h" else gamma(at, 1, M, 1.0)
        needed = found.value / shape(M, at)
        top = int(np.argmax(needed))
        values.append(needed[top])
        radii.append(needed[top] * (found.error[top] / found.value[top] + FORMULA_ROUNDING))
    return series(values, radius=radii, step=VOCABULARIES, clock="M")


def scan_y(M: int) -> Floats:
    """The y = eta_Y t/K of the scan, which ends at ln M."""
    return scan_end(1, M, 1.0) * BEFORE


def snap_y(M: int) -> Floats:
    """The y = eta_Y t/K of the snap, from 2 (1 + omega_1) ln M on."""
    return snap_start(1, M, 1.0) * AFTER


def ones(run: ClassRun, at: Floats) -> Floats:
    """The constant shape, of O(1)."""
    return np.ones(len(at))


def uniform(quantity: str, y: Callable[[int], Floats], shape: Callable[[int, Floats], Floats]) -> HiddenConstant:
    """One constant serves every M, with every K and eta_Y."""
    return HiddenConstant(measure=lambda run: largest_over_M(quantity, y, shape), shape=ones)


def along_t(
    measure: Callable[[ClassRun, Floats], Series], times: Callable[[ClassRun], Floats], shape: Shape
) -> HiddenConstant:
    """One constant serves every step of a run."""
    return HiddenConstant(measure=lambda run: measure(run, times(run)), shape=shape)


def at_most(
    measure: Callable[[ClassRun, Floats], Series], times: Callable[[ClassRun], Floats], upper: Shape
) -> Bounded:
    """A quantity along t is at most a shape."""
    return Bounded(measure=lambda run: measure(run, times(run)), upper=upper)


SCAN_GAMMA = along_t(speeds, scan_times, scaled_time)
"""gamma = O(eta_Y t/K) in the scan."""
