"""Runs for which the growth h of Lemmas 5 to 12 is not defined, or not computed, and those without E'."""

from marginaudit.reports.snap.run import ClassRun
from marginaudit.training.snap.limit.level import LARGEST_RATE


def no_growth(run: ClassRun) -> str | None:
    """Why nothing is said of h at the run's M and eta_Y, or None."""
    if run.M < 2:
        return "M is below 2, and h is not defined."
    if run.eta_Y > LARGEST_RATE:
        return f"eta_Y is beyond {LARGEST_RATE:g}: M exp(eta_Y) is no float64, and h is not computed."
    return None


def no_inverse(run: ClassRun) -> str | None:
    """Why there is no E', or None."""
    try:
        run.dataset.overlap.E_prime, run.overlap  # noqa: B018
    except ValueError:
        return "The f_n are linearly dependent, as far as float64 can tell, and there is no E'."
    return None
