"""Lemma 16: the diagonal of E' is not positive."""

import numpy as np

from marginaudit.claims.claim import Claim
from marginaudit.claims.judgements import Bounded
from marginaudit.claims.quotation import quoted
from marginaudit.claims.series import Series, series
from marginaudit.claims.snap.conditions import ASSUMPTION_2
from marginaudit.claims.snap.readings import PAGE, SOURCE
from marginaudit.claims.snap.run import ClassRun
from marginaudit.claims.standing import proved
from marginaudit.claims.verdict import LEAST


def diagonal(run: ClassRun) -> Series:
    """E'_nn of each class."""
    found, own = run.overlap.E_prime, np.arange(run.K)
    return series(found.value[own, own], radius=found.error[own, own], label=run.dataset.next_tokens)


LEMMA16 = Claim(
    id="snap.lemma16",
    source=f"{SOURCE}, Lemma 16",
    source_words=quoted(
        "appendix D.5, Lemma 16",
        "the diagonal elements of E' are nonpositive .. if there exist any k != i .. such that E_ki > 0, then "
        "E'_ii < 0",
    ),
    statement="Every E'_nn is at most 0, and below 0 where some E_kn is above 0.",
    formula=r"E'_{nn}\le 0,\qquad E'_{nn}\lt 0\text{ if some }E_{kn}\gt 0",
    assumptions=ASSUMPTION_2,
    standing=proved(PAGE + "62-snaplemma16", hunted=705),
    judgement=Bounded(
        measure=diagonal,
        upper=lambda run, _: np.where((run.overlap.E > 0).any(axis=0), -LEAST, 0.0),
    ),
)

CLAIMS: tuple[Claim, ...] = (LEMMA16,)
