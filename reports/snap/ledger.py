"""The claims of arXiv 2305.16380, in its order."""

from dataclasses import replace

from marginaudit.reports.claim import Claim, Ledger
from marginaudit.reports.snap.claims import (
    attention,
    backpropagated,
    concentration,
    decoder,
    derivation,
    fates,
    gains,
    gradients,
    growth,
    overlaps,
    rows,
    sparsity,
    speed,
    transition,
)
from marginaudit.reports.snap.standings import STANDINGS
from marginaudit.reports.snap.words import WORDS
from marginaudit.reports.source_words import UNQUOTED
from marginaudit.reports.standing import OPEN

MODULES: tuple[tuple[Claim, ...], ...] = (
    gradients.CLAIMS,
    attention.CLAIMS,
    rows.CLAIMS,
    growth.CLAIMS,
    speed.CLAIMS,
    concentration.CLAIMS,
    decoder.CLAIMS,
    overlaps.CLAIMS,
    backpropagated.CLAIMS,
    derivation.CLAIMS,
    fates.CLAIMS,
    gains.CLAIMS,
    transition.CLAIMS,
    sparsity.CLAIMS,
)

CLAIMS = Ledger(
    replace(claim, standing=STANDINGS.get(claim.id, OPEN), source_words=WORDS.get(claim.id, UNQUOTED))
    for claims in MODULES
    for claim in claims
)
