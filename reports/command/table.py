"""`marginaudit table`."""

from functools import partial
from pathlib import Path
from typing import Any

import click

from marginaudit.orders import InputError
from marginaudit.reports.audit.auditing import distinct_names
from marginaudit.reports.audit.sources import cases_of, load, once_each, with_trajectories
from marginaudit.reports.command.arguments import DATASETS, JSON, PAPER, TRAJECTORIES, papers
from marginaudit.reports.command.console import print_described, print_grid, progress_bar
from marginaudit.reports.command.options import configs, settings_options
from marginaudit.reports.command.output import print_json, print_text
from marginaudit.reports.command.streams import tell
from marginaudit.reports.command.usage import OneOf
from marginaudit.reports.page.formats import csv_table, markdown
from marginaudit.reports.page.latex import latex
from marginaudit.reports.processes import one_thread

PAPERS = [paper for paper in papers() if paper.tables]
TABLES = {table.name: (paper, table) for paper in PAPERS for table in paper.tables}


@click.command(
    help="Print the table NAME of every DATASET.\n\n"
    + "\n\n".join(f"{table.name}: {table.heading}." for _, table in TABLES.values())
    + "\n\nWithout a DATASET all built-in cases; `list` names the tables."
)
@click.argument("name", metavar="NAME", type=OneOf(["list", *TABLES]))
@DATASETS
@click.option(
    "--format",
    "form",
    type=OneOf(["csv", "latex", "markdown"]),
    help="Write the table as a file of this kind has it; LaTeX needs its packages booktabs and graphicx.",
)
@TRAJECTORIES
@PAPER
@settings_options("table", PAPERS)
@JSON
def table(
    name: str,
    datasets: tuple[str, ...],
    form: str | None,
    trajectories: tuple[tuple[str, Path], ...],
    as_json: bool,
    **given: Any,
) -> int:
    """Print a table of datasets."""
    if as_json and form is not None:
        raise InputError(f"--format {form}", got="--json beside it", expected="one of the two")
    if name == "list":
        if as_json:
            print_json({"tables": list(TABLES)})
        else:
            print_described({known: f"{table.heading}." for known, (_, table) in TABLES.items()})
        return 0
    paper, chosen = TABLES[name]
    loaded = [load(dataset, [paper]) for dataset in once_each(datasets)] if datasets else cases_of([paper], tell)
    given_configs = configs("table", [paper], PAPERS, given)
    sources = distinct_names(with_trajectories(distinct_names(loaded, tell), trajectories, given_configs), tell)
    config = given_configs[paper.name]
    steps = paper.steps(config)
    found = []
    with one_thread(), progress_bar(total=len(sources) * steps) as bar:

        def reach(number: int, done: int) -> None:
            bar.reach(number * steps + min(done, steps))

        for number, source in enumerate(sources):
            bar.say(source.dataset.name)
            run = source.run(config, partial(reach, number))
            found.append((source.dataset.name, chosen.of(run)))
    if as_json:
        print_json({"datasets": [{"name": dataset, name: answer} for dataset, answer in found]})
        return 0
    if form == "csv":
        print_text(csv_table(chosen.columns, chosen.rows(found)))
        return 0
    grids = [grid for dataset, answer in found for grid in chosen.grids(dataset, answer)]
    grids += chosen.beside(found) if trajectories else []
    if form is not None:
        print_text((latex if form == "latex" else markdown)(grids))
    else:
        for grid in grids:
            print_grid(grid)
    return 0
