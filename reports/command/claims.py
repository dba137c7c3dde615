"""`marginaudit claims`."""

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from marginaudit.claims.values.numbers import NONE
from marginaudit.orders import InputError, counted, shown_path
from marginaudit.reports.command.arguments import CLAIMS, JSON, ONE_PAPER, ledger, matching, one_claim, papers
from marginaudit.reports.command.console import print_line, print_table, print_texts, print_wrapped, width
from marginaudit.reports.command.options import FilePath
from marginaudit.reports.command.output import check_output, print_json, refuse_existing, write

if TYPE_CHECKING:
    from marginaudit.claims.claim import Claim
    from marginaudit.claims.paper import Paper

LEAST_WIDTH = 124
"""Least terminal width for a table; narrower columns would break each statement over a dozen lines."""

SHOWN = ("statement", "standing", "source", "assumptions")
"""Fields of a claim in the list, after its id."""


@click.command()
@click.argument("claim", metavar="[CLAIM]", required=False)
@click.option(
    "--from",
    "registry",
    type=FilePath(),
    metavar="REGISTRY.json",
    help="Write a file of claims to fill in, one for each text of the paper CLAIM in a registry: "
    '{"ID": [{"text": "..", "status": ".."}, ..]}.',
)
@click.option("--out", type=FilePath(), metavar="FILE", help="The new file of --from.  [default: ID.py]")
@CLAIMS
@ONE_PAPER
@JSON
def claims(
    claim: str | None,
    registry: Path | None,
    out: Path | None,
    claims_file: Path | None,
    known: "tuple[Paper, ...]",
    as_json: bool,
) -> int:
    """List the claims of the ledger, or show one.

    CLAIM is an id, or a pattern such as 'ntp.theorem2.*'. Prints statement, source, assumptions and standing:
    proved, refuted or open for all datasets. With --from it is the id of a paper in a registry.
    """
    if registry is not None:
        return _from_registry(registry, claim, out, as_json=as_json)
    if out is not None:
        raise InputError("--out", got="no file to write", expected="--from REGISTRY.json beside it")
    from marginaudit.reports.audit.ledger import is_pattern

    listed = ledger(claims_file, known)
    one = claim is not None and not is_pattern(claim)
    if claim is None:
        wanted = list(listed.values())
    else:
        wanted = [one_claim(claim, listed)] if one else matching([claim], listed, "claim")
    entries = [_entry(found) for found in wanted]
    if as_json:
        print_json(entries[0] if one else entries)
    elif one:
        print_texts(entries[0]["id"], {key: _in_words(value) for key, value in entries[0].items()})
    elif width() < LEAST_WIDTH:
        for entry in entries:
            print_texts(entry["id"], {name: _in_words(entry[name]) for name in SHOWN})
    else:
        rows = [(entry["id"], *(_in_words(entry[name]) for name in SHOWN)) for entry in entries]
        print_table("Claims", ("id", *SHOWN), rows)
    if not (one or as_json):
        _print_counts(wanted)
    return 0


def _from_registry(file: Path, paper: str | None, out: Path | None, *, as_json: bool) -> int:
    """Write the claims of a registry to fill in."""
    from marginaudit.reports.logbook.cells import slug
    from marginaudit.reports.logbook.registry import read_registry
    from marginaudit.reports.logbook.start import claims_file

    registry = read_registry(file, paper)
    path = Path(f"{slug(registry.id or '')}.py") if out is None else out
    refuse_existing(path)
    check_output(path, "--out", ".py", reads=[str(file)])
    write(path, claims_file(registry), "--out")
    if as_json:
        print_json({"file": str(path), "claims": len(registry.texts)})
    else:
        print_line(f"{counted(len(registry.texts), 'claim')} to fill in: {shown_path(path)}")
    return 0


def _print_counts(listed: "Sequence[Claim]") -> None:
    """Print per paper the counts of printed statements by standing, and of other statements."""
    from marginaudit.reports.tally import counts, in_words, others_in_words

    for name, of_paper in groupby(listed, key=lambda claim: claim.paper):
        found = counts((claim, claim.standing) for claim in of_paper)
        parts = [in_words(found)] * bool(found["printed"]) + [others_in_words(found)]
        print_wrapped(f"{name or 'Of any paper'}: {'. Others: '.join(filter(None, parts))}.")


def _entry(claim: "Claim") -> dict[str, Any]:
    from marginaudit.reports.audit.claim_record import record
    from marginaudit.reports.counterexample import counterexample_shown

    paper = next((paper for paper in papers() if paper.has(claim)), None)
    file = counterexample_shown(paper, claim) if paper is not None else None
    return record(claim, file).as_document()


def _in_words(value: Any) -> str:
    if isinstance(value, dict):
        value = [f"{name} {number:g}" for name, number in value.items()]
    if isinstance(value, list):
        value = ", ".join(value)
    return NONE if value in (None, "") else str(value)
