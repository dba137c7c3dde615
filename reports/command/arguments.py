"""Arguments and options that several commands have."""

from collections.abc import Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase
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

CHOSEN = click.option(
    "--claim",
    "patterns",
    multiple=True,
    metavar="ID",
    help="Only the claim of this id, or those whose ids match, such as 'ntp.theorem2.*'. May be given again.",
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
        raise InputError(f"claim {shown(name)}", got="no claim of that id", expected=_known_ids(name, known))
    return known[name]


def matching(patterns: Sequence[str], known: "Ledger") -> "list[Claim]":
    """The claims whose ids match one of the patterns, in the ledger's order; all where there is no pattern.

    Raises
    ------
    InputError
        A pattern matches none.
    """
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in known):
            got = "no claim whose id matches" if set(pattern) & set("*?[") else "no claim of that id"
            raise InputError(f"--claim {shown(pattern)}", got=got, expected=_known_ids(pattern, known))
    return [claim for name, claim in known.items() if not patterns or any(fnmatchcase(name, p) for p in patterns)]


def _known_ids(name: str, known: "Ledger") -> str:
    near = get_close_matches(name, known, n=3)
    return "an id that `marginaudit claims` lists" + (f", such as {', '.join(near)}" if near else "")
