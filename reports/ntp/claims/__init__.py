"""The claims of arXiv 2409.17335, in its order, one theorem a file, and the sharper ones of this project.

The text that was read is a scan without page numbers, which does not say its version. Many of its formulas are
illegible; they are quoted as the proofs have them, and a constant that was not legible is `reconstructed`.
"""

from marginaudit.reports.claim import Ledger
from marginaudit.reports.ntp.claims import (
    corollary1,
    eq5_eq6,
    example1,
    example2,
    lemma2,
    lemma3,
    lemma4,
    lemma5,
    lemma6,
    lemma7,
    proposition1,
    proposition2,
    theorem1,
    theorem1_squared,
    theorem2,
    theorem2_floor,
    theorem3,
    theorem3_prediction,
)

MODULES = (
    eq5_eq6,
    proposition1,
    lemma2,
    lemma3,
    corollary1,
    lemma4,
    lemma5,
    lemma6,
    lemma7,
    theorem1,
    theorem2,
    theorem2_floor,
    proposition2,
    theorem3,
    theorem3_prediction,
    example1,
    example2,
    theorem1_squared,
)

CLAIMS = Ledger(
    sorted((claim for module in MODULES for claim in module.CLAIMS), key=lambda claim: claim.id.startswith("sharp."))
)

ALL = tuple(CLAIMS.values())
