"""Reproductions of the figures of arXiv 2305.16380, each with its settings."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from marginaudit.claims.paper import Figure
from marginaudit.claims.snap.run import ClassRun
from marginaudit.claims.snap.section8.fig6 import NUM_LAST
from marginaudit.claims.verdict import Finding, Verdict
from marginaudit.reports.snap.figures.grid import of_a_run, snap_11, snap_12
from marginaudit.reports.snap.figures.limit import snap_3, snap_8, snap_9
from marginaudit.reports.snap.figures.syn_small import snap_4, snap_5
from marginaudit.reports.snap.figures.text import snap_7, snap_10

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

SPARSITY = "snap.fig6.direction"

NOT_DRAWN = (Verdict.NOT_APPLICABLE, Verdict.BROKEN)


def of_section_8(run: ClassRun, findings: Mapping[str, Finding]) -> "Drawing | None":
    """Wrap a figure of section 8: None for datasets outside figure 6."""
    finding = findings.get(SPARSITY)
    if finding is None or finding.verdict in NOT_DRAWN or len(run.dataset.queries) > max(NUM_LAST):
        return None
    return of_a_run(run)


FIGURES = (
    Figure("snap-3", snap_3, beside="snap.theorem4.rates"),
    Figure("snap-4", snap_4, beside="snap.theorem3.growth"),
    Figure("snap-5", snap_5, beside="snap.theorem3.gain.sgd"),
    Figure("snap-7", snap_7, of="text", beside="snap.theorem4.snap"),
    Figure("snap-8", snap_8, beside="snap.lemma7.gap"),
    Figure("snap-9", snap_9, beside="snap.theorem4.rates"),
    Figure("snap-10", snap_10, of="text"),
    Figure("snap-11", snap_11),
    Figure("snap-12", snap_12),
    Figure("section-8", of_section_8, of="run", beside=SPARSITY, caption="figures 6, 11 and 12 on this dataset"),
)
"""Figures of the paper; audits leave out figure 10, because its 25 runs take too long."""
