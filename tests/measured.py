"""Claims without their proofs, for tests of what is measured."""

from dataclasses import replace

from marginaudit.reports import Claim


def measured(claim: Claim) -> Claim:
    """The claim of no paper: what is measured decides it alone."""
    return replace(claim)
