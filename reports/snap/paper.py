"""arXiv 2305.16380 as the audit sees it: Tian, Wang, Chen, Du on how attention scans and snaps."""

from marginaudit.orders.snap import CLASSES
from marginaudit.reports.paper import Paper
from marginaudit.reports.snap.facts import classified, facts, records
from marginaudit.reports.snap.figures import FIGURES
from marginaudit.reports.snap.hunting.space import SPACE
from marginaudit.reports.snap.implications import IMPLICATIONS
from marginaudit.reports.snap.ledger import CLAIMS
from marginaudit.reports.snap.reliances import RELIANCES
from marginaudit.reports.snap.run import FARTHEST, ClassConfig, ClassRun
from marginaudit.reports.snap.sampled import SWEEPS
from marginaudit.reports.snap.training import train

PAPER = Paper(
    name="snap",
    source="arXiv 2305.16380",
    kind=CLASSES,
    config=ClassConfig,
    audited=ClassConfig(steps=FARTHEST),
    run=ClassRun,
    steps=lambda config: 1,
    facts=facts,
    records=records,
    train=train,
    classified=classified,
    figures=FIGURES,
    claims=tuple(CLAIMS.values()),
    implications=IMPLICATIONS,
    reliances=RELIANCES,
    package="marginaudit.reports.snap",
    space=SPACE,
    sweeps=SWEEPS,
)
