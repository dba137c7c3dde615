"""Lemma 3 of arXiv 2409.17335: stage 1 treats all wrong labels of a token alike."""

import numpy as np

from marginaudit.claims.claim import Claim
from marginaudit.claims.judgements import Equal
from marginaudit.claims.ntp.error_bars import margin_error
from marginaudit.claims.ntp.quantities import no_direction_ov
from marginaudit.claims.ntp.run import Run
from marginaudit.claims.quotation import quoted
from marginaudit.claims.series import Series, series
from marginaudit.claims.standing import proved
from marginaudit.orders.arrays import Floats
from marginaudit.orders.ntp.assumptions import ASSUMPTION_1, ASSUMPTION_2


def _label_spread(run: Run) -> Series:
    """Largest |(e_i - e_j)^T W x| over x and i, j != n(x), from t = 1 on."""
    stage = run.stage1_steps
    kept = stage.step >= 1
    return series(stage.label_spread[kept], radius=margin_error(run, stage)[kept], step=stage.step[kept])


def _norm(run: Run) -> Floats:
    stage = run.stage1_steps
    return stage.norm[stage.step >= 1]


def _no_two_labels(run: Run) -> str | None:
    if run.dataset.V == 2:
        return "Of two tokens only one is not n(x), so there are no two labels to compare."
    return no_direction_ov(run, first=1)


LEMMA3 = Claim(
    id="ntp.lemma3",
    source="arXiv 2409.17335, Lemma 3",
    source_words=quoted(
        "appendix C.1, Lemma 3",
        "With zero initialization .. for any iteration t, W_ov^(t) satisfies that (e_i - e_i')^T W_ov^(t) x = 0, "
        "for all i, i' != In(x)",
    ),
    statement="(e_i - e_j)^T W_ov^(t) x = 0 for all i, j != n(x); differences are relative to ||W_ov^(t)||.",
    formula=r"(e_i-e_j)^\top W_{ov}^{(t)}x=0\quad\text{for all }i,j\ne n(x)",
    assumptions=ASSUMPTION_1 + ASSUMPTION_2,
    judgement=Equal(
        measure=_label_spread,
        expected=lambda run: series(np.zeros(len(_norm(run))), radius=0.0),
        scale=_norm,
    ),
    absent=_no_two_labels,
    standing=proved("docs/proofs.md#135-ntplemma3", "sharp.stage1", hunted=4),
)

CLAIMS = (LEMMA3,)
