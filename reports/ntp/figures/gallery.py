"""The figures that `marginaudit figure` draws, by name."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from marginaudit.orders.ntp import CASES
from marginaudit.reports.ntp.claims import CLAIMS
from marginaudit.reports.ntp.config import Config
from marginaudit.reports.ntp.figures.descents import ngd_and_gd
from marginaudit.reports.ntp.figures.direction import BOUNDS, direction_figure
from marginaudit.reports.ntp.figures.measured import ntp_2
from marginaudit.reports.ntp.run import Run

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def ntp_theorem_1() -> "Figure":
    """Theorem 1 of arXiv 2409.17335 on section 7's setting, to step 1e18."""
    run = Run(CASES["section-7"](), Config())
    return direction_figure(run, {claim: CLAIMS[claim].judge(run) for claim, _, _ in BOUNDS})


FIGURES: Mapping[str, "Callable[[], Figure]"] = {
    "ntp-2": ntp_2,
    "ntp-theorem-1": ntp_theorem_1,
    "ngd-gd": ngd_and_gd,
}
"""The papers' figures, and the project's own."""
