"""What a report shows of a dataset beside its verdicts: pictures, and what was recorded along its run."""

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

from marginaudit.reports.audit.auditing import Audited, Drawn, Shown
from marginaudit.reports.page.files import csv_text
from marginaudit.reports.plots.measured import rendered

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def drawn(audited: Audited, exports: Collection[str], progress: Callable[[str], None]) -> Shown:
    """The paper's pictures, but those of claims that were not audited, and records of a dataset.

    Raises
    ------
    ValueError
        There is no run to draw.
    """
    run, paper = audited.run, audited.source.paper
    if run is None:
        raise ValueError(f"dataset {audited.name}: got no run, expected one to draw")
    progress(f"{audited.name}: figures")
    pictures = []
    for picture in paper.pictures:
        if picture.claim and picture.claim not in audited.findings:
            continue
        figure = picture.draw(run, audited.findings)
        if figure is not None:
            pictures.append(Drawn(picture.suffix, picture.caption, picture.claim, rendered_as(figure, exports)))
    return Shown(tuple(pictures), {name: csv_text(*rows) for name, rows in paper.records(run).items()})


def rendered_as(figure: "Figure", exports: Collection[str]) -> dict[str, bytes]:
    """The figure as the page shows it and as it is asked for, by file name's ending."""
    return {ending: rendered(figure, ending) for ending in (".svg", *([".pdf"] if "pdf" in exports else []))}
