"""The built-in claims, in the order of the papers."""

from marginaudit.orders import InputError
from marginaudit.reports.claim import Claim, Ledger
from marginaudit.reports.claims import (
    ntp_examples,
    ntp_gradients,
    ntp_lemmas_stage1,
    ntp_lemmas_stage2,
    ntp_proposition1,
    ntp_proposition2,
    ntp_theorem1,
    ntp_theorem2,
    ntp_theorem3,
    sharp_margins,
    sharp_rate,
    sharp_stage2,
)

LEDGER = Ledger(
    claim
    for module in (
        ntp_gradients,
        ntp_proposition1,
        ntp_lemmas_stage1,
        ntp_lemmas_stage2,
        ntp_theorem1,
        ntp_theorem2,
        ntp_proposition2,
        ntp_theorem3,
        ntp_examples,
        sharp_margins,
        sharp_stage2,
        sharp_rate,
    )
    for claim in module.CLAIMS
)

PAPERS = {"ntp": ("ntp.", "sharp."), "snap": ("snap.",)}
"""How the ids of a paper's claims begin: arXiv 2409.17335 with its sharper forms, and arXiv 2305.16380."""


def of_paper(paper: str) -> tuple[Claim, ...]:
    """The built-in claims on one of `PAPERS`, or on "all".

    Raises
    ------
    InputError
        There is none.
    """
    if paper == "all":
        return tuple(LEDGER.values())
    found = tuple(claim for claim in LEDGER.values() if claim.id.startswith(PAPERS[paper]))
    if not found:
        others = [name for name in PAPERS if any(key.startswith(PAPERS[name]) for key in LEDGER)]
        raise InputError(f"--paper {paper}", got="no claims of that paper yet", expected=f"{', '.join(others)} or all")
    return found
