"""Proposition 1 of arXiv 2409.17335: stage 1 converges to W*_ov in direction."""

import numpy as np

from marginaudit.orders.ntp.assumptions import ASSUMPTION_1, ASSUMPTION_2
from marginaudit.reports.claim import Claim, ProofCondition
from marginaudit.reports.judgements import Bounded, HiddenConstant
from marginaudit.reports.judgements.bounded import Steps
from marginaudit.reports.ntp.error_bars import margin_error
from marginaudit.reports.ntp.quantities import SATURATED, direction, no_direction_ov, no_margin, norm
from marginaudit.reports.ntp.run import Run
from marginaudit.reports.series import FORMULA_ROUNDING, Series, series
from marginaudit.reports.source_words import quoted
from marginaudit.reports.standing import proved

ASSUMPTIONS = ASSUMPTION_1 + ASSUMPTION_2


def _not_reached(run: Run) -> str | None:
    """As `no_direction_ov`; but the closed form goes on beyond the steps of stage 1."""
    return no_margin(run) if (run.stage1.step >= 2).any() else no_direction_ov(run)


def _lower_norm(run: Run, t: Steps) -> Steps:
    return t * run.eta0 / (2 * run.norm_ov)


def _direction_bound(run: Run, t: Steps) -> Steps:
    return np.asarray(12 * run.norm_ov**3 * np.log(2 * run.dataset.V) * np.log(t) / (t * run.eta0))


def _log_loss(run: Run) -> Series:
    """log L0 from t = 2 on; that of each token's log(1 + sum_v exp(-margin)) moves by no more than its margins."""
    stage = run.stage1
    kept = stage.step >= 2
    value = stage.log_loss[kept]
    radius = margin_error(run, stage)[kept] + FORMULA_ROUNDING * np.maximum(1, np.abs(value))
    return series(value, radius=radius, step=stage.step[kept], log=True)


PLACE = "section 5.1, Proposition 1; appendix B, Proposition 3"

NORM = Claim(
    id="ntp.prop1.norm",
    source="arXiv 2409.17335, Proposition 1",
    source_words=quoted(
        PLACE,
        "for any t >= 2, we have t eta_0/(2||W*_ov||) <= ||W_ov^(t)|| <= t eta_0",
        "From t = 2 on: the sign before 2 is not legible, and the proof sums from 2.",
    ),
    statement="For t >= 2: t eta0 / (2 ||W*_ov||) <= ||W_ov^(t)|| <= t eta0.",
    formula=r"\frac{t\eta_0}{2\lVert W^*_{ov}\rVert}\le\lVert W_{ov}^{(t)}\rVert\le t\eta_0,\quad t\ge 2",
    assumptions=ASSUMPTION_1 + ASSUMPTION_2,
    judgement=Bounded(
        measure=lambda run: norm(run.stage1, first=2),
        lower=_lower_norm,
        upper=lambda run, t: t * run.eta0,
    ),
    absent=_not_reached,
    standing=proved("docs/proofs.md#131-ntpprop1norm", "sharp.stage1", hunted=178),
)

DIRECTION = Claim(
    id="ntp.prop1.direction",
    source="arXiv 2409.17335, Proposition 1",
    source_words=quoted(
        PLACE,
        "the following bound holds: <W_ov^(t)/||W_ov^(t)||, W*_ov/||W*_ov||> >= 1 - 12||W*_ov||^3 log(2|V|) log "
        "t/(t eta_0)",
        "O(log t/t) has the constant of the last line of the proof, 12 ||W*_ov||^3 log(2V)/eta0, from t = 2 on.",
    ),
    statement="For t >= 2: 1 - cos(W_ov^(t), W*_ov) <= 12 ||W*_ov||^3 log(2V) log t / (t eta0).",
    formula=(
        r"1-\cos\left(W_{ov}^{(t)},W^*_{ov}\right)\le"
        r"\frac{12\lVert W^*_{ov}\rVert^3\log(2V)\log t}{t\eta_0},\quad t\ge 2"
    ),
    assumptions=ASSUMPTION_1 + ASSUMPTION_2,
    judgement=Bounded(
        measure=lambda run: direction(run.stage1, run.ov.optimal().direction_radius, first=2),
        upper=_direction_bound,
        first=2,
        largest=2.0,
    ),
    absent=_not_reached,
    proof_uses=(ProofCondition("2 eta0 <= ||W*_ov||", lambda run: 2 * run.eta0 <= run.norm_ov),),
    standing=proved("docs/proofs.md#132-ntpprop1direction", "sharp.stage1", hunted=140),
)

LOSS = Claim(
    id="ntp.prop1.loss",
    source="arXiv 2409.17335, Proposition 1",
    source_words=quoted(
        "section 5.1, Proposition 1",
        "the loss function L_0 satisfies that L_0(W_ov^(t)) <= O(exp(-eta_0 t/(4||W*_ov||^2)))",
        "O(.) hides one constant for every t, which is the data's own: what is proved is C = V (V-1), and no constant "
        "serves every vocabulary.",
        reconstructed="the power of ||W*_ov|| in the exponent, 1 or 2: 2 is taken",
    ),
    statement="L0(W_ov^(t)) <= C exp(-eta0 t / (4 ||W*_ov||^2)) for every t, with a constant C that the data may set.",
    formula=r"L_0(W_{ov}^{(t)})\le O\left(\exp\left(-\frac{\eta_0 t}{4\lVert W^*_{ov}\rVert^2}\right)\right)",
    assumptions=ASSUMPTION_1 + ASSUMPTION_2,
    judgement=HiddenConstant(
        measure=_log_loss,
        shape=lambda run, t: -run.eta0 * t / (4 * run.norm_ov**2),
        # from where on the margin t eta0 / ||W*|| hides log V
        regime=lambda run: (SATURATED + np.log(run.dataset.V)) * run.norm_ov / run.eta0,
    ),
    absent=_not_reached,
    standing=proved("docs/proofs.md#133-ntpprop1loss", "sharp.stage1", hunted=165),
)

CLAIMS = (NORM, DIRECTION, LOSS)
