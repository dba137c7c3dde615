"""Claims without their proofs, and their judgements, for tests of what is measured."""

from dataclasses import replace
from typing import Any

from marginaudit.claims import Claim
from marginaudit.reports import LEDGER


def measured(claim: Claim) -> Claim:
    """The claim of no paper and of no setting: what is measured decides it alone."""
    return replace(claim, setting=())


def judgement(claim: str) -> Any:
    """A claim's judgement, with its measure, its bounds and its parts."""
    return LEDGER[claim].judgement
