"""`marginaudit train`."""

from functools import partial, reduce
from operator import getitem
from typing import Any

import click

from marginaudit.claims.paper import Paper
from marginaudit.reports.audit.sources import load
from marginaudit.reports.command.arguments import DATASET, JSON, ONE_PAPER, AsksPapers, papers
from marginaudit.reports.command.console import print_table, progress_bar, upper_bound
from marginaudit.reports.command.options import configs, settings_options
from marginaudit.reports.command.output import notify, print_json
from marginaudit.reports.processes import one_thread


@click.command(cls=AsksPapers, of_papers=partial(settings_options, "train"))
@DATASET
@ONE_PAPER
@JSON
def train(dataset: str, known: tuple[Paper, ...], as_json: bool, **given: Any) -> int:
    """Train on a DATASET with its paper's algorithm.

    Prints one row per recorded step.
    """
    source = load(dataset, known)
    config = configs("train", [source.paper], papers(), given)[source.paper.name]
    steps = source.paper.steps(config)
    with one_thread(), progress_bar(total=steps) as bar:
        bar.say(source.dataset.name)
        trained = source.paper.train(
            source.dataset, config, lambda done: bar.reach(min(done, steps)), notify, source.origin
        )
    if as_json:
        print_json(trained.answer)
        return 0
    for part, (title, columns) in trained.columns.items():
        rows = trained.answer[part]
        paths = [(column,) if isinstance(column, str) else column for column in columns]
        shown = [path for path in paths if rows and path[0] in rows[0]]
        header = [" ".join(path).replace("_", " ") for path in shown]
        table = [[_cell(path, reduce(getitem, path, row)) for path in shown] for row in rows]
        print_table(f"{source.dataset.name}, {title}", header, table)
    return 0


def _cell(path: tuple[str, ...], value: Any) -> Any:
    return upper_bound(value) if path == ("error",) else value
