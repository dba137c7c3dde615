"""Theorem 1 of arXiv 2409.17335: stage 2 converges to W*_kq in direction. Sharper: a bound of order log t/t.

The exact rate is in `theorem1_rate`.
"""

from dataclasses import replace
from functools import partial

import numpy as np

from marginaudit.claims.claim import Claim
from marginaudit.claims.judgements import Bounded
from marginaudit.claims.judgements.bounded import Steps
from marginaudit.claims.ntp import bounds
from marginaudit.claims.ntp.appendix_c_stage2 import lemma6
from marginaudit.claims.ntp.bounds import UNEVEN, Sizes, even_enough, in_balls, of_sizes
from marginaudit.claims.ntp.quantities import no_direction_kq, no_stage2, stage2_direction, stage2_norm
from marginaudit.claims.ntp.run import Run
from marginaudit.claims.ntp.step_size import ORDER_ONE, READ_AS, as_printed_and_for_any_step, refuted_by_long_steps
from marginaudit.claims.quotation import quoted, sharpened
from marginaudit.claims.standing import Implication, Severity, proved, refuted
from marginaudit.orders.ntp.assumptions import SETTING


@np.errstate(over="ignore")  # for short embeddings
def _direction_bound(run: Run, t: Steps) -> Steps:
    data = run.dataset
    return 54 * data.N * float(data.L_max) ** 4 * np.float64(run.norm_kq) ** 4 * np.log(t) ** 2 / (t * run.eta)


FARTHEST_POWER = 200
"""Base-2 logarithm of the last step to search for the crossing of the two bounds."""


def above_the_sharp_direction(at: Sizes) -> str | None:
    """Reason why Theorem 1's bound may be below that of `sharp.theorem1` while informative, or None.

    docs/proofs.md, section 16.3: the quotient of the bounds decreases, so that one step t_1 suffices for all later
    ones. Before t_1 the printed bound is at least 2 if it is at t = 2 and at t_1.
    """
    import flint

    for power in range(1, FARTHEST_POWER):
        t = flint.arb(2) ** power
        if at.sharp(t.log()) <= at.printed(t.log()):
            vacuous = all(at.printed(early.log()) >= 2 * early * at.eta for early in (flint.arb(2), t))
            return None if power == 1 or vacuous else "the printed bound is below 2 before it is above the other"
    return "the bound of sharp.theorem1 is not below the printed one"


NORM = Claim(
    id="ntp.theorem1.norm",
    source="arXiv 2409.17335, Theorem 1",
    source_words=quoted(
        "section 5.2, Theorem 1",
        "for any t >= 2, we have that t eta/(2L_max||W*_kq||) <= ||W_kq^(t)|| <= t eta",
        "Lemma 6 again, from t = 2 on.",
        reconstructed="the factor L_max in the lower bound, which is that of Lemma 6",
    ),
    statement=f"For t >= 2: {lemma6.LEMMA6.statement}",
    formula=lemma6.LEMMA6.formula + r",\quad t\ge 2",
    assumptions=bounds.ASSUMPTIONS,
    judgement=Bounded(
        measure=partial(stage2_norm, first=2),
        lower=lemma6.LEMMA6_LOWER.lower,
        upper=lemma6.LEMMA6_UPPER.upper,
        first=2,
        guaranteed=bounds.largest_norm,
        guaranteed_lower=bounds.least_norm,
    ),
    absent=no_direction_kq,
    standing=replace(lemma6.LEMMA6.standing, hunted=146),
)

DIRECTION = Claim(
    id="ntp.theorem1.direction",
    source="arXiv 2409.17335, Theorem 1",
    source_words=quoted(
        "section 5.2, Theorem 1",
        "the following inequality holds. <W_kq^(t)/||W_kq^(t)||, W*_kq/||W*_kq||> >= 1 - 54 N L_max^4 "
        "||W*_kq||^4 log^2 t/(t eta)",
        READ_AS,
    ),
    statement="For t >= 2: 1 - cos(W_kq^(t), W*_kq) <= 54 N L_max^4 ||W*_kq||^4 log^2 t / (t eta).",
    formula=(
        r"1-\cos\left(W_{kq}^{(t)},W^*_{kq}\right)\le"
        r"\frac{54\,N L_{\max}^4\lVert W^*_{kq}\rVert^4\log^2 t}{t\eta},\quad t\ge 2"
    ),
    assumptions=bounds.ASSUMPTIONS,
    setting=SETTING,
    judgement=Bounded(
        measure=partial(stage2_direction, first=2),
        upper=in_balls(_direction_bound, Sizes.printed_direction),
        first=2,
        largest=2.0,
        guaranteed=bounds.direction,
    ),
    absent=no_direction_kq,
    standing=refuted(
        "docs/proofs.md#10-what-follows-for-theorems-1-and-2-of-the-paper",
        severity=Severity.EXTREME,
        wrong=(
            "Theorem 1's bound on the direction of attention needs log(1/pi_min) where it has N: a sample of frequency "
            "e^-9000000 breaks it."
        ),
        defence="True at every realistic frequency: pi_min >= 2 L_max^3 exp(-5 N L_max^4) is enough.",
        hunted=24,
        formula=UNEVEN.format(least="9000000"),
        weakest=even_enough(5, "corollary 10.3"),
        relied_on_by=("ntp.theorem2.weight", "ntp.theorem2.loss", "ntp.theorem3.order"),
        remains=(
            "From sharp.theorem1 Theorem 2's bound on attention follows from its threshold on where frequencies are "
            "not extremely uneven (docs/proofs.md, section 10), and Theorem 3's order under Assumption 3. For all "
            "frequencies Theorem 2's loss is true (section 16.6), and without Assumption 3 the order late in the run "
            "(section 15.6)."
        ),
    ),
    instead=(
        r"with $\log(2L_{\max}^3/\pi_{\min})$, $\pi_{\min}$ the least frequency, in the place of $NL_{\max}^4$ there "
        "is a bound for all frequencies and step sizes: sharp.theorem1."
    ),
    implications=(
        Implication(
            sources=("sharp.theorem1",),
            condition="its bound is below the printed one from some t_1 on, and before t_1 the printed one is above 2",
            proof="docs/proofs.md#163-ntptheorem1direction-where-the-sharp-one-is-below-it",
            unmet=of_sizes(above_the_sharp_direction),
        ),
    ),
)

ANY_STEP = refuted_by_long_steps(cause="", weakest=f"{ORDER_ONE} and {DIRECTION.standing.weakest}", hunted=136)

SHARP = Claim(
    id="sharp.theorem1",
    source="marginaudit, a sharper form of arXiv 2409.17335, Theorem 1",
    source_words=sharpened("ntp.theorem1.direction", "A bound of the order of log t/t, for steps of any size."),
    statement=(
        "For t >= 1: 1 - cos(W_kq^(t), W*_kq) <= [2 ||W*_kq||^3 log(2 L_max^3 / pi_min) (1 + log t) + "
        "eta ||W*_kq||^2 (1 + log t) + sqrt 2 eta ||W*_kq||] / (t eta)."
    ),
    formula=(
        r"1-\cos\left(W_{kq}^{(t)},W^*_{kq}\right)\le\frac{2\lVert W^*_{kq}\rVert^3\log(2L_{\max}^3/\pi_{\min})"
        r"(1+\log t)+\eta\lVert W^*_{kq}\rVert^2(1+\log t)+\sqrt2\,\eta\lVert W^*_{kq}\rVert}{t\eta}"
    ),
    assumptions=bounds.ASSUMPTIONS,
    judgement=Bounded(
        measure=partial(stage2_direction, first=1),
        upper=in_balls(bounds.direction_bound, Sizes.sharp_direction),
        largest=2.0,
    ),
    absent=no_stage2,
    standing=proved("docs/proofs.md#7-sharptheorem1", "sharp.lemma6", "sharp.lemma7", hunted=6),
)

CLAIMS = (
    NORM,
    *as_printed_and_for_any_step(DIRECTION, ANY_STEP),
    SHARP,
)
