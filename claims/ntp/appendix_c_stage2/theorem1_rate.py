"""A sharper Theorem 1: 1 - cos falls like 1/t^2, times log^2 t if a tight constraint carries no multiplier."""

from dataclasses import replace

import numpy as np

from marginaudit.claims.claim import BeyondTheRun, Claim
from marginaudit.claims.judgements import Limit
from marginaudit.claims.ntp.quantities import asymptotic_from, late_records, no_direction_kq, unknown_where_nan
from marginaudit.claims.ntp.rates import measured_constants
from marginaudit.claims.ntp.run import Run
from marginaudit.claims.ntp.step_size import SHORT, SHORT_LATEX, for_short_and_for_any_step
from marginaudit.claims.quotation import sharpened
from marginaudit.claims.series import Series
from marginaudit.claims.standing import proved
from marginaudit.orders.ntp.assumptions import ASSUMPTION_1, ASSUMPTION_2, ASSUMPTION_3
from marginaudit.training.ntp.trained import Asymptotics

LAW_ERROR = 1e-8
"""Relative error of the law's constant, larger than the error of the state it is computed from."""


def _asymptotics(run: Run) -> Asymptotics:
    found = run.training.asymptotics
    if found is None:
        raise BeyondTheRun("the run has no asymptotic law")
    return found


def _no_rate(run: Run) -> str | None:
    on_its_ray = "W_kq^(t) has the direction of W*_kq at every t, so there is no rate."
    if len(run.dataset.relations) == 1:
        return on_its_ray
    reason = no_direction_kq(run)
    if reason is not None:
        return reason
    stage, later = run.training.stage2, run.training.stage2.step >= 1
    on_a_line = stage.distance_error < np.finfo(float).eps ** 2  # otherwise about one eps of rounding
    if ((stage.one_minus_cos == 0) & on_a_line)[later].all():
        return on_its_ray
    return None


def _constant(run: Run) -> Series:
    """Constant of the law estimated at each step, by `measured_constants`.

    Raises
    ------
    BeyondTheRun
        All records have the direction of W*_kq, within their error bars.
    """
    stage = run.training.stage2
    if (stage.distance <= stage.distance_error)[stage.step >= 1].all():
        raise BeyondTheRun("as far as float64 shows, W_kq^(t) has the direction of W*_kq at every recorded t")
    degenerate = _asymptotics(run).degenerate
    if not degenerate and (np.isinf(stage.error[-1]) or run.training.enclosed is not None):
        off = stage.distance_error * (stage.distance + stage.distance_error / 2)
        gap = late_records(run, "one_minus_cos", np.where(np.isinf(stage.error), np.inf, off))
        square = np.ones(0) if gap.step is None else gap.step.astype(float) ** 2
        return replace(gap, value=gap.value * square, radius=gap.radius * square)
    step, value, radius = measured_constants(run, degenerate=degenerate)
    return unknown_where_nan(value, radius, step)


def _predicted(run: Run) -> float:
    """The law's constant; unknown if 0 to rounding."""
    law = _asymptotics(run).law
    return float("nan") if law is None else law.constant or float("nan")


RATE = Claim(
    id="sharp.rate",
    source="marginaudit, a sharper form of arXiv 2409.17335, Theorem 1",
    source_words=sharpened("ntp.theorem1.direction", f"The rate as it is, for {SHORT}."),
    statement=(
        f"For {SHORT}: t^2 (1 - cos(W_kq^(t), W*_kq)) tends to a constant when every tight constraint "
        "can carry a positive multiplier, and grows like log^2 t otherwise. Audited against the constant that the "
        "asymptotic law predicts."
    ),
    formula=(
        r"t^2\left(1-\cos(W_{kq}^{(t)},W^*_{kq})\right)\to C\ \text{if every tight constraint can carry a multiplier,}"
        r"\quad\sim C\log^2 t\ \text{otherwise};\quad" + SHORT_LATEX
    ),
    assumptions=ASSUMPTION_1 + ASSUMPTION_2 + ASSUMPTION_3,
    judgement=Limit(measure=_constant, predicted=_predicted, regime=asymptotic_from, uncertainty=LAW_ERROR),
    absent=_no_rate,
    standing=proved("docs/proofs.md#9-sharprate", "sharp.lemma6", "sharp.theorem1", hunted=16),
)

CLAIMS = for_short_and_for_any_step(
    RATE,
    wrong="With long steps a run can end in a cycle of two, and t^2 (1 - cos) then has a limit for each.",
    instead=r"it is true for $\eta\le1/(4\lVert W^*_{kq}\rVert)$ (sharp.rate).",
    hunted=21,
)
