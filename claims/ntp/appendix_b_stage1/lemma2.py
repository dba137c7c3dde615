"""Lemma 2 of arXiv 2409.17335: in stage 1 the gradient's direction is nearly that of W*_ov."""

from functools import partial

import numpy as np

from marginaudit.claims.claim import Claim
from marginaudit.claims.judgements import Bounded
from marginaudit.claims.judgements.bounded import Steps
from marginaudit.claims.ntp.error_bars import margin_error, state_error
from marginaudit.claims.ntp.quantities import label_margins, no_direction_ov
from marginaudit.claims.ntp.run import Run
from marginaudit.claims.quotation import quoted
from marginaudit.claims.series import FORMULA_ROUNDING, Series, series
from marginaudit.claims.standing import proved
from marginaudit.orders.ntp.assumptions import ASSUMPTION_1, ASSUMPTION_2


def _quotient(run: Run) -> Series:
    """<W^(t), grad L0> / <W*, grad L0> from t = 1 on.

    -<W, grad L0> is the sum over x and v != n(x) of P_v(x) times the margin (e_{n(x)} - e_v)^T W x. So the
    quotient is an average of the margins of W, divided by one of W*'s, which are all 1 for orthonormal tokens
    and never less; the error bar spans its possible values. The bar also includes the effect of the error of W on
    the margins, and on ||W|| of the other side.
    """
    stage = run.stage1_steps
    kept = stage.step >= 1
    largest = float(label_margins(run, run.ov.optimal().scores).max())
    least, most = stage.min_margin[kept], stage.max_margin[kept]
    low, high = np.minimum(least, least / largest), np.maximum(most, most / largest)
    error = margin_error(run, stage)[kept] + state_error(stage)[kept] / run.norm_ov
    rounding = FORMULA_ROUNDING * np.maximum(np.abs(low), np.abs(high))
    return series((low + high) / 2, radius=(high - low) / 2 + error + rounding, step=stage.step[kept])


def _quotient_bound(run: Run, t: Steps) -> Steps:
    """(1 + a_t) ||W|| / ||W*|| = ||W|| / ||W*|| + 2 log(2V)."""
    stage = run.stage1_steps
    norm = np.interp(t, stage.step, stage.norm)
    return np.asarray(norm / run.norm_ov + 2 * np.log(2 * run.dataset.V))


LEMMA2 = Claim(
    id="ntp.lemma2",
    source="arXiv 2409.17335, Lemma 2",
    source_words=quoted(
        "appendix B, Lemma 2",
        "At each iteration t, .. <W_ov^(t), grad L_0(W_ov^(t))> >= (1 + 2||W*_ov||/||W_ov^(t)|| log(2|V|)) "
        "||W_ov^(t)||/||W*_ov|| <W*_ov, grad L_0(W_ov^(t))>",
        "At each t from 1 on: at 0 the norm under a_t is 0.",
    ),
    statement=(
        "<W^(t), grad L0> >= (1 + a_t) (||W^(t)||/||W*_ov||) <W*_ov, grad L0> at W^(t), a_t = 2 ||W*_ov|| log(2V) / "
        "||W^(t)||. <W*_ov, grad L0> < 0, so it is audited as an upper bound on the quotient of the two inner products."
    ),
    formula=(
        r"\left\langle W^{(t)},\nabla L_0\right\rangle\ge(1+a_t)\frac{\lVert W^{(t)}\rVert}{\lVert W^*_{ov}\rVert}"
        r"\left\langle W^*_{ov},\nabla L_0\right\rangle,\quad a_t=\frac{2\lVert W^*_{ov}\rVert\log(2V)}"
        r"{\lVert W^{(t)}\rVert}"
    ),
    assumptions=ASSUMPTION_1 + ASSUMPTION_2,
    judgement=Bounded(measure=_quotient, upper=_quotient_bound),
    absent=partial(no_direction_ov, first=1),
    standing=proved("docs/proofs.md#134-ntplemma2", "sharp.stage1", hunted=2),
)

CLAIMS = (LEMMA2,)
