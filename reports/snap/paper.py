"""arXiv 2305.16380 as the audit sees it: Tian, Wang, Chen, Du on how attention scans and snaps."""

from marginaudit.orders.snap import CLASSES
from marginaudit.reports.paper import Paper
from marginaudit.reports.snap.claims import CLAIMS
from marginaudit.reports.snap.figures import FIGURES
from marginaudit.reports.snap.hunting.space import ClassSpace
from marginaudit.reports.snap.run import SHOWN_STEPS, ClassConfig, ClassRun
from marginaudit.reports.snap.sweeps import SWEEPS
from marginaudit.reports.snap.tables import classified, facts, records
from marginaudit.reports.snap.training import train

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
    facts=facts,
    records=records,
    train=train,
    classified=classified,
    figures=FIGURES,
    claims=tuple(CLAIMS.values()),
    package="marginaudit.reports.snap",
    space=ClassSpace(),
    sweeps=SWEEPS,
)
