"""`marginaudit conform`."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import click

from marginaudit.claims.values.json_data import finite
from marginaudit.reports.audit.sources import Source, comparing, load
from marginaudit.reports.command.arguments import DATASET, HEAD, JSON, MAP, PAPER, AsksPapers, papers, save_maps
from marginaudit.reports.command.console import print_line, print_table, progress_bar
from marginaudit.reports.command.options import FilePath, configs, dashed, settings_options
from marginaudit.reports.command.output import print_json
from marginaudit.reports.command.usage import OneOf
from marginaudit.reports.page.reproduce import dataset_argument
from marginaudit.reports.shell import joined
from marginaudit.training.weight_files.run_file import RunFile

AUDITED = ("lr1", "lr2", "lr_y", "lr_z")
"""Settings that audits of a recorded run take too."""


@click.command(cls=AsksPapers, of_papers=partial(settings_options, "conform"))
@DATASET
@click.argument("file", metavar="FILE", type=FilePath())
@MAP
@HEAD
@PAPER
@click.option("--fail-on", type=OneOf(["departs"]), help="Exit with status 1 if a step departs.")
@JSON
def conform(
    dataset: str, file: Path, rules: tuple[str, ...], head: str | None, fail_on: str | None, as_json: bool, **given: Any
) -> int:
    """Compare a recorded run with the algorithm of the DATASET's paper.

    FILE is an .npz file written by marginaudit.record.Recorder, a .safetensors file, a checkpoint of PyTorch, or a
    folder of checkpoints. Prints the first departing step and its cause, and the command of an audit of FILE.
    """
    known = papers()
    source = load(dataset, known)
    compare = comparing(source)
    config = configs("conform", [source.paper], known, given)[source.paper.name]
    run = RunFile(file, rules, head or "")
    with progress_bar(total=1.0) as bar:
        found = compare(run, config, bar.reach)
    save_maps([run])
    status = int(fail_on is not None and not found.conforms)
    if as_json:
        print_json(finite(found.as_document()))
        return status
    header = ("stage", "step size", "records", "decided", "departs at", "token", "off by", "explained")
    rows = []
    for one in found.stages:
        for at in (one.departs_at, one.later) if one.later is not None else (one.departs_at,):
            where = ("", "", "", "") if at is None else (at.step, at.token, at.error, at.bar)
            rows.append((one.stage, one.lr, one.records, one.decided, *where))
    print_line(found.answer(_next(source, run, given)))
    print_table(f"{found.dataset}: {found.algorithm}, record by record", header, rows)
    print_line(found.line)
    return status


def _next(source: Source, run: RunFile, given: Mapping[str, Any]) -> str:
    """Command that judges the statements on the recorded run, with the step sizes given."""
    sizes = [(dashed(name), str(value)) for name, value in given.items() if value is not None and name in AUDITED]
    head = ["--head", run.head] if run.head else []
    words = ["--trajectory", str(run), *head, *(word for pair in sizes for word in pair)]
    return f"marginaudit audit {dataset_argument(source)} {joined(words)}"
