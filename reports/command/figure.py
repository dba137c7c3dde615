"""`marginaudit figure`."""

from collections.abc import Callable
from functools import wraps
from inspect import getdoc
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import click

from marginaudit.claims.paper import Paper
from marginaudit.orders import InputError, shown
from marginaudit.reports.audit.reserved import STATEMENTS
from marginaudit.reports.audit.sources import Source, load
from marginaudit.reports.command.arguments import JSON, ONE_PAPER
from marginaudit.reports.command.console import print_line, print_names, print_table, progress_bar
from marginaudit.reports.command.options import FilePath
from marginaudit.reports.command.output import check_output, print_json, write_figure
from marginaudit.reports.page.files import file_stem
from marginaudit.reports.plots.measured import FORMATS
from marginaudit.reports.statements import statements_figure
from marginaudit.reports.study.merge import Rows, read_cells
from marginaudit.reports.study.picture import picture
from marginaudit.reports.study.spec import built_in, find_spec
from marginaudit.reports.study.sweep import cells_in_memory

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Figures: TypeAlias = dict[str, tuple[str, Paper | None, Callable[..., Any]]]
"""Subject, paper and drawing function by figure name."""

OF_DATASET = ("dataset", "run")
"""Subjects of figures that take a DATASET."""


@click.command()
@click.argument("name", metavar="NAME")
@click.argument("dataset", metavar="[DATASET]", required=False)
@click.option(
    "--out", type=FilePath(), help="File to write: .svg, .pdf or .png.  [default: NAME.svg, or NAME-DATASET.svg]"
)
@click.option("--from", "source", type=FilePath(), help="Finished sweep to draw: its folder.  [default: run the sweep]")
@click.option("--text", type=FilePath(), help="UTF-8 text as input of the figure.  [default: the built-in text]")
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
    """Draw a figure of the papers, or `statements`: the graph of implications.

    NAME `list` prints the names. `orders` and the figures of a run take a DATASET. Figures of sweeps also print the
    table of cells.
    """
    found = _figures(known)
    if name == "list":
        print_names("figures", _described(found, known), as_json=as_json)
        return 0
    _check(found, name, dataset, source, text)
    of, paper, draws = found[name]
    drawn_of = None if dataset is None or paper is None else load(dataset, [paper])
    path = out or Path(f"{name}.svg" if drawn_of is None else f"{name}-{file_stem(drawn_of.dataset.name)}.svg")
    check_output(path, "--out", *FORMATS, reads=[dataset, text])
    cells: Rows = []
    if of == "text":
        with progress_bar(total=1.0) as bar:
            bar.say(name)
            drawing = draws(text, bar.reach)
    elif of == "sweep":
        drawing, cells = draws(name, source, known)
    elif drawn_of is None:
        drawing = draws()
    else:
        drawing = _of_run(name, draws, drawn_of) if of == "run" else draws(drawn_of.dataset)
    write_figure(path, drawing, "--out")
    if as_json:
        print_json({"figure": name, "file": str(path)} | ({"cells": cells} if cells else {}))
    else:
        if cells:
            print_table(name, list(cells[0]), [list(cell.values()) for cell in cells])
        print_line(f"figure: {path}")
    return 0


def _figures(known: tuple[Paper, ...]) -> Figures:
    """All figures, in the order papers and texts, `statements`, datasets and runs, sweeps."""
    own = [(name, paper, one) for paper in known for name, one in paper.figures_by_command.items()]
    return (
        {name: (one.of, paper, one.draws) for name, paper, one in own if one.of not in OF_DATASET}
        | {STATEMENTS: ("paper", None, wraps(statements_figure)(lambda: statements_figure(known)))}
        | {name: (one.of, paper, one.draws) for name, paper, one in own if one.of in OF_DATASET}
        | {name: ("sweep", paper, _of_sweep) for name, paper in built_in(known).items()}
    )


def _check(found: Figures, name: str, dataset: str | None, source: Path | None, text: Path | None) -> None:
    """Check the name, and that the figure takes the given options.

    Raises
    ------
    InputError
    """
    if name not in found:
        got, expected = "no figure of that name", f"list, or one of {', '.join(found)}"
        raise InputError(f"figure {shown(name)}", got=got, expected=expected)
    of, got = found[name][0], f"the figure {name}"

    def names(*kinds: str) -> str:
        return ", ".join(known for known, one in found.items() if one[0] in kinds)

    if (dataset is None) == (of in OF_DATASET):
        beside = " and no DATASET" if dataset is None else f" and {shown(dataset)}"
        raise InputError("DATASET", got=f"{got}{beside}", expected=f"one for {names(*OF_DATASET)} alone")
    if source is not None and of != "sweep":
        raise InputError("--from", got=got, expected=f"a sweep's: {names('sweep')}")
    if text is not None and of != "text":
        raise InputError("--text", got=got, expected=f"one of a text: {names('text')}")


def _described(figures: Figures, known: tuple[Paper, ...]) -> dict[str, str]:
    """Captions by figure name, sweeps last."""
    captions = {name: one.caption for paper in known for name, one in paper.figures_by_command.items()}
    described = {
        name: captions.get(name) or getdoc(draw) or "" for name, (of, _, draw) in figures.items() if of != "sweep"
    }
    layouts = {name: find_spec(name, known).layout for name in figures if name not in described}
    return described | {name: "" if layout is None else layout.title for name, layout in layouts.items()}


def _of_run(name: str, draws: Callable[..., Any], source: Source) -> "Figure":
    """Figure of a dataset's run with the default settings, and of the findings on it.

    Raises
    ------
    InputError
        The paper draws no such figure of this dataset.
    """
    from marginaudit.reports.audit.auditing import audited  # slow import

    paper, config = source.paper, source.paper.config()
    with progress_bar(total=paper.steps(config)) as bar:

        def progress(_: str, task: str) -> Callable[[int], None]:
            bar.say(task)
            return bar.reach

        found = audited(source, paper.claims, config, progress)
        drawing: Figure | None = draws(found.run, found.findings)
    if drawing is None:
        got = f"the figure {name} and {source.origin}, of which it is not drawn"
        raise InputError("DATASET", got=got, expected="another one")
    return drawing


def _of_sweep(name: str, source: Path | None, known: tuple[Paper, ...]) -> "tuple[Figure, Rows]":
    """Figure and cells of a built-in sweep, read from a folder or computed."""
    spec = find_spec(name, known)
    if spec.layout is None:
        raise InputError(f"figure {name}", got="a sweep without a figure", expected="one with a figure")
    if source is not None:
        cells = read_cells(spec, source)
    else:
        with progress_bar(total=spec.runs) as bar:
            bar.say(name)
            cells = cells_in_memory(spec, bar.reach)
    return picture(spec, spec.layout, cells), cells
