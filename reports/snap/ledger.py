"""The claims of arXiv 2305.16380, in its order."""

from marginaudit.reports.claim import Claim, Ledger
from marginaudit.reports.snap.claims import growth, overlaps, speed

MODULES: tuple[tuple[Claim, ...], ...] = (growth.CLAIMS, speed.CLAIMS, overlaps.CLAIMS)

CLAIMS = Ledger(claim for claims in MODULES for claim in claims)
