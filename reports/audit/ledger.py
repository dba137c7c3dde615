"""The built-in claims, in the order of the papers."""

from marginaudit.orders import InputError
from marginaudit.reports.claim import Claim, Ledger
from marginaudit.reports.ntp.claims import (
    examples,
    gradients,
    lemmas_stage1,
    lemmas_stage2,
    proposition1,
    proposition2,
    theorem1,
    theorem2,
    theorem3,
)
from marginaudit.reports.ntp.sharper import margins as sharp_margins
from marginaudit.reports.ntp.sharper import rate as sharp_rate
from marginaudit.reports.ntp.sharper import stage2 as sharp_stage2

LEDGER = Ledger(
    claim
    for module in (
        gradients,
        proposition1,
        lemmas_stage1,
        lemmas_stage2,
        theorem1,
        theorem2,
        proposition2,
        theorem3,
        examples,
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
