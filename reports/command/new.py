"""`marginaudit new-paper` and `marginaudit new-claim`."""

from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path

import click

from marginaudit.reports.command.console import print_line
from marginaudit.reports.command.options import FilePath
from marginaudit.reports.command.output import check_output, refuse_existing, write
from marginaudit.reports.shell import joined


@click.command()
@click.argument("folder", metavar="FOLDER", type=FilePath())
def new_paper(folder: Path) -> int:
    """Write a FOLDER with a template of a paper.

    The template has a kind of dataset, a run, a true claim and its control, a recorded run, a table, a figure, a space
    of hunts and sweeps, each with a test and with a line on when a paper needs it.
    """
    refuse_existing(folder)
    _write(folder, {"paper.py": "paper.py", "test_paper.py": "test_paper.txt"})
    print_line(f"Audit it: {joined(['marginaudit', 'audit', '--paper', str(folder / 'paper.py')])}")
    return 0


@click.command()
@click.argument("file", metavar="FILE", type=FilePath())
def new_claim(file: Path) -> int:
    """Write a FILE with a template of a claim.

    The claim is about named instances, and has a control: a false twin.
    """
    refuse_existing(file)
    check_output(file, "FILE", ".py", reads=[])
    _write(file.parent, {file.name: "claims.txt"})
    print_line(f"Audit it: {joined(['marginaudit', 'audit', '--claims', str(file)])}")
    return 0


def _write(folder: Path, names: Mapping[str, str]) -> None:
    for name, start in names.items():
        text = (files("marginaudit.reports.starts") / start).read_text(encoding="utf-8")
        write(folder / name, text, "FOLDER" if len(names) > 1 else "FILE")
