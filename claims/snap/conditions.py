"""Conditions on a run shared by statements of arXiv 2305.16380: step sizes, length, M, and existence of h and E'."""

from collections.abc import Callable
from contextlib import suppress

import numpy as np
from numpy.typing import NDArray

from marginaudit.claims.claim import BeyondTheRun, NotFollowed, NotRecorded
from marginaudit.claims.run import once_a_run
from marginaudit.claims.snap.run import ClassRun, evenly_spaced
from marginaudit.orders.arrays import UNIT_ROUNDOFF
from marginaudit.orders.snap.assumptions import MUCH_GREATER, dependent
from marginaudit.training.snap.limit.level import LARGEST_RATE

ASSUMPTION_2 = ("wide_vocabulary", "small_overlap", "spread_overlap")

SETTING = ASSUMPTION_2
"""Section 4: "we study the weak correlation case", for all that follows it."""

THEOREM_5 = (*ASSUMPTION_2, "uniform_classes")

RANGE_R = "large_vocabulary"
"""M >> 100. Range R also restricts the step size, see `outside_range_r`."""

VOCABULARIES = np.unique([round(10 ** (decade / 2)) for decade in range(6, 32)]).astype(np.int64)
"""M of sweeps in range R, as float64: 1000 to 3.16e15, two a decade."""

HAS_ZEROS = "M >= 4"


def first_of(*reasons: Callable[[ClassRun], str | None]) -> Callable[[ClassRun], str | None]:
    """First reason from the given conditions. `NotFollowed` is raised only if no condition gives a reason."""

    def absent(run: ClassRun) -> str | None:
        lost: NotFollowed | None = None
        for reason in reasons:
            try:
                found = reason(run)
            except NotFollowed as error:
                lost = lost or error
                continue
            if found:
                return found
        if lost:
            raise lost
        return None

    return absent


def slow_decoder(run: ClassRun) -> str | None:
    """Reason why eq. 10 and its consequences do not apply, or None: Assumption 1 (c), eta_Y >> eta_Z.

    None for a recorded run without given step sizes.
    """
    if not run.known_rates or run.eta_Y >= MUCH_GREATER * run.eta_Z * (1 - 4 * UNIT_ROUNDOFF):  # 0.7 and 0.07
        return None
    least = f"{MUCH_GREATER} eta_Z = {MUCH_GREATER * run.eta_Z:.4g}"
    return f"Assumption 1 (c): eta_Y = {run.eta_Y:.4g} is below {least}."


def least_rate(M: float) -> float:
    """10 M^-0.99, the least eta_Y in range R."""
    return float(MUCH_GREATER * M**-0.99)


def outside_range_r(run: ClassRun) -> str | None:
    """Reason why the step size is outside range R, M^-0.99 << eta_Y < 1, or None."""
    least = least_rate(run.M)
    if least <= run.eta_Y < 1:
        return None
    return f"Range R: eta_Y = {run.eta_Y:.4g} is not from {MUCH_GREATER} M^-0.99 = {least:.4g} to below 1."


def ratios(run: ClassRun) -> str:
    """Note on the ratios that the statements require to be large."""
    K, M = run.K, run.M
    return f"M/K^2 = {M / K**2:.4g}, eta_Y M^0.99 = {run.eta_Y * M**0.99:.4g}; t/K^2 is from {MUCH_GREATER} on."


def late_steps(run: ClassRun, most: int) -> NDArray[np.int64]:
    """At most ``most`` of the recorded steps t >> K^2 of SGD, including the last.

    Raises
    ------
    NotRecorded
        No step t >> K^2 was recorded.
    BeyondTheRun
        Eta_Y is larger than float64 can follow.
    """
    if run.eta_Y > LARGEST_RATE:
        raise BeyondTheRun(f"after one step M h* is eta_Y = {run.eta_Y:.4g}, and exp of it is beyond float64")
    least = MUCH_GREATER * run.K**2
    late = np.unique(run.drawn_steps[run.drawn_steps >= least])
    if not len(late):
        raise NotRecorded(f"the statement applies from t = {MUCH_GREATER} K^2 = {least} on, and no such t is recorded")
    chosen = evenly_spaced(len(late), most)
    return np.asarray(late[chosen], dtype=np.int64)


def no_growth(run: ClassRun) -> str | None:
    """Reason why h of Lemmas 5 to 12 is undefined, or None.

    Raises
    ------
    NotFollowed
        Eta_Y is beyond what float64 can follow.
    """
    if run.M < 2:
        return "M is below 2, and zeta_n, which h scales, is not defined."
    if run.eta_Y > LARGEST_RATE:
        raise NotFollowed(f"with eta_Y above {LARGEST_RATE:g}, exp(M h*) leaves float64 in the first step")
    return None


def no_recorded_growth(run: ClassRun) -> str | None:
    """Reason why h at the recorded steps is unavailable, or None.

    Raises
    ------
    NotRecorded
        No step was recorded; else see `no_growth`.
    """
    if run.M >= 2 and not len(run.steps):
        raise NotRecorded("no step from 1 on was recorded")
    return no_growth(run)


def no_zeros(run: ClassRun) -> str | None:
    """Reason why exp(x) - (M-1) x has no zeros, or None: zeros require M - 1 >= e."""
    return None if run.M >= 4 else "M is below 4"


def one_class(run: ClassRun) -> str | None:
    """Reason for having fewer than two classes, or None."""
    return None if run.K >= 2 else "there is one class"


def not_three_classes(run: ClassRun) -> str | None:
    """Reason for not having exactly three classes, or None."""
    return None if run.K == 3 else "there are not three classes"


def no_inverse(run: ClassRun) -> str | None:
    """Reason why E' does not exist, or None.

    Raises
    ------
    NotFollowed
        The classes' attention is nearly linearly dependent.
    """
    with suppress(ValueError):
        if run.dataset.overlap.independent:
            _ = run.overlap
            return None
    if exactly_dependent(run):
        return "The classes' attention is linearly dependent: there is no E'."
    raise NotFollowed("the classes' attention is so nearly dependent that float64 leaves no digit of E'")


@once_a_run
def exactly_dependent(run: ClassRun) -> bool:
    """Whether the classes' attention is linearly dependent, in rational arithmetic."""
    return dependent(run.dataset)
