"""The claims of arXiv 2409.17335, in its order, one theorem a file, and the sharper ones of this project.

The text that was read is a scan without page numbers, which does not say its version. Many of its formulas are
illegible; they are quoted as the proofs have them, and a constant that was not legible is `reconstructed`.
"""

from marginaudit.reports.claim import Ledger
from marginaudit.reports.ntp.claims import (
    corollary1,
    eq5,
    eq6,
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
    theorem2,
    theorem2_floor,
    theorem2_rate,
    theorem3,
    theorem3_prediction,
)
from marginaudit.reports.ntp.sharper import floor, rate, single_optimum, stage1, theorem1_squared
from marginaudit.reports.ntp.sharper import lemma6 as sharp_lemma6
from marginaudit.reports.ntp.sharper import lemma7 as sharp_lemma7
from marginaudit.reports.ntp.sharper import proposition2 as sharp_proposition2
from marginaudit.reports.ntp.sharper import theorem1 as sharp_theorem1

PRINTED = (
    eq5,
    eq6,
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
    theorem2_rate,
    proposition2,
    theorem3,
    theorem3_prediction,
    example1,
    example2,
)
SHARPER = (
    stage1,
    sharp_proposition2,
    single_optimum,
    sharp_lemma6,
    sharp_lemma7,
    sharp_theorem1,
    floor,
    rate,
    theorem1_squared,
)

CLAIMS = Ledger(claim for module in (*PRINTED, *SHARPER) for claim in module.CLAIMS)

ALL = tuple(CLAIMS.values())
