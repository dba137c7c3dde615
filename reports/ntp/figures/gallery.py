"""Figures of `marginaudit figure` and of reports."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from marginaudit.claims.ntp.config import Config
from marginaudit.claims.ntp.run import Run
from marginaudit.claims.ntp.theorems import CLAIMS
from marginaudit.claims.paper import Figure
from marginaudit.claims.verdict import Finding
from marginaudit.orders.ntp import CASES
from marginaudit.reports.ntp.figures.direction import BOUNDS, direction_figure, runs_figure
from marginaudit.reports.ntp.figures.measured import PANELS, ngd_and_gd, ntp_2, panel
from marginaudit.reports.ntp.figures.orders import orders_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

Draw = Callable[[Run, Mapping[str, Finding]], "Drawing"]


def ntp_theorem_1() -> "Drawing":
    """Theorem 1 of arXiv 2409.17335 on section 7's setting, to step 1e18."""
    run = Run(CASES["section-7"](), Config())
    return direction_figure(run, {claim: CLAIMS[claim].judge(run) for claim, _, _ in BOUNDS})


def _of_training(draw: Draw) -> "Callable[[Run, Mapping[str, Finding]], Drawing | None]":
    """Wrap a figure of training: None for untrainable datasets."""
    return lambda run, findings: draw(run, findings) if run.trainable else None


DIRECTION = "ntp.theorem1.direction"

FIGURES = (
    Figure("ntp-2", ntp_2),
    Figure("ntp-theorem-1", ntp_theorem_1),
    Figure("ngd-gd", ngd_and_gd),
    Figure("orders", orders_figure, of="dataset"),
    Figure(
        "direction",
        _of_training(direction_figure),
        of="run",
        beside=DIRECTION,
        caption="direction error of stage 2, measured and proved",
    ),
    Figure(
        "runs",
        runs_figure,
        of="runs",
        beside=DIRECTION,
        caption="direction error of stage 2 of each run, and the bounds",
    ),
    *(
        Figure(
            claim.removeprefix("ntp."),
            _of_training(panel(number)),
            of="run",
            beside=claim,
            caption="measured against bound",
        )
        for number, (_, claim, _, _) in enumerate(PANELS)
        if claim != DIRECTION
    ),
)
"""Figures of the paper, of this project, and of a dataset or a run."""
