"""`marginaudit classify`."""

import click

from marginaudit.claims.paper import Paper
from marginaudit.claims.values.json_data import finite, witness_text
from marginaudit.orders import Assumption
from marginaudit.reports.audit.sources import load
from marginaudit.reports.command.arguments import DATASET, JSON, ONE_PAPER
from marginaudit.reports.command.console import print_summary
from marginaudit.reports.command.output import print_json


@click.command()
@DATASET
@ONE_PAPER
@JSON
def classify(dataset: str, known: tuple[Paper, ...], as_json: bool) -> int:
    """Classify a DATASET and check its paper's assumptions."""
    source = load(dataset, known)
    answer = finite(source.paper.kind.classified(source.dataset))
    if as_json:
        print_json(answer)
        return 0
    for title, header, rows in source.paper.classified(source.dataset, answer):
        print_summary(title, header, rows)
    checked = {name: Assumption(name, **fields) for name, fields in answer["assumptions"].items()}
    rows = [[name, one.in_words, "" if one.holds else witness_text(one.witness)] for name, one in checked.items()]
    print_summary("Assumptions", ("assumption", "", "witness"), rows)
    return 0
