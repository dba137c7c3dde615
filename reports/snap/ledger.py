"""The claims of arXiv 2305.16380, in its order."""

from dataclasses import replace

from marginaudit.reports.claim import Claim, Ledger
from marginaudit.reports.snap.claims import (
    corollary1,
    corollary2,
    eq13,
    eq64,
    eq71,
    eq87_eq89,
    eq90,
    eq112,
    eq132_eq133,
    fig6,
    lemma1,
    lemma2,
    lemma3,
    lemma4,
    lemma5,
    lemma6,
    lemma7,
    lemma8,
    lemma9,
    lemma10,
    lemma11,
    lemma12,
    lemma12_y,
    lemma13,
    lemma14,
    lemma15,
    lemma16,
    lemma17,
    lemma18,
    remark1,
    remark2,
    remark3,
    remark4,
    theorem1,
    theorem1_a,
    theorem1_b,
    theorem2,
    theorem3_gain,
    theorem3_growth,
    theorem4_closed_form,
    theorem4_ends,
    theorem4_growth,
    theorem4_rates,
    theorem4_scan,
    theorem4_snap,
    theorem5,
)
from marginaudit.reports.snap.implications import IMPLICATIONS
from marginaudit.reports.snap.reliances import RELIANCES
from marginaudit.reports.snap.standings import STANDINGS
from marginaudit.reports.snap.words import WORDS
from marginaudit.reports.source_words import UNQUOTED
from marginaudit.reports.standing import OPEN

MODULES: tuple[tuple[Claim, ...], ...] = (
    lemma1.CLAIMS,
    lemma3.CLAIMS,
    lemma2.CLAIMS,
    lemma18.CLAIMS,
    lemma5.CLAIMS,
    remark1.CLAIMS,
    lemma6.CLAIMS,
    lemma7.CLAIMS,
    remark2.CLAIMS,
    lemma8.CLAIMS,
    remark3.CLAIMS,
    eq64.CLAIMS,
    lemma9.CLAIMS,
    theorem1_b.CLAIMS,
    remark4.CLAIMS,
    lemma10.CLAIMS,
    lemma11.CLAIMS,
    lemma12.CLAIMS,
    theorem5.CLAIMS,
    corollary1.CLAIMS,
    lemma12_y.CLAIMS,
    eq71.CLAIMS,
    lemma13.CLAIMS,
    lemma14.CLAIMS,
    lemma15.CLAIMS,
    lemma16.CLAIMS,
    lemma17.CLAIMS,
    eq87_eq89.CLAIMS,
    eq90.CLAIMS,
    theorem1.CLAIMS,
    theorem1_a.CLAIMS,
    lemma4.CLAIMS,
    theorem2.CLAIMS,
    corollary2.CLAIMS,
    theorem3_gain.CLAIMS,
    theorem3_growth.CLAIMS,
    eq112.CLAIMS,
    eq13.CLAIMS,
    theorem4_closed_form.CLAIMS,
    theorem4_scan.CLAIMS,
    theorem4_snap.CLAIMS,
    theorem4_rates.CLAIMS,
    theorem4_growth.CLAIMS,
    theorem4_ends.CLAIMS,
    eq132_eq133.CLAIMS,
    fig6.CLAIMS,
)

CLAIMS = Ledger(
    replace(
        claim,
        standing=replace(STANDINGS.get(claim.id, OPEN), **RELIANCES.get(claim.id, {}))
        if claim.standing == OPEN
        else claim.standing,
        source_words=WORDS.get(claim.id, UNQUOTED) if claim.source_words == UNQUOTED else claim.source_words,
        implications=claim.implications or tuple(one for one in IMPLICATIONS if one.target == claim.id),
    )
    for claims in MODULES
    for claim in claims
)
