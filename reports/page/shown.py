"""Pictures and CSV records of a dataset for the report."""

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

from marginaudit.reports.audit.auditing import Audited, Drawn, OnPage, Shown
from marginaudit.reports.page.files import csv_text, file_stem
from marginaudit.reports.plots.measured import curve_title, measured_figure, rendered
from marginaudit.reports.verdict import Verdict

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def drawn(audited: Audited, exports: Collection[str], progress: Callable[[str], None]) -> Shown:
    """Draw a dataset's figures and curves, and write its records as CSV.

    Every row along steps has a plot, and where a part of it fails that part. The page shows all of a user's claim, one
    of a built-in claim that is violated, and links to the files of the others: they would make it a third larger.

    Raises
    ------
    ValueError
        There is no run to draw.
    """
    from marginaudit.reports.audit.ledger import LEDGER  # whose claims are imported with it

    run, paper = audited.run, audited.source.paper
    if run is None:
        raise ValueError(f"dataset {audited.name}: got no run, expected one to draw")
    progress(f"{audited.name}: figures")
    pictures = []
    for name, known in paper.figures_of("run").items():
        if known.beside and known.beside not in audited.findings:
            continue
        figure = known.draws(run, audited.findings)
        if figure is not None:
            suffix = f"-{name}" if name else ""
            pictures.append(Drawn(suffix, known.caption, known.beside, rendered_as(figure, exports)))
    shown, plot = {picture.claim for picture in pictures}, None
    for claim, finding in audited.findings.items():
        if finding.curve is None or claim in shown:
            continue
        plot = measured_figure(curve_title(audited.name, claim), finding.curve, finding, cleared=plot)
        violated = finding.verdict is Verdict.VIOLATED
        on_page: OnPage = "shown" if claim not in LEDGER else "once" if violated else "linked"
        caption = "measured against bound" if finding.curve.predicted is None else "measured and predicted limit"
        pictures.append(Drawn(f"-{file_stem(claim)}", caption, claim, rendered_as(plot, exports), on_page))
    return Shown(tuple(pictures), {name: csv_text(*rows) for name, rows in paper.records(run).items()})


def rendered_as(figure: "Figure", exports: Collection[str]) -> dict[str, bytes]:
    """The figure as SVG and in the exported formats, by file ending."""
    return {ending: rendered(figure, ending) for ending in (".svg", *([".pdf"] if "pdf" in exports else []))}
