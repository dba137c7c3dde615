"""Lemma 18 of arXiv 2305.16380: token frequencies concentrate at their probabilities."""

import numpy as np

from marginaudit.claims.claim import Claim
from marginaudit.claims.judgements import Parts
from marginaudit.claims.quotation import quoted
from marginaudit.claims.run import once_a_run
from marginaudit.claims.series import series
from marginaudit.claims.snap.appendix_c_gradients.lemma2 import by_counts
from marginaudit.claims.snap.chances import LEVELS, Chances, rarely
from marginaudit.claims.snap.readings import PAGE
from marginaudit.claims.snap.run import ClassRun, evenly_spaced
from marginaudit.claims.standing import proved
from marginaudit.training.snap.counts.binomial import Interval, chance_outside, spaced_counts

LONGEST = 10**6
"""Longest context with computed probabilities. Beyond, the lemma is Hoeffding's theorem."""

MOST_PROBABILITIES = 20
"""Distinct P(l|n) with computed probabilities, at evenly spaced ranks."""


@once_a_run
def misses(run: ClassRun) -> Chances:
    """Probability that q_{l|n} misses the interval of eq. 136, and delta, over a grid of delta, P(l|n) and T - 1.

    (T - 1) q_{l|n} is Bin(T - 1, P(l|n)).
    """
    found = np.unique(run.dataset.P[run.dataset.P > 0])
    taken = evenly_spaced(len(found), MOST_PROBABILITIES)
    lengths = spaced_counts(LONGEST)
    delta, p, T1 = (grid.ravel() for grid in np.meshgrid(LEVELS, found[taken], lengths, indexing="ij"))
    room = np.sqrt(T1 * np.log(2 / delta) / 2)
    value, radius = chance_outside(T1, p, Interval.around(T1 * p, room))
    label = tuple(
        f"delta = {d:g}, P(l|n) = {q:.4g}, T - 1 = {n}"
        for d, q, n in zip(delta.tolist(), p.tolist(), T1.tolist(), strict=True)
    )
    return Chances(series(value, radius=radius, label=label), delta)


LEMMA18 = Claim(
    id="snap.lemma18",
    source="arXiv 2305.16380, Lemma 18 (eqs. 134-136)",
    statement=(
        "X^T h_X/(T-1) = q o h and X^T diag(h_X) X/(T-1) = diag(q o h) for some q >= 0 of sum 1, and, for each token "
        "l, with "
        "probability at least 1 - delta, max(0, P(l|n) - r) <= q_l <= P(l|n) + r, r = sqrt(ln(2/delta)/(2(T-1))). The "
        f"chances are exact, at T - 1 from 1 to {LONGEST:.0e} and delta from {min(LEVELS):g} to {max(LEVELS):g}."
    ),
    formula=(
        r"\max\left(0,\mathbb P(l|n)-\sqrt{\frac{\ln(2/\delta)}{2(T-1)}}\right)\le q_{l|n}\le"
        r"\mathbb P(l|n)+\sqrt{\frac{\ln(2/\delta)}{2(T-1)}}"
    ),
    assumptions=(),
    judgement=Parts(
        {
            "Eqs. 134 and 135": by_counts(attention=False),
            "Eq. 136, the chance of a miss": rarely(misses),
        }
    ),
    standing=proved(PAGE + "53-snaplemma2-and-snaplemma18", hunted=79),
    source_words=quoted(
        "appendix H, Lemma 18, eqs. 134 to 136",
        "with probability at least 1 - delta we have max(0, P(l|m,n) - sqrt(ln(2/delta)/(2(T-1)))) <= q_{l|m,n} "
        "<= P(l|m,n) + sqrt(ln(2/delta)/(2(T-1)))",
        "For each token by itself, not for all of them together.",
    ),
)

CLAIMS: tuple[Claim, ...] = (LEMMA18,)
