"""The built-in claims, in the order of the papers."""

from marginaudit.reports.claim import Ledger
from marginaudit.reports.claims import (
    ntp_examples,
    ntp_gradients,
    ntp_proposition1,
    ntp_proposition2,
    ntp_theorem1,
    ntp_theorem2,
    ntp_theorem3,
    sharp_margins,
)

LEDGER = Ledger(
    claim
    for module in (
        ntp_gradients,
        ntp_proposition1,
        ntp_theorem1,
        ntp_theorem2,
        ntp_proposition2,
        ntp_theorem3,
        ntp_examples,
        sharp_margins,
    )
    for claim in module.CLAIMS
)
