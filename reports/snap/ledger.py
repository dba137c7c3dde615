"""The claims of arXiv 2305.16380, in its order."""

from dataclasses import replace

from marginaudit.reports.claim import Claim, Ledger
from marginaudit.reports.snap.claims import (
    attention,
    beginning,
    concentration,
    corollary2,
    decoder,
    eq87_eq89,
    eq90,
    eq112,
    gradients,
    growth,
    lemma4,
    lemma13,
    lemma14,
    lemma15,
    lemma16,
    lemma17,
    phases,
    rows,
    solution,
    sparsity,
    speed,
    spread,
    theorem1,
    theorem1_a,
    theorem2,
    theorem3_gain,
    theorem3_growth,
    transition,
)
from marginaudit.reports.snap.conditions import FAST_DECODER
from marginaudit.reports.snap.implications import IMPLICATIONS
from marginaudit.reports.snap.reliances import RELIANCES
from marginaudit.reports.snap.standings import STANDINGS
from marginaudit.reports.snap.words import WORDS
from marginaudit.reports.source_words import UNQUOTED
from marginaudit.reports.standing import OPEN

ON_EQ_10 = frozenset(f"snap.{name}" for name in ("eq13",))
"""Printed statements under eq. 10, to whose derivation Assumption 1 (c) belongs."""

MODULES: tuple[tuple[Claim, ...], ...] = (
    gradients.CLAIMS,
    attention.CLAIMS,
    rows.CLAIMS,
    growth.CLAIMS,
    beginning.CLAIMS,
    speed.CLAIMS,
    spread.CLAIMS,
    concentration.CLAIMS,
    decoder.CLAIMS,
    solution.CLAIMS,
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
