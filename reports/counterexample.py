"""Smallest known counterexample to a paper's claim, stored in the paper's package."""

from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

from marginaudit.claims.claim import Claim
from marginaudit.claims.paper import Paper
from marginaudit.orders.reading import parsed_json


def smallest_counterexample(paper: Paper, claim: Claim) -> Any | None:
    """Dataset found by the hunts of `docs/ablation.py` with all assumptions; None without a counterexample.

    >>> from marginaudit.reports.audit.ledger import LEDGER, PAPERS
    >>> data = smallest_counterexample(PAPERS[0], LEDGER["ntp.theorem2.floor"])
    >>> PAPERS[0].kind.in_words(data)
    '2 tokens, 3 samples (a -> b; b -> a; b a -> a; n(a) = b, n(b) = a)'
    """
    if not paper.package or not paper.has(claim):
        return None
    text = _document(paper.package, claim.id)
    return None if text is None else paper.kind.from_document(parsed_json(text, claim.id), claim.id, claim.id)


def counterexample_shown(paper: Paper, claim: Claim) -> str | None:
    """File of the counterexample, for `marginaudit audit`; formulas if float64 cannot represent one."""
    if smallest_counterexample(paper, claim) is None:
        return claim.standing.formula or None
    return str(_file(paper.package, claim.id))


WITHOUT = "without.json"
"""File of the datasets that break a claim without one of its assumptions."""


def broken_without(paper: Paper, claim: Claim) -> dict[str, Any]:
    """Documents of datasets, by assumption, that break only the assumption (and what it implies) and violate the claim.

    >>> from marginaudit.reports.audit.ledger import LEDGER, PAPERS
    >>> list(broken_without(PAPERS[0], LEDGER["ntp.prop2.closed-form"]))
    ['injective', 'next_from_sentence', 'no_confused_tokens', 'orthonormal', 'prefix_closed']
    """
    if not paper.package or not paper.has(claim):
        return {}
    found: dict[str, Any] = _without(paper.package).get(claim.id, {})
    return found


@cache
def _without(package: str) -> dict[str, Any]:
    file = files(package) / "counterexamples" / WITHOUT
    found: dict[str, Any] = parsed_json(file.read_text(encoding="utf-8"), WITHOUT) if file.is_file() else {}
    return found


def _file(package: str, claim: str) -> Traversable:
    return files(package) / "counterexamples" / f"{claim}.json"


@cache
def _document(package: str, claim: str) -> str | None:
    file = _file(package, claim)
    return file.read_text(encoding="utf-8") if file.is_file() else None
