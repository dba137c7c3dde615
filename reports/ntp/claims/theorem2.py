"""Theorem 2 of arXiv 2409.17335: the loss of stage 2, its floor and its rate."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from marginaudit.orders.ntp.assumptions import ASSUMPTION_1, ASSUMPTION_2, ASSUMPTION_3
from marginaudit.reports.claim import Claim
from marginaudit.reports.judgements import Bounded, Equal, Limit, Threshold
from marginaudit.reports.judgements.bounded import Steps
from marginaudit.reports.ntp import guarantees
from marginaudit.reports.ntp.claims.step_size import as_printed_and_for_any_step
from marginaudit.reports.ntp.quantities import (
    asymptotic_from,
    late_records,
    log_excess_error,
    no_common_margin,
    no_direction_kq,
    no_infimum,
    stage2_log_loss,
    stage2_log_other_weight,
)
from marginaudit.reports.ntp.run import Run
from marginaudit.reports.series import Series, rounded, series
from marginaudit.reports.verdict import Evidence
from marginaudit.training.ntp.model.infimum import log_infimum_ball

if TYPE_CHECKING:
    import flint

ASSUMPTIONS = ASSUMPTION_1 + ASSUMPTION_2 + ASSUMPTION_3


APART, NEAR = 1.1, 2.0
"""Ratio of the steps between which a rate is measured: at least, so that it is an average over a cycle of steps; and at
most, so that it is that of the second one."""


@dataclass(frozen=True)
class Constants:
    """The constants of the two thresholds: c0 for T, c0 for t, and the power of ||W*_ov||."""

    steps1: float
    steps2: float
    power: int


PRINTED = Constants(steps1=384, steps2=1696, power=5)
REDERIVED = Constants(steps1=384, steps2=864, power=7)


def last_crossing(factor: float, power: int) -> float:
    """The t >= 2 from which on t >= factor log^power t.

    >>> round(last_crossing(10, 1), 6)
    35.771521
    >>> last_crossing(0.1, 2)
    2.0
    """
    from scipy.optimize import brentq

    def excess(log_t: float) -> float:
        return log_t - float(np.log(factor)) - power * float(np.log(log_t))

    if excess(power) >= 0:
        return 2.0
    beyond = 2.0 * power
    while excess(beyond) <= 0:
        beyond *= 2
    return max(2.0, float(np.exp(brentq(excess, power, beyond, xtol=1e-13, rtol=1e-13))))


def _threshold(constants: Constants) -> Callable[[Run], Threshold]:
    def threshold(run: Run) -> Threshold:
        data = run.dataset
        return Threshold(
            last_crossing(constants.steps2 * data.N * float(data.L_max) ** 4 * run.norm_kq**6 / run.eta, 2),
            needed=last_crossing(constants.steps1 * run.norm_ov**constants.power * np.log(data.V) / run.eta0, 1),
            there=run.config.steps1,
            size="T",
            resized=lambda T: run.with_steps1(int(np.ceil(T))),
        )

    return threshold


def _C0(run: Run) -> float:
    return run.eta0 / (4 * run.norm_ov**2)


def _C1(run: Run) -> float:
    return run.eta / (4 * run.dataset.L_max * run.norm_kq**2)


def _log_other_weight_bound(run: Run, t: Steps) -> Steps:
    """log(1 - 1/(1 + L exp(-C1 t)))."""
    leading = np.log(run.dataset.L_max) - _C1(run) * t
    return np.asarray(leading - np.logaddexp(0, leading))


def _log_loss_bound(run: Run, t: Steps) -> Steps:
    L = run.dataset.L_max
    # 2L/(L + exp(C1 t)), written so that nothing overflows
    remainder = 2 * L * np.exp(-_C1(run) * t) / (L * np.exp(-_C1(run) * t) + 1)
    return np.asarray(np.log(run.dataset.V) - _C0(run) * run.config.steps1 * (1 - remainder))


def _largest_log_loss(run: Run) -> float:
    """log of the loss with all attention on one wrong token: its label leads the right one by A."""
    if not run.training.common_margin:
        return float("inf")
    margin = run.training.margin
    return float(np.log(np.logaddexp(margin, np.log(run.dataset.V - 1))))


def _weight(suffix: str, constants: Constants) -> Claim:
    return Claim(
        id=f"ntp.theorem2.weight{suffix}",
        source="arXiv 2409.17335, Theorem 2",
        statement=(
            f"For T >= {constants.steps1:g} ||W*_ov||^{constants.power} log V log T / eta0 and "
            f"t >= {constants.steps2:g} N L_max^4 ||W*_kq||^6 log^2 t / eta: the summed optimal weight of every "
            "sample is at least 1/(1 + L_max exp(-C1 t)), C1 = eta/(4 L_max ||W*_kq||^2). Audited as the rest, 1 minus "
            "the weight, from above."
        ),
        formula=(
            r"\min_n\sum_{l\in l(n)}\varphi_l^{(n,t)}\ge\frac{1}{1+L_{\max}\exp(-C_1t)},\quad "
            r"C_1=\frac{\eta}{4L_{\max}\lVert W^*_{kq}\rVert^2}"
        ),
        assumptions=ASSUMPTIONS,
        judgement=Bounded(
            measure=lambda run: stage2_log_other_weight(run, first=2),
            upper=_log_other_weight_bound,
            first=2,
            largest=0.0,
            threshold=_threshold(constants),
            guaranteed=guarantees.log_other_weight,
        ),
        absent=no_direction_kq,
    )


def _loss(suffix: str, constants: Constants) -> Claim:
    return Claim(
        id=f"ntp.theorem2.loss{suffix}",
        source="arXiv 2409.17335, Theorem 2, eq. 4",
        statement=(
            f"For T >= {constants.steps1:g} ||W*_ov||^{constants.power} log V log T / eta0 and "
            f"t >= {constants.steps2:g} N L_max^4 ||W*_kq||^6 log^2 t / eta: "
            "Loss <= V exp(-C0 T (1 - 2 L_max/(L_max + exp(C1 t)))), C0 = eta0/(4 ||W*_ov||^2)."
        ),
        formula=(
            r"\mathcal L\le V\exp\left(-C_0T\left(1-\frac{2L_{\max}}{L_{\max}+\exp(C_1t)}\right)\right),\quad "
            r"C_0=\frac{\eta_0}{4\lVert W^*_{ov}\rVert^2}"
        ),
        assumptions=ASSUMPTIONS,
        judgement=Bounded(
            measure=lambda run: stage2_log_loss(run, first=2),
            upper=_log_loss_bound,
            first=2,
            largest=_largest_log_loss,
            threshold=_threshold(constants),
            guaranteed=guarantees.log_loss,
        ),
        absent=no_direction_kq,
    )


def log_infimum(run: Run) -> Series:
    """log of inf Loss over W_kq = log(1 + (V-1) exp(-A)), A = T eta0/||W*_ov||, enclosed by ball arithmetic.

    Every sample's loss is at least that, because its label's logit leads every other's by at most A;
    W_kq = R W*_kq reaches it as R grows (`sharp.floor`, `sharp.stage1`).
    """
    import flint

    V = run.dataset.V
    with flint.ctx.workprec(256):
        margin = run.config.steps1 * flint.arb(run.eta0) / flint.arb(V - 1).sqrt()
        return _enclosed(log_infimum_ball(V, margin))


def log_printed_floor(run: Run) -> Series:
    """log of V exp(-C0 T), enclosed by ball arithmetic."""
    import flint

    V = run.dataset.V
    with flint.ctx.workprec(256):
        return _enclosed(flint.arb(V).log() - flint.arb(run.eta0) * run.config.steps1 / (4 * (V - 1)))


def _enclosed(ball: "flint.arb") -> Series:
    value, radius = rounded(ball)
    return Series(np.array([value]), np.array([radius]), log=True, evidence=Evidence.CERTIFIED)


def _floor_witness(run: Run) -> dict[str, float]:
    stage = run.training.stage2
    reached = {"t": int(stage.step[-1]), "loss_at_t": float(stage.loss[-1])} if len(stage) and stage.known[-1] else {}
    return {
        "T": run.config.steps1,
        "infimum": float(np.exp(log_infimum(run).value[0])),
        "printed": float(np.exp(log_printed_floor(run).value[0])),
        **reached,
    }


FLOOR = Claim(
    id="ntp.theorem2.floor",
    source="arXiv 2409.17335, Theorem 2, its footnote",
    statement=(
        "For fixed W_ov^(T) the minimum of Loss over W_kq is V exp(-C0 T), and Loss minus that is at most that "
        "times C0 T O(exp(-C1 t)); the second part is audited only where the first holds."
    ),
    formula=r"\inf_{W_{kq}}\mathcal L=V\exp(-C_0T),\quad \mathcal L-\mathcal L^*\le\mathcal L^*\,C_0T\,O(e^{-C_1t})",
    assumptions=ASSUMPTIONS,
    judgement=Equal(measure=log_infimum, expected=log_printed_floor, witness=_floor_witness),
    absent=no_infimum,
    instead=(
        r"the infimum is $\log(1+(V-1)e^{-A})$, $A=T\eta_0/\lVert W^*_{ov}\rVert$, approached as "
        "$W_{kq}=R\\,W^*_{kq}$ grows (sharp.floor, proved in docs/proofs.md)."
    ),
)


def _excess_rate(run: Run) -> Series:
    """-d log(Loss - floor)/dt between recorded steps that lie `APART`."""
    found = late_records(run, "log_excess", log_excess_error(run))
    if found.step is None or not len(found):
        return found
    chosen = [0]
    for i, t in enumerate(found.step.tolist()):
        if t >= APART * int(found.step[chosen[-1]]):
            chosen.append(i)
    step, log_excess, error = found.step[chosen], found.value[chosen], found.radius[chosen]
    gap, near = np.diff(step), step[1:] <= NEAR * step[:-1]
    rate, radius = -np.diff(log_excess) / gap, (error[1:] + error[:-1]) / gap
    return replace(series(rate[near], radius=radius[near], step=step[1:][near]), evidence=found.evidence)


RATE = Claim(
    id="ntp.theorem2.rate",
    source="arXiv 2409.17335, Theorem 2",
    statement=(
        "Loss converges linearly (geometrically in t) to its infimum over W_kq; audited against the rate "
        "eta/||W*_kq|| a step of `sharp.floor`."
    ),
    formula=r"-\frac{d}{dt}\log\left(\mathcal L-\inf\mathcal L\right)\to\frac{\eta}{\lVert W^*_{kq}\rVert}>0",
    assumptions=ASSUMPTIONS,
    judgement=Limit(
        measure=_excess_rate,
        predicted=lambda run: run.eta / run.norm_kq,
        regime=asymptotic_from,
        positive=True,
    ),
    absent=no_common_margin,
)

CLAIMS = (
    *as_printed_and_for_any_step(_weight("", PRINTED)),
    *as_printed_and_for_any_step(_weight(".rederived", REDERIVED)),
    *as_printed_and_for_any_step(_loss("", PRINTED)),
    *as_printed_and_for_any_step(_loss(".rederived", REDERIVED)),
    FLOOR,
    RATE,
)
