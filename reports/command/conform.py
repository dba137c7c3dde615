"""`marginaudit conform`."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from marginaudit.claims.values.json_data import finite
from marginaudit.reports.audit.sources import Source, comparing, load
from marginaudit.reports.command.arguments import DATASET, HEAD, JSON, MAP, ONE_PAPER, AsksPapers, papers, save_maps
from marginaudit.reports.command.console import print_line, print_table, progress_bar
from marginaudit.reports.command.options import FilePath, configs, dashed, settings_options
from marginaudit.reports.command.output import print_json
from marginaudit.reports.command.usage import OneOf
from marginaudit.reports.page.reproduce import dataset_argument, paper_given
from marginaudit.reports.shell import joined
from marginaudit.training.weight_files.run_file import RunFile

if TYPE_CHECKING:
    from marginaudit.claims.answers.conformity import Conformity
    from marginaudit.claims.paper import Paper
    from marginaudit.reports.command.console import Bar

AUDITED = ("lr1", "lr2", "lr_y", "lr_z")
"""Settings that audits of a recorded run take too."""


@click.command(cls=AsksPapers, of_papers=partial(settings_options, "conform"))
@DATASET
@click.argument("file", metavar="FILE", type=FilePath())
@MAP
@HEAD
@ONE_PAPER
@click.option("--fail-on", type=OneOf(["departs"]), help="Exit with status 1 if a step departs.")
@JSON
def conform(
    dataset: str,
    file: Path,
    rules: tuple[str, ...],
    head: str | None,
    known: "tuple[Paper, ...]",
    fail_on: str | None,
    as_json: bool,
    **given: Any,
) -> int:
    """Compare a recorded run with the algorithm of the DATASET's paper.

    FILE is an .npz file written by marginaudit.record.Recorder, a .safetensors file, a checkpoint of PyTorch, or a
    folder of checkpoints. Prints the first departing step and its cause, and the command of an audit of FILE.
    """
    source = load(dataset, known)
    compare = comparing(source)
    config = configs("conform", [source.paper], papers(), given)[source.paper.name]
    runs = RunFile(file, rules, head or "").by_head()
    with progress_bar(total=float(len(runs))) as bar:
        found = [compare(run, config, partial(_reach, bar, i)) for i, run in enumerate(runs)]
    save_maps(runs[:1])
    status = int(fail_on is not None and any(one.conforms is False for one in found))
    if as_json:
        print_json(finite(_document(found)))
        return status
    for run, one in zip(runs, found, strict=True):
        print_line(one.answer(_next(source, run, given)))
    for one in found:
        _print_stages(one, one.dataset if len(found) == 1 else one.file)
    return status


def _document(found: "Sequence[Conformity]") -> dict[str, Any]:
    """The answer in JSON; of several heads that of the first that departs, or is undecided, and all in ``heads``."""
    first = min(found, key=lambda one: (False, None, True).index(one.conforms)).as_document()
    if len(found) == 1:
        return first
    decided = sum(one.decided for one in found)
    return first | {"decided": decided, "heads": [one.as_document() for one in found]}


def _reach(bar: "Bar", i: int, share: float) -> None:
    bar.reach(i + share)


def _print_stages(found: "Conformity", title: str) -> None:
    header = ("stage", "step size", "records", "decided", "departs at", "token", "off by", "explained")
    rows = []
    for one in found.stages:
        for at in (one.departs_at, one.later) if one.later is not None else (one.departs_at,):
            where = ("", "", "", "") if at is None else (at.step, at.token, at.error, at.bar)
            rows.append((one.stage, one.lr, one.records, one.decided, *where))
    print_table(f"{title}: {found.algorithm}, record by record", header, rows)
    print_line(found.line)


def _next(source: Source, run: RunFile, given: Mapping[str, Any]) -> str:
    """Command that judges the statements on the recorded run, with the step sizes given."""
    sizes = [(dashed(name), str(value)) for name, value in given.items() if value is not None and name in AUDITED]
    head = ["--head", run.head] if run.head else []
    words = ["--trajectory", str(run), *head, *paper_given(source.paper), *(word for pair in sizes for word in pair)]
    return f"marginaudit audit {dataset_argument(source)} {joined(words)}"
