"""Shared readings of phrases of arXiv 2305.16380, and shared texts of proofs and standings."""

from dataclasses import replace
from typing import Any

from marginaudit.claims.claim import Claim
from marginaudit.claims.quotation import SourceWords, rederived, varied

SOURCE = "arXiv 2305.16380"

PAGE = "docs/proofs-snap.md#"
"""Page of the proofs, without the anchor."""

MUCH = "Much greater is ten times or more"

IN_RANGE_R = f"{MUCH}: M >= 1000 and 10 M^-0.99 <= eta_Y < 1"
"""Remark 3's range R."""

FAST_DECODER = "Assumption 1 (c), eta_Y >> eta_Z, is eta_Y >= 10 eta_Z."

ONE_CONSTANT = "O(.) is one constant for every M, eta_Y and t of the statement"

H_STAR = (
    'The sentence after Remark 2, "we just assume eta_Y < 1 and replace h* with h in the latter parts", and Remark 3 '
    f"restrict it: {IN_RANGE_R}, and h is h*. Epochs are steps."
)
"""Reading of the statements on h after Remark 2."""

NO_REFUGE = "none: false on every dataset it applies to"
"""The weakest added assumption of a statement that is never true."""

ROUNDED = "both sides agree to rounding"
"""Reason why a run may not show a contradiction."""


def variant(printed: Claim, name: str, words: str, **fields: Any) -> Claim:
    """Variant of a printed statement, ``id.name``. ``words`` describe the difference, ``fields`` override its own."""
    return _beside(printed, name, varied(printed.id, words), fields)


def mended(printed: Claim, words: str, **fields: Any) -> Claim:
    """Re-derived form of a printed statement, ``id.rederived``; else as `variant`."""
    return _beside(printed, "rederived", rederived(printed.id, words), fields)


def _beside(printed: Claim, name: str, words: SourceWords, fields: dict[str, Any]) -> Claim:
    own: dict[str, Any] = {"setting": (), "implications": (), "instead": ""} | fields
    return replace(printed, id=f"{printed.id}.{name}", source_words=words, **own)
