"""Runs of which statements say nothing: h is not defined or not computed, there is no E', or one class alone."""

from marginaudit.reports.claim import BeyondTheRun, NotFollowed
from marginaudit.reports.snap.run import ClassRun
from marginaudit.training.snap.limit.level import LARGEST_RATE


def no_growth(run: ClassRun) -> str | None:
    """Why nothing is said of h at the run's M, or None.

    Raises
    ------
    NotFollowed
        Eta_Y is beyond what float64 can follow.
    """
    if run.M < 2:
        return "M is below 2, and h is not defined."
    if run.eta_Y > LARGEST_RATE:
        raise NotFollowed(f"with eta_Y above {LARGEST_RATE:g}, exp(M h*) leaves float64 in the first step")
    return None


def no_recorded_growth(run: ClassRun) -> str | None:
    """Why nothing is said of h at the recorded steps, or None.

    Raises
    ------
    BeyondTheRun
        No step was recorded, or see `no_growth`.
    """
    if run.M >= 2 and not len(run.steps):
        raise BeyondTheRun("no step from 1 on was recorded")
    return no_growth(run)


def one_class(run: ClassRun) -> str | None:
    """Why there are no two classes, or None."""
    return None if run.K >= 2 else "there is one class"


def no_inverse(run: ClassRun) -> str | None:
    """Why there is no E', or None."""
    try:
        run.dataset.overlap.E_prime, run.overlap  # noqa: B018
    except ValueError:
        return "The f_n are linearly dependent, as far as float64 can tell, and there is no E'."
    return None
