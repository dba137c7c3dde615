"""Eq. 90: size of E' under Assumption 2."""

import numpy as np

from marginaudit.claims.claim import Claim
from marginaudit.claims.judgements import Bounded
from marginaudit.claims.quotation import quoted
from marginaudit.claims.series import FORMULA_ROUNDING, Series, series
from marginaudit.claims.snap.appendix_d5_theorem1.overlap import largest_eigenvalue_of_inverse
from marginaudit.claims.snap.conditions import ASSUMPTION_2
from marginaudit.claims.snap.readings import PAGE, SOURCE
from marginaudit.claims.snap.run import ClassRun
from marginaudit.claims.standing import proved
from marginaudit.orders.arrays import Floats


def three_sides(run: ClassRun) -> tuple[Series, Floats]:
    """The largest |E'_kn|, the largest |lambda_i(E')| and K/(K-1) |lambda_1|, and their upper bounds."""
    found, (eigenvalue, error) = run.overlap.E_prime, largest_eigenvalue_of_inverse(run)
    overlap, factor = run.dataset.overlap, run.K / (run.K - 1)
    scaled = factor * overlap.largest
    value = np.array([np.abs(found.value).max(), eigenvalue, scaled])
    bars = np.array([found.error.max() + error, error, 0.0]) + factor * overlap.eigenvalue_error
    sides = ("the largest |E'_kn|", "the largest |lambda_i(E')|", "|lambda_1|/(1-1/K)")
    return series(value, radius=bars + FORMULA_ROUNDING * value, label=sides), np.array(
        [eigenvalue, scaled, 1 / (run.K - 1)]
    )


EQ90 = Claim(
    id="snap.eq90",
    source=f"{SOURCE}, Theorem 1's proof, eq. 90",
    source_words=quoted(
        "appendix D.5, Theorem 1's proof, eq. 90",
        "|E'_kn| <= max_{i in [K]} |lambda_i(E')| <= 1/(1-1/K) |lambda_1| <= 1/(K-1)",
    ),
    statement="|E'_kn| <= max |lambda_i(E')| <= |lambda_1|/(1-1/K) <= 1/(K-1).",
    formula=r"\lvert E'_{kn}\rvert\le\max_i\lvert\lambda_i(E')\rvert\le\frac1{1-1/K}\lvert\lambda_1\rvert"
    r"\le\frac1{K-1}",
    assumptions=ASSUMPTION_2,
    standing=proved(PAGE + "86-snapeq87-snapeq89-snapeq90", "snap.lemma15", hunted=142),
    judgement=Bounded(measure=lambda run: three_sides(run)[0], upper=lambda run, _: three_sides(run)[1]),
)

CLAIMS: tuple[Claim, ...] = (EQ90,)
