"""The claims of arXiv 2409.17335, in its order, and the sharper ones of this project."""

from dataclasses import replace

from marginaudit.reports.claim import Ledger
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
from marginaudit.reports.ntp.implications import IMPLICATIONS
from marginaudit.reports.ntp.reliances import RELIANCES
from marginaudit.reports.ntp.sharper import margins, rate, squared, stage2
from marginaudit.reports.ntp.standings import STANDINGS
from marginaudit.reports.ntp.words import WORDS
from marginaudit.reports.source_words import UNQUOTED
from marginaudit.reports.standing import OPEN

CLAIMS = Ledger(
    replace(
        claim,
        standing=replace(STANDINGS.get(claim.id, OPEN), **RELIANCES.get(claim.id, {}))
        if claim.standing == OPEN
        else claim.standing,
        source_words=WORDS.get(claim.id, UNQUOTED) if claim.source_words == UNQUOTED else claim.source_words,
        implications=claim.implications or tuple(one for one in IMPLICATIONS if one.target == claim.id),
    )
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
        margins,
        stage2,
        rate,
        squared,
    )
    for claim in module.CLAIMS
)
