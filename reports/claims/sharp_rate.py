"""The rate of stage 2: 1 - cos falls like 1/t^2, times log^2 t where a tight constraint carries no multiplier."""

from marginaudit.reports.claim import ASSUMPTION_1, ASSUMPTION_2, ASSUMPTION_3, Claim, ProofCondition
from marginaudit.reports.claims.quantities import no_direction_kq
from marginaudit.reports.error_bars import Series, series
from marginaudit.reports.judgements import Limit
from marginaudit.reports.rates import measured_constants
from marginaudit.reports.run import Run
from marginaudit.training import Asymptotics

SATURATED = 50
"""The rate is asymptotic once eta t/||W*_kq||, about the margin that training has reached, is this large."""

SHORT_STEPS = ProofCondition(
    "eta <= 1 / (4 ||W*_kq||), without which steps may end in a cycle", lambda run: 4 * run.eta * run.norm_kq <= 1
)


def _asymptotics(run: Run) -> Asymptotics:
    found = run.training.asymptotics
    if found is None:
        raise ValueError("W*_kq is not known exactly")
    return found


def _nothing_to_approach(run: Run) -> str | None:
    reason = no_direction_kq(run)
    if reason is None and not (run.training.stage2.one_minus_cos[1:] > 0).all():
        return "W_kq^(t) has the direction of W*_kq at every t, so there is no rate."
    return reason


def _constant(run: Run) -> Series:
    """The constant that each step's record gives, by `reports.rates.measured_constants`."""
    step, value, radius = measured_constants(run, degenerate=_asymptotics(run).degenerate)
    return series(value, radius=radius, step=step)


def _predicted(run: Run) -> float:
    law = _asymptotics(run).law
    return float("nan") if law is None else law.constant


RATE = Claim(
    id="sharp.rate",
    source="marginaudit, a sharper form of arXiv 2409.17335, Theorem 1",
    statement=(
        "t^2 (1 - cos(W_kq^(t), W*_kq)) tends to a constant when every tight constraint can carry a positive "
        "multiplier, and grows like log^2 t otherwise. Audited against the constant that the asymptotic law predicts."
    ),
    formula=(
        r"t^2\left(1-\cos(W_{kq}^{(t)},W^*_{kq})\right)\to C\ \text{if every tight constraint can carry a multiplier,}"
        r"\quad\sim C\log^2 t\ \text{otherwise}"
    ),
    assumptions=ASSUMPTION_1 + ASSUMPTION_2 + ASSUMPTION_3,
    judgement=Limit(
        measure=_constant,
        predicted=_predicted,
        regime=lambda run: SATURATED * run.norm_kq / run.eta,
    ),
    absent=_nothing_to_approach,
    proof_uses=(SHORT_STEPS,),
)

CLAIMS = (RATE,)
