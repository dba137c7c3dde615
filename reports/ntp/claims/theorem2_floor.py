"""Theorem 2 of arXiv 2409.17335, its footnote: the minimum of the loss of stage 2, which is another."""

from typing import TYPE_CHECKING

import numpy as np

from marginaudit.orders.ntp.assumptions import ASSUMPTION_1, ASSUMPTION_2, ASSUMPTION_3
from marginaudit.reports.claim import Claim
from marginaudit.reports.judgements import Equal
from marginaudit.reports.ntp.quantities import no_infimum
from marginaudit.reports.ntp.run import Run
from marginaudit.reports.series import Series, rounded
from marginaudit.reports.source_words import quoted
from marginaudit.reports.standing import Implication, Severity, refuted
from marginaudit.reports.verdict import Evidence, Verdict
from marginaudit.training.ntp.model.infimum import log_infimum_ball

if TYPE_CHECKING:
    import flint


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


PROOF = "docs/proofs.md#162-ntptheorem2floor-is-false"

FLOOR = Claim(
    id="ntp.theorem2.floor",
    source="arXiv 2409.17335, Theorem 2, its footnote",
    source_words=quoted(
        "section 5.2, footnote 3 to Theorem 2",
        "For fixed W_ov^(T), the minimum loss value L* = |V| exp(-TC_0). .. L(theta^(t)) - L* <= L* TC_0 "
        "O(e^{-C_1 t}) for sufficiently large t",
        "The minimum is over W_kq, W_ov^(T) being what stage 1 made it.",
    ),
    statement=(
        "For fixed W_ov^(T) the minimum of Loss over W_kq is V exp(-C0 T), and Loss minus that is at most that "
        "times C0 T O(exp(-C1 t)); the second part is audited only where the first holds."
    ),
    formula=r"\inf_{W_{kq}}\mathcal L=V\exp(-C_0T),\quad \mathcal L-\mathcal L^*\le\mathcal L^*\,C_0T\,O(e^{-C_1t})",
    assumptions=ASSUMPTION_1 + ASSUMPTION_2 + ASSUMPTION_3,
    judgement=Equal(measure=log_infimum, expected=log_printed_floor, witness=_floor_witness),
    absent=no_infimum,
    instead=(
        r"the infimum is $\log(1+(V-1)e^{-A})$, $A=T\eta_0/\lVert W^*_{ov}\rVert$, approached as "
        "$W_{kq}=R\\,W^*_{kq}$ grows (sharp.floor, proved in docs/proofs.md)."
    ),
    standing=refuted(
        PROOF,
        "sharp.floor",
        "sharp.stage1",
        severity=Severity.EVERYWHERE,
        wrong="The minimum of the loss in a footnote to NTP's Theorem 2 is wrong: runs end below it.",
        hunted=1,
        weakest="none: it is false on every dataset of which it speaks",
    ),
    implications=(Implication(sources=("sharp.floor", "sharp.stage1"), proof=PROOF, verdict=Verdict.VIOLATED),),
)

CLAIMS = (FLOOR,)
