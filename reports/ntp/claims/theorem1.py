"""Theorem 1 of arXiv 2409.17335: stage 2 converges to W*_kq in direction."""

import numpy as np

from marginaudit.orders.ntp.assumptions import ASSUMPTION_1, ASSUMPTION_2, ASSUMPTION_3
from marginaudit.reports.claim import Claim
from marginaudit.reports.judgements import Bounded
from marginaudit.reports.judgements.bounded import Steps
from marginaudit.reports.ntp import guarantees
from marginaudit.reports.ntp.claims.step_size import as_printed_and_for_any_step
from marginaudit.reports.ntp.quantities import no_direction_kq, stage2_direction, stage2_norm
from marginaudit.reports.ntp.run import Run


def _lower_norm(run: Run, t: Steps) -> Steps:
    return t * run.eta / (2 * run.dataset.L_max * run.norm_kq)


def _direction_bound(run: Run, t: Steps) -> Steps:
    data = run.dataset
    return 54 * data.N * float(data.L_max) ** 4 * run.norm_kq**4 * np.log(t) ** 2 / (t * run.eta)


NORM = Claim(
    id="ntp.theorem1.norm",
    source="arXiv 2409.17335, Theorem 1",
    statement="For t >= 2: t eta / (2 L_max ||W*_kq||) <= ||W_kq^(t)|| <= t eta.",
    formula=r"\frac{t\eta}{2L_{\max}\lVert W^*_{kq}\rVert}\le\lVert W_{kq}^{(t)}\rVert\le t\eta,\quad t\ge 2",
    assumptions=ASSUMPTION_1 + ASSUMPTION_2 + ASSUMPTION_3,
    judgement=Bounded(
        measure=lambda run: stage2_norm(run, first=2),
        lower=_lower_norm,
        upper=guarantees.largest_norm,
        guaranteed=guarantees.largest_norm,
        guaranteed_lower=guarantees.least_norm,
    ),
    absent=no_direction_kq,
)

DIRECTION = Claim(
    id="ntp.theorem1.direction",
    source="arXiv 2409.17335, Theorem 1",
    statement="For t >= 2: 1 - cos(W_kq^(t), W*_kq) <= 54 N L_max^4 ||W*_kq||^4 log^2 t / (t eta).",
    formula=(
        r"1-\cos\left(W_{kq}^{(t)},W^*_{kq}\right)\le"
        r"\frac{54\,N L_{\max}^4\lVert W^*_{kq}\rVert^4\log^2 t}{t\eta},\quad t\ge 2"
    ),
    assumptions=ASSUMPTION_1 + ASSUMPTION_2 + ASSUMPTION_3,
    judgement=Bounded(
        measure=lambda run: stage2_direction(run, first=2),
        upper=_direction_bound,
        first=2,
        largest=2.0,
        guaranteed=guarantees.direction,
    ),
    absent=no_direction_kq,
)

CLAIMS = (NORM, *as_printed_and_for_any_step(DIRECTION))
