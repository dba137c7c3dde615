"""Which theorem of its source a statement belongs to, and in which form the report has it."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from marginaudit.reports.claim import Claim
from marginaudit.reports.paper import Paper

NAMED = re.compile(r"\b(Theorem|Lemma|Proposition|Corollary|Remark|Example|[Ff]igure) ([0-9]+)|\beqs?\. ([0-9]+)")

PRINTED, RECONSTRUCTED, REDERIVED = "as printed", "reconstructed", "re-derived"
SHARPER, VARIANT, OWN = "sharper", "varied", "your claim"

FORMS = {
    PRINTED: "what the source says, with its own constants",
    RECONSTRUCTED: "what the source says, but for a constant that is not legible in the text that was read",
    REDERIVED: "the same statement with what the algebra gives where the print is false or leaves a gap",
    SHARPER: "a stronger statement of this project, proved from the same assumptions",
    VARIANT: "a printed statement beyond the conditions that it is printed with",
    OWN: "a statement of a file or an installed package",
}
"""The forms of a statement, and what they mean."""

WHOSE = dict.fromkeys((PRINTED, RECONSTRUCTED), "printed text") | {
    REDERIVED: "our correction",
    SHARPER: "our statement",
    VARIANT: "our variant",
    OWN: "your text",
}
"""Of which text a statement of each form is."""


def theorem(claim: Claim, known: Mapping[str, Claim]) -> str:
    """The theorem, lemma, .. that a statement is about; its source where that names none; without one its id.

    A corrected statement belongs to what it corrects.
    """
    corrected = known.get(claim.source_words.corrects)
    if corrected is not None and corrected is not claim:
        return theorem(corrected, known)
    found = NAMED.search(claim.source)
    if found is None:
        return claim.source.strip() or claim.id
    return f"Equation {found[3]}" if found[3] else f"{found[1].capitalize()} {found[2]}"


def form(claim: Claim, paper: Paper) -> str:
    """One of `FORMS`."""
    if not paper.has(claim):
        return OWN
    if claim.id.endswith(".rederived"):
        return REDERIVED
    if not claim.id.startswith(f"{paper.name}."):
        return SHARPER
    if claim.source_words.corrects:
        return VARIANT
    return RECONSTRUCTED if claim.source_words.reconstructed else PRINTED


def failing(claim: Claim, paper: Paper) -> str:
    """What a violated statement is called: its form, but a mended one says that it is false as well.

    >>> from marginaudit.reports.audit.ledger import LEDGER, PAPERS
    >>> failing(LEDGER["ntp.corollary1.upper.rederived"], PAPERS[0])
    'Also false with the exponent mended'
    """
    found = form(claim, paper)
    return f"Also false {claim.source_words.mended or 'as mended'}" if found == REDERIVED else found.capitalize()


def grouped(items: Sequence[dict[str, Any]], key: str) -> list[tuple[Any, list[dict[str, Any]]]]:
    """The items by what they have under a key, keys and items in the order in which they come first."""
    groups: dict[Any, list[dict[str, Any]]] = {}
    for item in items:
        groups.setdefault(item[key], []).append(item)
    return list(groups.items())
