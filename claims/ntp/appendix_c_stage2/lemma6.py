"""Lemma 6 of arXiv 2409.17335: the norm of W_kq grows with t; a sharper one has sqrt 2 in place of 2 L_max."""

from dataclasses import replace
from functools import partial

import numpy as np

from marginaudit.claims.claim import Claim
from marginaudit.claims.judgements import Bounded, Decided
from marginaudit.claims.judgements.bounded import Steps
from marginaudit.claims.judgements.parts import joined
from marginaudit.claims.ntp import bounds
from marginaudit.claims.ntp.bounds import Sizes, in_balls
from marginaudit.claims.ntp.quantities import no_stage2, stage2_norm
from marginaudit.claims.ntp.run import Run
from marginaudit.claims.quotation import quoted, sharpened
from marginaudit.claims.series import FORMULA_ROUNDING, Series
from marginaudit.claims.standing import proved
from marginaudit.claims.verdict import Evidence, Finding
from marginaudit.orders.ntp.assumptions import ASSUMPTION_1, ASSUMPTION_2, ASSUMPTION_3


def least_norm(run: Run, t: Steps) -> Steps:
    """The printed lower bound."""
    return t * run.eta / (2 * run.dataset.L_max * run.norm_kq)


LEMMA6_LOWER = Bounded(
    measure=partial(stage2_norm, first=1),
    lower=in_balls(least_norm, Sizes.printed_norm),
    guaranteed_lower=bounds.least_norm,
)


def _sum_of_steps(run: Run) -> Series:
    """The norm of a sum of steps of length eta, each exact up to rounding.

    Recorded weights keep their error bars, because the rounding of the recorded steps is unknown. So does an enclosure.
    """
    measured = stage2_norm(run, first=1)
    if not run.takes_own_steps or measured.evidence is Evidence.CERTIFIED:
        return measured
    return replace(measured, radius=np.minimum(measured.radius, FORMULA_ROUNDING * measured.value))


LEMMA6_UPPER = Bounded(measure=_sum_of_steps, upper=in_balls(bounds.largest_norm, Sizes.largest_norm))


def decide_lemma6(run: Run, lower: Bounded, upper: Bounded) -> Finding:
    """Decide the lower and the upper bound.

    The trajectory's error does not affect the upper bound: the exact and the computed trajectory are both sums of t
    steps of length eta.
    """
    below, above = lower.judge(run), upper.judge(run)
    both = below.curve and above.curve and replace(below.curve, upper=above.curve.upper)
    return joined({"Lower bound": below, "Upper bound": above}, curve=both)


LEMMA6 = Claim(
    id="ntp.lemma6",
    source="arXiv 2409.17335, Lemma 6",
    source_words=quoted(
        "appendix C.3, Lemma 6",
        "for each iteration t .. t eta/(2L_max||W*_kq||) - ||W_kq^(0)|| <= ||W_kq^(t)|| <= t eta + ||W_kq^(0)||",
        "From a zero start, for every t from 1 on.",
    ),
    statement="t eta / (2 L_max ||W*_kq||) <= ||W_kq^(t)|| <= t eta.",
    formula=r"\frac{t\eta}{2L_{\max}\lVert W^*_{kq}\rVert}\le\lVert W_{kq}^{(t)}\rVert\le t\eta",
    assumptions=ASSUMPTION_1 + ASSUMPTION_2 + ASSUMPTION_3,
    judgement=Decided(partial(decide_lemma6, lower=LEMMA6_LOWER, upper=LEMMA6_UPPER), kind="two-sided bound"),
    absent=no_stage2,
    standing=proved("docs/proofs.md#142-ntplemma6-and-ntptheorem1norm", "sharp.lemma6", hunted=5),
)

SHARP = Claim(
    id="sharp.lemma6",
    source="marginaudit, a sharper form of arXiv 2409.17335, Lemma 6",
    source_words=sharpened("ntp.lemma6", "sqrt 2 in place of 2 L_max."),
    statement="||W_kq^(t)|| >= t eta / (sqrt 2 ||W*_kq||).",
    formula=r"\lVert W_{kq}^{(t)}\rVert\ge\frac{t\eta}{\sqrt2\lVert W^*_{kq}\rVert}",
    assumptions=bounds.ASSUMPTIONS,
    judgement=Bounded(measure=partial(stage2_norm, first=1), lower=in_balls(bounds.norm_bound, Sizes.sharp_norm)),
    absent=no_stage2,
    standing=proved("docs/proofs.md#5-sharplemma6", "ntp.lemma5", hunted=4),
)

CLAIMS = (LEMMA6, SHARP)
