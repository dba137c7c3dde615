"""`marginaudit conform`."""

from pathlib import Path

import click

from marginaudit.reports.command.arguments import DATASET, JSON
from marginaudit.reports.command.console import print_line, print_table, progress_bar
from marginaudit.reports.command.options import FilePath, Parsed
from marginaudit.reports.command.output import print_json
from marginaudit.reports.command.usage import OneOf
from marginaudit.reports.json_data import finite
from marginaudit.reports.ntp.conformity import conformity
from marginaudit.reports.settings import FROZEN_AT, STEP_SIZE

OF_FILE = "[default: the file's, or the paper's]"


@click.command()
@DATASET
@click.argument("file", metavar="FILE", type=FilePath())
@click.option("--lr1", type=Parsed(STEP_SIZE), help=f"Step size of stage 1.  {OF_FILE}")
@click.option("--lr2", type=Parsed(STEP_SIZE), help=f"Step size of stage 2.  {OF_FILE}")
@click.option(
    "--steps1",
    type=Parsed(FROZEN_AT),
    help="The step of stage 1 from which W_ov was frozen.  [default: the file's last, or 900]",
)
@click.option("--fail-on", type=OneOf(["departs"]), help="Exit with status 1 if a step departs.")
@JSON
def conform(
    dataset: str,
    file: Path,
    lr1: float | None,
    lr2: float | None,
    steps1: int | None,
    fail_on: str | None,
    as_json: bool,
) -> int:
    """Compare a run that you recorded with Algorithm 1.

    FILE is an .npz file, as marginaudit.record.Recorder writes it. The first step that departs is named, with its
    cause.
    """
    with progress_bar(total=1.0) as bar:
        found = conformity(dataset, file, lr1=lr1, lr2=lr2, steps1=steps1, progress=bar.reach)
    status = int(fail_on is not None and not found.conforms)
    if as_json:
        print_json(finite(found.as_document()))
        return status
    header = ("stage", "step size", "records", "decided", "departs at", "token", "off by", "rounding")
    rows = []
    for one in found.stages:
        at = one.departs_at
        where = ("", "", "", "") if at is None else (at.step, at.token, at.error, at.bar)
        rows.append((one.stage, one.lr, one.records, one.decided, *where))
    print_table(f"{found.dataset}: Algorithm 1, record by record", header, rows)
    print_line(found.line)
    return status
