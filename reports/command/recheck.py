"""`marginaudit recheck`."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import click

from marginaudit.claims.settings import JOBS
from marginaudit.reports.command.arguments import CLAIMS, JSON, OnePaper, ledger, papers
from marginaudit.reports.command.console import print_line, print_summary, progress_bar
from marginaudit.reports.command.options import FilePath, Parsed, cores
from marginaudit.reports.command.output import check_output, print_json, write_json
from marginaudit.reports.recheck.differences import place_of
from marginaudit.reports.recheck.recheck import Recheck
from marginaudit.reports.recheck.recheck import recheck as recheck_report
from marginaudit.reports.recheck.restored import restored
from marginaudit.reports.recheck.ways import second_programs
from marginaudit.reports.study.executor import Executor


@click.command()
@click.argument("report", metavar="REPORT", type=FilePath())
@click.option(
    "--second",
    type=FilePath(),
    metavar="FILE",
    help="Python file with SECOND, second programs by paper; the file is executed.",
)
@CLAIMS
@click.option(
    "--paper",
    type=OnePaper(),
    metavar="FILE",
    expose_value=False,
    help="Python file with a PAPER of your own; the file is executed.",
)
@click.option(
    "--jobs", type=Parsed(JOBS), help="Datasets recomputed at a time, each in its own process.  [default: one per core]"
)
@click.option("--out", type=FilePath(), help="JSON file to write; as REPORT/recheck.json, logbooks of REPORT read it.")
@JSON
def recheck(
    report: Path, second: Path | None, claims_file: Path | None, jobs: int | None, out: Path | None, as_json: bool
) -> int:
    """Recompute every number of the audit REPORT, by another way where there is one.

    REPORT is a folder of `audit` or its report.json. The exit status is 1 if a number, a text or a file differs.
    """
    if out is not None:
        check_output(out, "--out", ".json", reads=[report, report / "report.json", second, claims_file])
    known = papers()
    programs = {} if second is None else second_programs(second)
    read = restored(report, known, ledger(claims_file, known), claims_file)
    with progress_bar(total=len(read.sources)) as bar:
        finished: list[str] = []

        def done(dataset: str, how: str) -> None:
            finished.append(dataset)
            bar.log(f"{dataset}: {how}")
            bar.reach(len(finished))

        def progress(dataset: str, what: str) -> Callable[[int], None]:
            bar.say(f"{dataset}: {what}")
            return lambda _: None

        found = recheck_report(read, Executor(jobs or cores()), programs, progress, done)
    if out is not None:
        write_json(out, found.as_document(), "--out")
    if as_json:
        print_json(found.as_document())
    else:
        _print(found)
    return int(bool(found.differences))


def _print(found: Recheck) -> None:
    document = found.report.document
    made = f"marginaudit {document['marginaudit']}, commit {document['made']['commit'] or 'unknown'}"
    how = "as here, with these libraries and this processor: every digit is compared"
    other = "not as here, or with other libraries or another processor: compared within error bars"
    print_line(f"{found.report.where}: made by {made}, {how if found.exactly else other}")
    for place, line in found.verified.items():
        print_line(f"certificate checked by verify: {place}: {line}")
    ways = list(found.counts)
    rows = []
    for data in document["datasets"]:
        of_data = Counter(found.ways[place_of(row)] for row in document["verdicts"] if row["dataset"] == data["name"])
        if of_data:
            rows.append((data["name"], *(of_data[way] for way in ways)))
    print_summary("Rows by the surest way that agrees", ("dataset", *ways), rows)
    if found.differences:
        header = ("place", "what", "report", "recomputed", "bar", "by")
        print_summary("Differences", header, [list(vars(one).values()) for one in found.differences])
    if found.skipped:
        print_summary("Not recomputed", ("place", "reason"), found.skipped)
    print_line(found.summary)
