"""The claims of arXiv 2409.17335, in its order, one file per theorem, and the sharper ones of this project.

The text used is a scan without page numbers or version. Many of its formulas are illegible; they are quoted as the
proofs have them, and an illegible constant is `reconstructed`.
"""

from marginaudit.claims.claim import Ledger
from marginaudit.claims.ntp.appendix_a_gradients import eq5_eq6
from marginaudit.claims.ntp.appendix_b_stage1 import lemma2, proposition1
from marginaudit.claims.ntp.appendix_c_stage2 import (
    corollary1,
    lemma3,
    lemma4,
    lemma5,
    lemma6,
    lemma7,
    theorem1,
    theorem1_rate,
    theorem1_squared,
    theorem2,
    theorem2_floor,
)
from marginaudit.claims.ntp.appendix_d_orders import example1, example2, proposition2, theorem3, theorem3_prediction
from marginaudit.claims.quotation import Form

THEOREMS = (
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
    theorem1_rate,
    theorem1_squared,
)
"""Modules of the paper's theorems, each with its `CLAIMS`."""

CLAIMS = Ledger(
    sorted(
        (claim for theorem in THEOREMS for claim in theorem.CLAIMS),
        key=lambda claim: claim.source_words.form is Form.OWN,
    )
)

ALL = tuple(CLAIMS.values())
