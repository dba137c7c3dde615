"""arXiv 2409.17335 as the audit sees it: Huang, Liang, Yang on next-token prediction by a one-layer transformer."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from marginaudit.orders.ntp import SENTENCES
from marginaudit.reports.ntp.algorithm1 import load, true_steps
from marginaudit.reports.ntp.claims import CLAIMS
from marginaudit.reports.ntp.config import PAPER_STEPS, Config
from marginaudit.reports.ntp.figures.direction import direction_figure
from marginaudit.reports.ntp.figures.gallery import FIGURES
from marginaudit.reports.ntp.figures.measured import PANELS, panel
from marginaudit.reports.ntp.figures.orders import orders_figure
from marginaudit.reports.ntp.hunting.space import SPACE
from marginaudit.reports.ntp.realizable import far_from_realizable
from marginaudit.reports.ntp.report_rows import classified, facts, records
from marginaudit.reports.ntp.run import Run
from marginaudit.reports.ntp.sweeps import SWEEPS
from marginaudit.reports.ntp.tables import TABLES
from marginaudit.reports.ntp.training import train
from marginaudit.reports.paper import Paper, Picture
from marginaudit.reports.verdict import Finding

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Draw = Callable[[Run, Mapping[str, Finding]], "Figure"]


def _of_training(draw: Draw) -> "Callable[[Run, Mapping[str, Finding]], Figure | None]":
    """Nothing is drawn of a dataset that cannot be trained on."""
    return lambda run, findings: draw(run, findings) if run.trainable else None


BIBTEX = """@misc{huang2024nonasymptotic,
  title = {Non-asymptotic Convergence of Training Transformers for Next-token Prediction},
  author = {Huang, Ruiquan and Liang, Yingbin and Yang, Jing},
  year = {2024},
  howpublished = {arXiv:2409.17335},
  eprint = {2409.17335},
  archivePrefix = {arXiv},
}
"""

PAPER = Paper(
    name="ntp",
    source="arXiv 2409.17335",
    bibtex=BIBTEX,
    kind=SENTENCES,
    config=Config,
    trained=Config(steps2=PAPER_STEPS),
    run=Run,
    load=load,
    steps=true_steps,
    facts=facts,
    records=records,
    train=train,
    classified=classified,
    remark=far_from_realizable,
    claims=tuple(CLAIMS.values()),
    figures=FIGURES,
    of_dataset={"orders": orders_figure},
    tables=TABLES,
    pictures=(
        Picture(
            "-direction",
            "direction error of stage 2, measured and proved",
            _of_training(direction_figure),
            "ntp.theorem1.direction",
        ),
        *(
            Picture(f"-{claim.removeprefix('ntp.')}", "measured against bound", _of_training(panel(number)), claim)
            for number, (_, claim, _, _) in enumerate(PANELS)
            if claim != "ntp.theorem1.direction"
        ),
    ),
    package="marginaudit.reports.ntp",
    space=SPACE,
    sweeps=SWEEPS,
)
