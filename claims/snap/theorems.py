"""The claims of arXiv 2305.16380, in its order, one file per theorem.

The text used has no page numbers and no version. Quotations have formulas in plain symbols.
"""

from marginaudit.claims.claim import Ledger
from marginaudit.claims.snap.appendix_c_gradients import lemma1, lemma2, lemma18
from marginaudit.claims.snap.appendix_d2_one_class import lemma3, lemma5, remark1
from marginaudit.claims.snap.appendix_d3_growth import eq64, lemma6, lemma7, lemma8, lemma9, remark2, remark3
from marginaudit.claims.snap.appendix_d4_sampled_classes import (
    corollary1,
    eq71,
    lemma10,
    lemma11,
    lemma12,
    lemma12_y,
    remark4,
    theorem5,
)
from marginaudit.claims.snap.appendix_d5_theorem1 import (
    eq87_eq89,
    eq90,
    lemma13,
    lemma14,
    lemma15,
    lemma16,
    lemma17,
    theorem1,
    theorem1_a,
    theorem1_b,
)
from marginaudit.claims.snap.appendix_e_attention import (
    corollary2,
    eq112,
    lemma4,
    theorem2,
    theorem3_gain,
    theorem3_growth,
)
from marginaudit.claims.snap.appendix_f_transition import (
    eq13,
    eq132_eq133,
    theorem4_closed_form,
    theorem4_ends,
    theorem4_eq14,
    theorem4_growth,
    theorem4_rates,
)
from marginaudit.claims.snap.section8 import fig6

THEOREMS = (
    lemma1,
    lemma3,
    lemma2,
    lemma18,
    lemma5,
    remark1,
    lemma6,
    lemma7,
    remark2,
    lemma8,
    remark3,
    eq64,
    lemma9,
    theorem1_b,
    remark4,
    lemma10,
    lemma11,
    lemma12,
    theorem5,
    corollary1,
    lemma12_y,
    eq71,
    lemma13,
    lemma14,
    lemma15,
    lemma16,
    lemma17,
    eq87_eq89,
    eq90,
    theorem1,
    theorem1_a,
    lemma4,
    theorem2,
    corollary2,
    theorem3_gain,
    theorem3_growth,
    eq112,
    eq13,
    theorem4_closed_form,
    theorem4_eq14,
    theorem4_rates,
    theorem4_growth,
    theorem4_ends,
    eq132_eq133,
    fig6,
)
"""Modules of the paper's theorems, each with its `CLAIMS`."""

CLAIMS = Ledger(claim for theorem in THEOREMS for claim in theorem.CLAIMS)

ALL = tuple(CLAIMS.values())
