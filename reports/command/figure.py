"""`marginaudit figure`."""

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
from marginaudit.reports.paper import Paper
from marginaudit.reports.plots.measured import FORMATS
from marginaudit.reports.statements.picture import statements_figure
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
    figures = {title: one.draws for paper in known for title, one in paper.figures_of("paper", "text").items()}
    figures[STATEMENTS] = wraps(statements_figure)(lambda: statements_figure(known))
    on_text = {title: one for paper in known for title, one in paper.figures_of("text").items()}
    of_dataset = {title: (paper, one) for paper in known for title, one in paper.figures_of("dataset").items()}
    swept = built_in(known)
    names = [*figures, *of_dataset, *swept]
    if name == "list":
        if as_json:
            print_json({"figures": names})
        else:
            described = {title: getdoc(draw) or "" for title, draw in figures.items()}
            described |= {title: getdoc(one.draws) or "" for title, (_, one) in of_dataset.items()}
            described |= {title: layout.title for title in swept if (layout := find_spec(title, known).layout)}
            print_described({title: described.get(title, "") for title in names})
        return 0
    if name not in names:
        raise InputError(
            f"figure {shown(name)}", got="no figure of that name", expected=f"list, or one of {', '.join(names)}"
        )
    if (dataset is None) == (name in of_dataset):
        got = f"the figure {name}" + (" and no DATASET" if dataset is None else f" and {shown(dataset)}")
        raise InputError("DATASET", got=got, expected=f"one for {', '.join(of_dataset)} alone")
    if source is not None and name not in swept:
        raise InputError("--from", got=f"the figure {name}", expected=f"a sweep's: {', '.join(swept)}")
    if text is not None and name not in on_text:
        raise InputError("--text", got=f"the figure {name}", expected=f"one of a text: {', '.join(on_text)}")
    drawn_of = None if dataset is None else load(dataset, [of_dataset[name][0]]).dataset
    path = out or Path(f"{name}.svg" if drawn_of is None else f"{name}-{file_stem(drawn_of.name)}.svg")
    check_output(path, "--out", *FORMATS, reads=[dataset, text])
    cells: Rows = []
    if name in on_text:
        with progress_bar(total=1.0) as bar:
            bar.say(name)
            found = on_text[name].draws(text, bar.reach)
    elif name in of_dataset:
        found = of_dataset[name][1].draws(drawn_of)
    elif name in figures:
        found = figures[name]()
    else:
        found, cells = _of_sweep(name, source, known)
    write_figure(path, found, "--out")
    if as_json:
        print_json({"figure": name, "file": str(path)} | ({"cells": cells} if cells else {}))
    else:
        if cells:
            print_table(name, list(cells[0]), [list(cell.values()) for cell in cells])
        print_line(f"figure: {path}")
    return 0


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
