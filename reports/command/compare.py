"""`marginaudit compare`."""

from pathlib import Path

import click

from marginaudit.reports.command.arguments import JSON
from marginaudit.reports.command.console import print_line, print_table
from marginaudit.reports.command.options import FilePath
from marginaudit.reports.command.output import check_output, print_json, write
from marginaudit.reports.command.usage import OneOf
from marginaudit.reports.compare.changes import compare as compare_sides
from marginaudit.reports.compare.changes import page
from marginaudit.reports.compare.reading import read_sides

NOTHING = "nothing-compared"


@click.command()
@click.argument("old", metavar="OLD", type=FilePath())
@click.argument("new", metavar="NEW", type=FilePath())
@click.option("--out", type=FilePath(), help="HTML file to write.")
@click.option(
    "--fail-on",
    type=OneOf(["worse", "gone", NOTHING]),
    multiple=True,
    help="Exit with status 1 if a row is worse, a row is gone, or no row is common. May be given again.",
)
@JSON
def compare(old: Path, new: Path, out: Path | None, fail_on: tuple[str, ...], as_json: bool) -> int:
    """List the differences between the audits OLD and NEW.

    OLD and NEW are each a folder of `audit` or its report.json, a folder of `sweep` with audits or its runs.csv, or a
    .bounds.json file of the pytest fixture bound_constants.

    Numbers differ if they differ by more than their error bars. A missing row is "gone", not worse; an added row is
    worse if violated or broken. Audits without a common row are an error.
    """
    if out is not None:
        pages = [page for side in (old, new) for page in side.glob("*.html")]
        check_output(out, "--out", ".html", reads=[old, new, *pages])
    found = compare_sides(*read_sides(old, new))
    if NOTHING not in fail_on:
        found.require_rows()
    if out is not None:
        write(out, page(found), "--out")
    status = int(not found.compared or any(found.counts.get(direction) for direction in fail_on))
    if as_json:
        print_json(found.as_document())
        return status
    if found.settings:
        print_table("Made with", ("", "old", "new"), found.made_with)
    if found.changes:
        rows = [(change.direction, change.dataset, change.claim, change.text) for change in found.changes]
        print_table("Changes", ("", "dataset", "claim", "what"), rows)
    print_line(", ".join(f"{count} {direction}" for direction, count in found.counts.items()))
    return status
