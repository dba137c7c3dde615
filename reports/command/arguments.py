"""Arguments and options that several commands have."""

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import click

from marginaudit.orders import InputError, shown
from marginaudit.reports.command.options import FilePath
from marginaudit.reports.command.streams import tell

if TYPE_CHECKING:
    from marginaudit.reports.claim import Claim, Ledger
    from marginaudit.reports.paper import Paper

DATASET = click.argument("dataset", metavar="DATASET")
DATASETS = click.argument("datasets", metavar="[DATASET ...]", nargs=-1)
JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of tables.")
CLAIMS = click.option(
    "--claims",
    "claims_file",
    type=FilePath(),
    metavar="FILE",
    help="A Python file of claims of your own; it is run.",
)


@cache
def papers() -> "tuple[Paper, ...]":
    """The papers built in and installed; of one that cannot be had standard error is told once."""
    from marginaudit.reports.audit.ledger import all_papers

    return all_papers(tell)


def ledger(claims_file: Path | None, of: "tuple[Paper, ...] | None" = None) -> "Ledger":
    """The claims of papers, of installed packages and of a file."""
    from marginaudit.reports.audit.user_claims import all_claims

    return all_claims(papers() if of is None else of, claims_file, tell)


def one_claim(name: str, known: "Ledger") -> "Claim":
    """The claim of an id.

    Raises
    ------
    InputError
        There is none.
    """
    if name not in known:
        raise InputError(
            f"claim {shown(name)}", got="no claim of that id", expected="an id that `marginaudit claims` lists"
        )
    return known[name]
