"""`marginaudit train`."""

from typing import Any

import click

from marginaudit.reports.audit.sources import load
from marginaudit.reports.command.arguments import DATASET, JSON, papers
from marginaudit.reports.command.console import print_table, progress_bar
from marginaudit.reports.command.options import configs, settings_options
from marginaudit.reports.command.output import print_json
from marginaudit.reports.command.streams import tell

PAPERS = papers()


@click.command()
@DATASET
@settings_options("train", PAPERS)
@JSON
def train(dataset: str, as_json: bool, **given: Any) -> int:
    """Run the training of which the DATASET's paper speaks.

    It answers with a row per recorded step.
    """
    source = load(dataset, PAPERS)
    config = configs("train", [source.paper], PAPERS, given)[source.paper.name]
    steps = source.paper.steps(config)
    with progress_bar(total=steps) as bar:
        bar.say(source.dataset.name)
        trained = source.paper.train(
            source.dataset, config, lambda done: bar.reach(min(done, steps)), tell, source.origin
        )
    if as_json:
        print_json(trained.answer)
        return 0
    for part, (title, columns) in trained.columns.items():
        rows = trained.answer[part]
        shown = [column for column in columns if rows and column in rows[0]]
        header = [column.replace("_", " ") for column in shown]
        print_table(f"{source.dataset.name}, {title}", header, [[row[column] for column in shown] for row in rows])
    return 0
