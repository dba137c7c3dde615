"""arXiv 2305.16380 as the audit sees it: Tian, Wang, Chen, Du on how attention scans and snaps."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from marginaudit.orders.snap import CLASSES
from marginaudit.reports.paper import Paper, Picture
from marginaudit.reports.snap.claims import CLAIMS
from marginaudit.reports.snap.figure6 import NUM_LAST
from marginaudit.reports.snap.figures import FIGURES, ILLUSTRATIONS, ON_TEXT
from marginaudit.reports.snap.figures.grid import of_a_run
from marginaudit.reports.snap.hunting.space import SPACE
from marginaudit.reports.snap.run import SHOWN_STEPS, ClassConfig, ClassRun
from marginaudit.reports.snap.sweeps import SWEEPS
from marginaudit.reports.snap.tables import classified, facts, records
from marginaudit.reports.snap.training import train
from marginaudit.reports.verdict import Finding, Verdict

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SPARSITY = "snap.fig6.direction"

NOT_DRAWN = (Verdict.NOT_APPLICABLE, Verdict.BROKEN)


def of_section_8(run: ClassRun, findings: Mapping[str, Finding]) -> "Figure | None":
    """Nothing is drawn of a dataset of which figure 6 does not speak."""
    finding = findings.get(SPARSITY)
    if finding is None or finding.verdict in NOT_DRAWN or len(run.dataset.queries) > max(NUM_LAST):
        return None
    return of_a_run(run)


BIBTEX = """@misc{tian2023scan,
  title = {Scan and Snap: Understanding Training Dynamics and Token Composition in 1-layer Transformer},
  author = {Tian, Yuandong and Wang, Yiping and Chen, Beidi and Du, Simon},
  year = {2023},
  howpublished = {arXiv:2305.16380},
  eprint = {2305.16380},
  archivePrefix = {arXiv},
}
"""

PAPER = Paper(
    name="snap",
    source="arXiv 2305.16380",
    bibtex=BIBTEX,
    kind=CLASSES,
    config=ClassConfig,
    trained=ClassConfig(steps=SHOWN_STEPS),
    run=ClassRun,
    steps=lambda config: 1,
    facts=facts,
    records=records,
    train=train,
    classified=classified,
    figures=FIGURES,
    on_text=ON_TEXT,
    illustrations=ILLUSTRATIONS,
    pictures=(
        Picture(
            "-section-8",
            "figures 6, 11 and 12 on this dataset",
            of_section_8,
            SPARSITY,
        ),
    ),
    claims=tuple(CLAIMS.values()),
    package="marginaudit.reports.snap",
    space=SPACE,
    sweeps=SWEEPS,
)
