"""`marginaudit figure`."""

from pathlib import Path

import click

from marginaudit.orders import InputError, shown, shown_path
from marginaudit.reports.command.arguments import JSON, papers
from marginaudit.reports.command.console import print_line
from marginaudit.reports.command.options import FilePath
from marginaudit.reports.command.output import check_writable, print_json, writing
from marginaudit.reports.page.files import write_whole
from marginaudit.reports.plots.measured import FORMATS, rendered


@click.command()
@click.argument("name", metavar="NAME")
@click.option("--out", type=FilePath(), help="File to write: .svg, .pdf or .png.  [default: NAME.svg]")
@JSON
def figure(name: str, out: Path | None, as_json: bool) -> int:
    """Draw one of the papers' figures; `list` names them."""
    figures = {figure: draw for paper in papers() for figure, draw in paper.figures.items()}
    if name == "list":
        if as_json:
            print_json({"figures": list(figures)})
        else:
            for known in figures:
                print_line(known)
        return 0
    if name not in figures:
        raise InputError(
            f"figure {shown(name)}", got="no figure of that name", expected=f"list, or one of {', '.join(figures)}"
        )
    path = out or Path(f"{name}.svg")
    if path.suffix.lower() not in FORMATS:
        got, expected = f"the ending {shown(path.suffix)}", f"one of {', '.join(FORMATS)}"
        raise InputError(f"--out {shown_path(path)}", got=got, expected=expected)
    check_writable(path, "--out")
    drawn = rendered(figures[name](), path.suffix.lower())
    with writing(path, "--out"):
        write_whole(path, drawn)
    if as_json:
        print_json({"figure": name, "file": str(path)})
    else:
        print_line(f"figure: {path}")
    return 0
