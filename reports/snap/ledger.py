"""The claims of arXiv 2305.16380, in its order."""

from marginaudit.reports.claim import Claim, Ledger
from marginaudit.reports.snap.claims import attention, concentration, gradients, growth, overlaps, rows

MODULES: tuple[tuple[Claim, ...], ...] = (
    gradients.CLAIMS,
    attention.CLAIMS,
    rows.CLAIMS,
    growth.CLAIMS,
    concentration.CLAIMS,
    overlaps.CLAIMS,
)

CLAIMS = Ledger(claim for claims in MODULES for claim in claims)
