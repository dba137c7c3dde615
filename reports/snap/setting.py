"""Runs for which the growth h of Lemmas 5 to 12 is not defined, or not computed."""

from marginaudit.reports.snap.run import ClassRun
from marginaudit.training.snap.limit.level import LARGEST_RATE


def no_growth(run: ClassRun) -> str | None:
    """Why nothing is said of h at the run's M and eta_Y, or None."""
    if run.M < 2:
        return "M is below 2, and h is not defined."
    if run.eta_Y > LARGEST_RATE:
        return f"eta_Y is beyond {LARGEST_RATE:g}: M exp(eta_Y) is no float64, and h is not computed."
    return None
