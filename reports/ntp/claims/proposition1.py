"""Proposition 1 of arXiv 2409.17335: stage 1 converges to W*_ov in direction."""

import numpy as np

from marginaudit.orders.ntp.assumptions import ASSUMPTION_1, ASSUMPTION_2
from marginaudit.reports.claim import Claim, ProofCondition
from marginaudit.reports.judgements import Bounded, HiddenConstant
from marginaudit.reports.judgements.bounded import Steps
from marginaudit.reports.ntp.quantities import SATURATED, direction, margin_error, no_direction_ov, no_margin, norm
from marginaudit.reports.ntp.run import Run
from marginaudit.reports.series import FORMULA_ROUNDING, Series, series


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


NORM = Claim(
    id="ntp.prop1.norm",
    source="arXiv 2409.17335, Proposition 1",
    statement="For t >= 2: t eta0 / (2 ||W*_ov||) <= ||W_ov^(t)|| <= t eta0.",
    formula=r"\frac{t\eta_0}{2\lVert W^*_{ov}\rVert}\le\lVert W_{ov}^{(t)}\rVert\le t\eta_0,\quad t\ge 2",
    assumptions=ASSUMPTION_1 + ASSUMPTION_2,
    judgement=Bounded(
        measure=lambda run: norm(run.stage1, first=2),
        lower=_lower_norm,
        upper=lambda run, t: t * run.eta0,
    ),
    absent=_not_reached,
)

DIRECTION = Claim(
    id="ntp.prop1.direction",
    source="arXiv 2409.17335, Proposition 1",
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
)

LOSS = Claim(
    id="ntp.prop1.loss",
    source="arXiv 2409.17335, Proposition 1",
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
)

CLAIMS = (NORM, DIRECTION, LOSS)
