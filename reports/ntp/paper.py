"""arXiv 2409.17335 as the audit sees it: Huang, Liang, Yang on next-token prediction by a one-layer transformer."""

from marginaudit.orders.ntp import SENTENCES
from marginaudit.reports.ntp.algorithm1 import load, true_steps
from marginaudit.reports.ntp.claims import CLAIMS
from marginaudit.reports.ntp.config import PAPER_STEPS, Config
from marginaudit.reports.ntp.figures.gallery import FIGURES
from marginaudit.reports.ntp.hunting.space import SentenceSpace
from marginaudit.reports.ntp.realizable import far_from_realizable
from marginaudit.reports.ntp.report_rows import classified, facts, records
from marginaudit.reports.ntp.run import Run
from marginaudit.reports.ntp.sweeps import SWEEPS
from marginaudit.reports.ntp.tables import TABLES
from marginaudit.reports.ntp.training import train
from marginaudit.reports.paper import Paper

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
    tables=TABLES,
    package="marginaudit.reports.ntp",
    space=SentenceSpace(),
    sweeps=SWEEPS,
)
