"""`marginaudit figure`."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import wraps
from inspect import getdoc
from pathlib import Path
from typing import TYPE_CHECKING

import click

from marginaudit.orders import InputError, shown
from marginaudit.reports.audit.built_in import STATEMENTS
from marginaudit.reports.audit.sources import load
from marginaudit.reports.command.arguments import JSON, ONE_PAPER
from marginaudit.reports.command.console import print_described, print_line, print_table, progress_bar
from marginaudit.reports.command.options import FilePath
from marginaudit.reports.command.output import check_output, print_json, write_figure
from marginaudit.reports.page.files import file_stem
from marginaudit.reports.paper import Figure as PaperFigure
from marginaudit.reports.paper import Paper
from marginaudit.reports.plots.measured import FORMATS
from marginaudit.reports.statements import statements_figure
from marginaudit.reports.study.merge import Rows, read_cells
from marginaudit.reports.study.picture import picture
from marginaudit.reports.study.spec import built_in, find_spec
from marginaudit.reports.study.sweep import cells_in_memory

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@click.command()
@click.argument("name", metavar="NAME")
@click.argument("dataset", metavar="[DATASET]", required=False)
@click.option(
    "--out", type=FilePath(), help="File to write: .svg, .pdf or .png.  [default: NAME.svg, or NAME-DATASET.svg]"
)
@click.option("--from", "source", type=FilePath(), help="Folder of a sweep to draw, which is not run then.")
@click.option("--text", type=FilePath(), help="Text in UTF-8 to draw it of.  [default: one that ships]")
@ONE_PAPER
@JSON
def figure(
    name: str,
    dataset: str | None,
    out: Path | None,
    source: Path | None,
    text: Path | None,
    known: tuple[Paper, ...],
    as_json: bool,
) -> int:
    """Draw one of the papers' figures, or `statements`, which follow from which; `list` names them.

    The figure of a sweep comes with the table of its cells, `orders` is that of a DATASET.
    """
    found = _figures(known)
    if name == "list":
        _print_names(found, known, as_json=as_json)
        return 0
    found.check(name, dataset, source, text)
    drawn_of = None if dataset is None else load(dataset, [found.of_dataset[name][0]]).dataset
    path = out or Path(f"{name}.svg" if drawn_of is None else f"{name}-{file_stem(drawn_of.name)}.svg")
    check_output(path, "--out", *FORMATS, reads=[dataset, text])
    cells: Rows = []
    if name in found.of_text:
        with progress_bar(total=1.0) as bar:
            bar.say(name)
            drawing = found.of_text[name].draws(text, bar.reach)
    elif name in found.of_dataset:
        drawing = found.of_dataset[name][1].draws(drawn_of)
    elif name in found.of_papers:
        drawing = found.of_papers[name]()
    else:
        drawing, cells = _of_sweep(name, source, known)
    write_figure(path, drawing, "--out")
    if as_json:
        print_json({"figure": name, "file": str(path)} | ({"cells": cells} if cells else {}))
    else:
        if cells:
            print_table(name, list(cells[0]), [list(cell.values()) for cell in cells])
        print_line(f"figure: {path}")
    return 0


@dataclass(frozen=True)
class Figures:
    """Figures by name and by subject."""

    of_papers: Mapping[str, Callable[[], "Figure"]]
    of_text: Mapping[str, PaperFigure]
    of_dataset: Mapping[str, tuple[Paper, PaperFigure]]
    of_sweep: Mapping[str, Paper]

    @property
    def names(self) -> list[str]:
        """All of them."""
        return [*self.of_papers, *self.of_dataset, *self.of_sweep]

    def check(self, name: str, dataset: str | None, source: Path | None, text: Path | None) -> None:
        """Refuse an unknown name, and options that the figure does not take.

        Raises
        ------
        InputError
        """
        if name not in self.names:
            got, expected = "no figure of that name", f"list, or one of {', '.join(self.names)}"
            raise InputError(f"figure {shown(name)}", got=got, expected=expected)
        if (dataset is None) == (name in self.of_dataset):
            got = f"the figure {name}" + (" and no DATASET" if dataset is None else f" and {shown(dataset)}")
            raise InputError("DATASET", got=got, expected=f"one for {', '.join(self.of_dataset)} alone")
        if source is not None and name not in self.of_sweep:
            raise InputError("--from", got=f"the figure {name}", expected=f"a sweep's: {', '.join(self.of_sweep)}")
        if text is not None and name not in self.of_text:
            raise InputError("--text", got=f"the figure {name}", expected=f"one of a text: {', '.join(self.of_text)}")


def _figures(known: tuple[Paper, ...]) -> Figures:
    of_papers = {title: one.draws for paper in known for title, one in paper.figures_of("paper", "text").items()}
    return Figures(
        of_papers | {STATEMENTS: wraps(statements_figure)(lambda: statements_figure(known))},
        {title: one for paper in known for title, one in paper.figures_of("text").items()},
        {title: (paper, one) for paper in known for title, one in paper.figures_of("dataset").items()},
        built_in(known),
    )


def _print_names(figures: Figures, known: tuple[Paper, ...], *, as_json: bool) -> None:
    if as_json:
        print_json({"figures": figures.names})
        return
    of_data = {title: one.draws for title, (_, one) in figures.of_dataset.items()}
    described = {title: getdoc(draw) or "" for title, draw in {**figures.of_papers, **of_data}.items()}
    described |= {title: layout.title for title in figures.of_sweep if (layout := find_spec(title, known).layout)}
    print_described({title: described.get(title, "") for title in figures.names})


def _of_sweep(name: str, source: Path | None, known: tuple[Paper, ...]) -> "tuple[Figure, Rows]":
    """The figure of a built-in sweep and its cells: those of a folder, or computed here."""
    spec = find_spec(name, known)
    if spec.layout is None:
        raise InputError(f"figure {name}", got="a sweep without a figure", expected="one that says what to draw")
    if source is not None:
        cells = read_cells(spec, source)
    else:
        with progress_bar(total=spec.runs) as bar:
            bar.say(name)
            cells = cells_in_memory(spec, bar.reach)
    return picture(spec, spec.layout, cells), cells
