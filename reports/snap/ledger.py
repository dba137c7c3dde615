"""The claims of arXiv 2305.16380, in its order."""

from marginaudit.reports.claim import Claim, Ledger
from marginaudit.reports.snap.claims import backpropagated, decoder, growth, overlaps

MODULES: tuple[tuple[Claim, ...], ...] = (growth.CLAIMS, overlaps.CLAIMS, backpropagated.CLAIMS, decoder.CLAIMS)

CLAIMS = Ledger(claim for claims in MODULES for claim in claims)
