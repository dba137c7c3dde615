"""`marginaudit table`."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from marginaudit.orders import InputError, shown
from marginaudit.reports.audit.auditing import distinct_names
from marginaudit.reports.audit.sources import cases_of, load, once_each, with_trajectories
from marginaudit.reports.command.arguments import (
    DATASETS,
    HEAD,
    JSON,
    MAP,
    ONE_PAPER,
    TRAJECTORIES,
    AsksPapers,
    mapped,
    papers,
    save_maps,
)
from marginaudit.reports.command.console import print_captioned, print_names, progress_bar
from marginaudit.reports.command.options import configs, settings_options
from marginaudit.reports.command.output import notify, print_json, print_text
from marginaudit.reports.command.usage import OneOf
from marginaudit.reports.page.exports import csv_table, markdown
from marginaudit.reports.page.latex import latex
from marginaudit.reports.processes import one_thread

if TYPE_CHECKING:
    from marginaudit.claims.paper import Paper
    from marginaudit.claims.table import Table
    from marginaudit.training.weight_files.run_file import RunFile


def _of_papers(known: "tuple[Paper, ...]") -> list[click.Option]:
    return settings_options("table", [paper for paper in known if paper.tables])


@click.command(cls=AsksPapers, of_papers=_of_papers)
@click.argument("name", metavar="NAME")
@DATASETS
@click.option(
    "--format",
    "form",
    type=OneOf(["csv", "latex", "markdown"]),
    help="Print the table in this file format; LaTeX needs the packages booktabs and longtable.",
)
@TRAJECTORIES
@MAP
@HEAD
@ONE_PAPER
@JSON
def table(
    name: str,
    datasets: tuple[str, ...],
    form: str | None,
    trajectories: tuple[tuple[str, Path], ...],
    rules: tuple[str, ...],
    head: str | None,
    known: "tuple[Paper, ...]",
    as_json: bool,
    **given: Any,
) -> int:
    """Print the table NAME of every DATASET.

    Without a DATASET all built-in cases; `list` names the tables.
    """
    if as_json and form is not None:
        raise InputError(f"--format {form}", got="--json beside it", expected="one of the two")
    tables = {table.name: (paper, table) for paper in known for table in paper.tables}
    if name == "list":
        print_names("tables", {name: f"{table.heading}." for name, (_, table) in tables.items()}, as_json=as_json)
        return 0
    if name not in tables:
        raise InputError("NAME", got=shown(name), expected=f"one of {', '.join(['list', *tables])}")
    paper, chosen = tables[name]
    runs = mapped(trajectories, rules, head)
    answers = _answers(paper, chosen, datasets, runs, given)
    save_maps(run for _, run in runs)
    if as_json:
        print_json({"datasets": [{"name": dataset, name: answer} for dataset, answer in answers]})
        return 0
    if form == "csv":
        print_text(csv_table(chosen.columns, chosen.rows(answers)))
        return 0
    found = [one for dataset, answer in answers for one in chosen.captioned(dataset, answer)]
    found += chosen.beside(answers) if trajectories else []
    if form is not None:
        print_text((latex if form == "latex" else markdown)(found))
    else:
        for one in found:
            print_captioned(one)
    return 0


def _answers(
    paper: "Paper",
    table: "Table",
    datasets: Sequence[str],
    trajectories: Sequence[tuple[str, "RunFile"]],
    given: Mapping[str, Any],
) -> list[tuple[str, Any]]:
    """Name and table data of each dataset and each recorded run."""
    loaded = [load(dataset, [paper]) for dataset in once_each(datasets)] if datasets else cases_of([paper], notify)
    given_configs = configs("table", [paper], papers(), given)
    sources = distinct_names(with_trajectories(distinct_names(loaded, notify), trajectories, given_configs), notify)
    config = given_configs[paper.name]
    steps = paper.steps(config)
    found = []
    with one_thread(), progress_bar(total=len(sources) * steps) as bar:

        def reach(number: int, done: int) -> None:
            bar.reach(number * steps + min(done, steps))

        for number, source in enumerate(sources):
            bar.say(source.dataset.name)
            run = source.run(config, partial(reach, number))
            found.append((source.dataset.name, table.of(run)))
    return found
