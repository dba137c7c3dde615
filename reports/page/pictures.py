"""Drawing of a dataset's pictures and CSV records for the report."""

from collections.abc import Collection
from typing import TYPE_CHECKING

from marginaudit.claims.verdict import Evidence, Verdict
from marginaudit.reports.audit.auditing import Audited, Drawn, OnPage, Shown
from marginaudit.reports.page.files import csv_text, file_stem
from marginaudit.reports.plots.measured import curve_title, measured_figure, rendered
from marginaudit.reports.processes import one_thread

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FEW_CLAIMS = 12
"""Claims of an audit up to which each has its plots on the page."""


def drawn(audited: Audited, exports: Collection[str]) -> Shown:
    """Draw a dataset's figures and curves, and write its records as CSV, on one thread.

    A row over steps is plotted if it is violated, from a user's claim, or in an audit of at most `FEW_CLAIMS` claims.
    If a part of the row fails, the plot shows that part. The page shows all plots but those of a violated built-in
    claim in a larger audit: it shows one and links to the files of the others.
    """
    with one_thread():
        records = audited.source.paper.records(audited.run)
        return Shown(tuple(_pictures(audited, exports)), {name: csv_text(*rows) for name, rows in records.items()})


def _pictures(audited: Audited, exports: Collection[str]) -> list[Drawn]:
    run, paper, pictures = audited.run, audited.source.paper, list[Drawn]()
    built_in = {claim.id for claim in paper.claims} if paper.evidence is Evidence.PROVED else set[str]()
    for name, known in paper.figures_of("run").items():
        if known.beside and known.beside not in audited.findings:
            continue
        figure = known.draws(run, audited.findings)
        if figure is not None:
            suffix = f"-{name}" if name else ""
            pictures.append(Drawn(suffix, known.caption, known.beside, rendered_as(figure, exports)))
    shown, plot = {picture.claim for picture in pictures}, None
    for claim, finding in audited.findings.items():
        asked = claim not in built_in or len(audited.findings) <= FEW_CLAIMS
        if finding.curve is None or claim in shown or not (asked or finding.verdict is Verdict.VIOLATED):
            continue
        plot = measured_figure(curve_title(audited.name, claim), finding.curve, finding, cleared=plot)
        on_page: OnPage = "shown" if asked else "once"
        caption = "measured against bound" if finding.curve.predicted is None else "measured and predicted limit"
        pictures.append(Drawn(f"-{file_stem(claim)}", caption, claim, rendered_as(plot, exports), on_page))
    return pictures


def rendered_as(figure: "Figure", exports: Collection[str]) -> dict[str, bytes]:
    """Figure as SVG and in the exported formats, by file ending."""
    return {ending: rendered(figure, ending) for ending in (".svg", *([".pdf"] if "pdf" in exports else []))}
