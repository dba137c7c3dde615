"""The claims of arXiv 2305.16380, in its order."""

from dataclasses import replace

from marginaudit.reports.claim import Claim, Ledger
from marginaudit.reports.snap.claims import (
    backpropagated,
    coefficients,
    corollary1,
    derivation,
    eq64,
    eq71,
    fates,
    gains,
    lemma1,
    lemma2,
    lemma3,
    lemma5,
    lemma6,
    lemma7,
    lemma8,
    lemma9,
    lemma10,
    lemma11,
    lemma12,
    lemma12_y,
    lemma18,
    overlaps,
    phases,
    relative_gain,
    remark1,
    remark2,
    remark3,
    remark4,
    sparsity,
    theorem1_b,
    theorem5,
    transition,
)
from marginaudit.reports.snap.claims.conditions import FAST_DECODER
from marginaudit.reports.snap.implications import IMPLICATIONS
from marginaudit.reports.snap.reliances import RELIANCES
from marginaudit.reports.snap.standings import STANDINGS
from marginaudit.reports.snap.words import WORDS
from marginaudit.reports.source_words import UNQUOTED
from marginaudit.reports.standing import OPEN

ON_EQ_10 = frozenset(
    f"snap.{name}"
    for name in (
        "lemma4",
        "theorem2.distinct",
        "theorem2.common",
        "corollary2",
        "theorem3.gain",
        "theorem3.growth",
        "eq112",
        "eq13",
    )
)
"""Printed statements under eq. 10, to whose derivation Assumption 1 (c) belongs."""

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
    overlaps.CLAIMS,
    coefficients.CLAIMS,
    backpropagated.CLAIMS,
    derivation.CLAIMS,
    fates.CLAIMS,
    gains.CLAIMS,
    relative_gain.CLAIMS,
    transition.CLAIMS,
    phases.CLAIMS,
    sparsity.CLAIMS,
)

CLAIMS = Ledger(
    replace(
        claim,
        standing=replace(STANDINGS.get(claim.id, OPEN), **RELIANCES.get(claim.id, {}))
        if claim.standing == OPEN
        else claim.standing,
        source_words=WORDS.get(claim.id, UNQUOTED) if claim.source_words == UNQUOTED else claim.source_words,
        implications=claim.implications or tuple(one for one in IMPLICATIONS if one.target == claim.id),
        proof_uses=(*claim.proof_uses, *((FAST_DECODER,) if claim.id in ON_EQ_10 else ())),
    )
    for claims in MODULES
    for claim in claims
)
