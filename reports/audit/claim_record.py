"""A claim as plain data: one entry of report.json's ``claims`` and of `marginaudit claims --json`."""

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from marginaudit.claims.claim import Claim
from marginaudit.claims.quotation import Form
from marginaudit.claims.standing import Severity, Standing, Status, Weight
from marginaudit.claims.values.json_data import finite

VERSION = re.compile(r"arXiv[: ]\s*\d{4}\.\d{4,5}(v\d+)")
"""Version of an arXiv paper in a source."""


@dataclass(frozen=True, kw_only=True)
class ClaimRecord:
    """A claim's texts and standing; None for what it lacks.

    Attributes
    ----------
    version : the version that ``source`` names, as "v2"
    place, quotation, reading, reconstructed, corrects : see `marginaudit.claims.quotation.SourceWords`
    kind : the kind of the statement
    severity, weight, cause, wrong, weakest, settles, hunted : see `marginaudit.claims.standing.Standing`
    counterexample : smallest known dataset that violates it, or formulas if no dataset of float64 numbers does
        In a report the dataset's document, elsewhere its file.
    settings : settings with which the counterexample violates it, if an audit's do not suffice
    """

    id: str
    paper: str | None
    form: Form
    control_of: str | None
    scale: Literal["paper", "reduced"] | None
    source: str
    version: str | None
    theorem: str | None
    quotation: str | None
    place: str | None
    reading: str | None
    reconstructed: str | None
    corrects: str | None
    kind: str
    statement: str
    formula: str | None
    assumptions: list[str]
    setting: list[str]
    proof_uses: list[str]
    instead: str | None
    standing: Status
    severity: Severity | None
    weight: Weight | None
    cause: str | None
    wrong: str | None
    defence: str | None
    proof: str | None
    rests_on: list[str]
    counterexample: dict[str, Any] | str | None
    settings: dict[str, float]
    weakest: str | None
    settles: str | None
    hunted: int

    def as_document(self) -> dict[str, Any]:
        """Plain JSON data."""
        found: dict[str, Any] = finite(asdict(self))
        return found | {name: getattr(self, name) and getattr(self, name).value for name in ENUMS}


ENUMS = ("form", "standing", "severity", "weight")


def record(
    claim: Claim, counterexample: Mapping[str, Any] | str | None, standing: Standing | None = None
) -> ClaimRecord:
    """Record of a claim, with its standing, or the one of an audit.

    >>> from marginaudit.reports.audit.ledger import LEDGER
    >>> found = record(LEDGER["ntp.lemma2"], None)
    >>> found.standing.value, found.place
    ('proved', 'appendix B, Lemma 2')
    """
    known, words = standing or claim.standing, claim.source_words
    version = VERSION.search(claim.source)
    return ClaimRecord(
        id=claim.id,
        paper=claim.paper or None,
        form=claim.form,
        control_of=claim.control_of or None,
        scale=claim.scale,
        source=claim.source,
        version=version[1] if version else None,
        theorem=claim.theorem or None,
        quotation=words.quotation or None,
        place=words.place or None,
        reading=words.reading or None,
        reconstructed=words.reconstructed or None,
        corrects=words.corrects or None,
        kind=claim.judgement.kind,
        statement=claim.statement,
        formula=claim.formula or None,
        assumptions=list(claim.assumptions),
        setting=list(claim.setting),
        proof_uses=[condition.text for condition in claim.proof_uses],
        instead=claim.instead or None,
        standing=known.status,
        severity=known.severity,
        weight=known.weight if known.severity else None,
        cause=known.cause or None,
        wrong=known.wrong or None,
        defence=claim.defence or known.defence or None,
        proof=known.proof,
        rests_on=list(known.uses),
        counterexample=dict(counterexample) if isinstance(counterexample, Mapping) else counterexample,
        settings=dict(known.settings),
        weakest=known.weakest or None,
        settles=known.settles or None,
        hunted=known.hunted,
    )
