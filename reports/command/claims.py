"""`marginaudit claims`."""

from pathlib import Path

import click

from marginaudit.reports.command.arguments import CLAIMS, JSON, ledger, one_claim
from marginaudit.reports.command.console import print_table
from marginaudit.reports.command.output import print_json


@click.command()
@click.argument("claim", metavar="[CLAIM]", required=False)
@CLAIMS
@JSON
def claims(claim: str | None, claims_file: Path | None, as_json: bool) -> int:
    """List the claims of the ledger, or show one.

    Each with its id, statement, source and assumptions.
    """
    known = ledger(claims_file)
    entries = [
        {
            "id": entry.id,
            "source": entry.source,
            "kind": entry.judgement.kind,
            "statement": entry.statement,
            "formula": entry.formula,
            "assumptions": list(entry.assumptions),
            "proof_uses": [condition.text for condition in entry.proof_uses],
        }
        for entry in ([one_claim(claim, known)] if claim is not None else known.values())
    ]
    if as_json:
        print_json(entries[0] if claim is not None else entries)
    elif claim is not None:
        print_table(
            claim, ("", ""), [(key, ", ".join(v) if isinstance(v, list) else v) for key, v in entries[0].items()]
        )
    else:
        rows = [(e["id"], e["statement"], e["source"], ", ".join(e["assumptions"])) for e in entries]
        print_table("Claims", ("id", "statement", "source", "assumptions"), rows)
    return 0
