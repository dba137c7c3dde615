"""Quantities of a run shared by several claims, as series with error bars."""

from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from marginaudit.claims.claim import NotRecorded
from marginaudit.claims.ntp.error_bars import (
    EPS,
    log_excess_error,
    log_rounding,
    moved_attention,
    score_error,
    state_error,
)
from marginaudit.claims.ntp.run import ENCLOSED_STEPS, Run
from marginaudit.claims.series import FORMULA_ROUNDING, Series, series
from marginaudit.claims.verdict import Evidence
from marginaudit.margins.ntp import Infeasible
from marginaudit.orders import counted
from marginaudit.orders.arrays import Floats
from marginaudit.orders.ntp import Token
from marginaudit.training.ntp import StageRecord

SATURATED = 30
"""Saturated attention has exp(-30) on tokens that are not optimal: see `asymptotic_from`."""

APART, NEAR = 1.1, 2.0
"""Least and largest ratio of the two steps of a measured rate. The least makes the rate an average over a cycle of
steps, the largest makes it the rate at the second step."""


def no_direction_ov(run: Run, first: int = 2) -> str | None:
    """Reason why stage 1 has no direction to compare, or None.

    Raises
    ------
    BeyondTheRun
        No step from ``first`` on was recorded.
    """
    reason = no_margin(run)
    if reason is None:
        recorded(run, 1, first)
    return reason


def no_margin(run: Run) -> str | None:
    """Reason why W*_ov has no margins, or None; `BeyondTheRun` without stage 1."""
    if isinstance(run.ov, Infeasible):
        return "W*_ov does not exist: no W_ov has all margins positive."
    if run.norm_ov == 0:
        return "The vocabulary has one token, so W*_ov = 0 has no margins and no direction."
    run.require_recorded(1)
    return None


def no_direction_kq(run: Run) -> str | None:
    """Reason why stage 2 has no direction to compare, or None.

    Raises
    ------
    BeyondTheRun
        No step from t = 2 on was recorded.
    """
    reason = no_kq_descent(run, "has no direction")
    if reason is None:
        recorded(run, 2, 2)
    return reason


def no_kq_descent(run: Run, if_zero: str) -> str | None:
    """Reason why stage 2 has no W*_kq or no gradient, or None; ``if_zero`` describes the statement's case W*_kq = 0."""
    if isinstance(run.kq, Infeasible):
        return "W*_kq does not exist: no W_kq has all margins positive."
    if run.norm_kq == 0:
        return f"No sample relates two tokens, so W*_kq = 0 {if_zero}."
    if run.config.steps1 == 0:
        return "Stage 1 has no step, so W_ov = 0 and stage 2 has no gradient."
    return None


def no_stage2(run: Run) -> str | None:
    """Reason why stage 2 has no W*_kq or no gradient, or None.

    Raises
    ------
    BeyondTheRun
        No step of stage 2 was recorded.
    """
    if reason := no_kq_descent(run, "and W_kq stays 0"):
        return reason
    recorded(run, 2, first=1)
    return None


def no_relation(run: Run) -> str | None:
    """Reason why no query has a relation, or None."""
    if isinstance(run.kq, Infeasible):
        return "W*_kq does not exist: no W_kq has all margins positive."
    return None if run.dataset.orders else "No sample relates two tokens, so no query has optimal tokens."


def no_infimum(run: Run) -> str | None:
    """Reason why the infimum of the loss over W_kq has no closed form, or None; independent of stage 2's steps."""
    reason = no_kq_descent(run, "has no direction")
    if reason is None and not run.training.common_margin:
        return "The margins of W_ov^(T) are not one A, so the infimum of the loss has no closed form."
    return reason


def no_common_margin(run: Run) -> str | None:
    """Reason why stage 2 does not approach an infimum with a closed form, or None."""
    return no_infimum(run) or no_direction_kq(run)


def recorded(run: Run, stage: Literal[1, 2], first: int) -> None:
    """Raise unless a stage has a recorded step from ``first`` on. The premise of the steps is checked first.

    Raises
    ------
    NotRecorded
        The stage has no such step.
    """
    run.require_recorded(stage)
    steps, at = run.config.steps1 if stage == 1 else run.steps2, run.recorded_steps(stage)
    if steps < first:
        raise NotRecorded(f"stage {stage} has {counted(steps, 'step')} and the statement applies from t = {first}")
    if at is not None and not any(first <= t <= steps for t in at):
        raise NotRecorded(f"no step of stage {stage} from t = {first} on was recorded")


def attention(run: Run, sample: int, token: Token) -> Series:
    """Attention of a token in a sample, summed over its positions, at each record of stage 2.

    An error e of score differences is an error e of the attention's log-odds, and of at most e/4 of attention itself;
    `EPS` covers the sums.

    Parameters
    ----------
    sample : int
        Its number among the dataset's samples.

    >>> from marginaudit.orders.ntp import CASES
    >>> from marginaudit.claims.ntp import Config
    >>> float(attention(Run(CASES["example-1"](), Config(steps2=1)), 2, "S").value[0])  # of S V O, at the start
    0.3333333333333333
    """
    data, stage = run.dataset, run.training.stage2
    bag = data.samples[sample].bag
    query = data.index[data.samples[sample].query]
    scores = np.array([stage.score(data.index[x], query) for x in bag])
    weights = np.array(list(bag.values()))[:, np.newaxis] * np.exp(scores - scores.max(axis=0))
    value = weights[list(bag).index(token)] / weights.sum(axis=0) if token in bag else np.zeros(len(stage))
    radius = np.minimum(score_error(run) / 4, 1.0) + EPS * (16 + len(bag))
    return series(value, radius=radius, step=stage.step)


def label_margins(run: Run, scores: Floats) -> Floats:
    """(e_{n(x)} - e_v)^T W x over x and v != n(x), flat, of the scores e_v^T W x."""
    n = run.dataset.collocation.require_function()
    answer = [run.dataset.index[n[x]] for x in run.dataset.vocabulary]
    tokens = np.arange(run.dataset.V)
    others = np.ones(scores.shape, dtype=bool)
    others[answer, tokens] = False
    return np.asarray((scores[answer, tokens] - scores)[others])


def direction(stage: StageRecord, reference_radius: float, first: int) -> Series:
    """1 - cos(W^(t), W*) from step ``first`` on.

    The error bar joins the rounding of the trajectory and ``reference_radius``, the distance of the
    reference direction from the true one, both as distances of unit vectors. It is infinite where rounding
    hid the first gradient (W has no direction), or all digits of W.
    """
    kept = stage.step >= first
    distance = stage.distance[kept]
    known = ~np.isnan(distance) & (stage.distance_error[kept] < 2)
    bar = stage.distance_error[kept] + reference_radius
    # 1 - cos = distance^2 / 2
    radius = np.where(known, bar * (distance + bar / 2), np.inf)
    return series(np.where(known, stage.one_minus_cos[kept], 1.0), radius=radius, step=stage.step[kept])


def norm(stage: StageRecord, first: int) -> Series:
    """||W^(t)|| from step ``first`` on, with the error of W."""
    kept = stage.step >= first
    value = stage.norm[kept]
    return series(value, radius=state_error(stage)[kept] + FORMULA_ROUNDING * value, step=stage.step[kept])


def stage2_direction(run: Run, first: int) -> Series:
    """1 - cos(W_kq^(t), W*_kq) from step ``first`` on, enclosed if the run is certified."""
    measured = direction(run.training.stage2, run.kq.optimal().direction_radius, first)
    return enclosed(run, "one_minus_cos", measured)


def stage2_norm(run: Run, first: int) -> Series:
    """||W_kq^(t)|| from step ``first`` on, enclosed if the run is certified.

    With one relation every gradient is a multiple of W*, so W^(t) = t eta What regardless of rounding in a step's
    direction. Only the rounding of lengths remains, if no step was skipped because its gradient underflowed.
    """
    stage = run.training.stage2
    measured = norm(stage, first)
    if len(run.dataset.relations) == 1 and run.takes_own_steps:
        whole = stage.step[stage.step >= first] * run.eta
        every = measured.value > (1 - FORMULA_ROUNDING) * whole - run.eta / 2
        rounding = np.where(every, FORMULA_ROUNDING * measured.value, np.inf)
        measured = replace(measured, radius=np.minimum(measured.radius, rounding))
    return enclosed(run, "norm", measured)


def stage2_log_other_weight(run: Run, first: int) -> Series:
    """log(1 - min over samples of the optimal weight) from step ``first`` on, enclosed if the run is certified.

    It is the largest of -log(1 + odds) over the samples. A sample's odds are a sum over pairs of tokens, so the error
    of score differences bounds that of their logarithm, and of the result.
    """
    stage = run.training.stage2
    return _stage2_log(run, "log_other_weight", score_error(run) + log_rounding(stage.log_other_weight), first)


def stage2_log_loss(run: Run, first: int) -> Series:
    """log Loss from step ``first`` on, enclosed if the run is certified.

    The error of the logarithm of a sample's loss log(1 + sum_z exp(A (Phi_z - Phi_y))) is at most that of the
    exponents: A `moved_attention`, plus the error of A.
    """
    training, stage = run.training, run.training.stage2
    if not training.common_margin:
        radius = np.full(len(stage), np.inf)
    else:
        error = score_error(run)
        moved = moved_attention(error, stage.log_other_weight) + run.dataset.L_max * EPS
        off = training.margin * moved + training.margin_error + log_rounding(stage.log_loss)
        radius = np.where(np.isfinite(error), off, np.inf)
    return _stage2_log(run, "log_loss", radius, first)


def asymptotic_from(run: Run) -> float:
    """The step of stage 2 from which a run counts as asymptotic.

    eta t/||W*_kq|| is about the margin reached by training. It has to exceed by `SATURATED` the margin at which
    attention, also A times it, is one-hot in every sentence and rare samples are learned. If eta > ||W*_kq||, the run
    also needs about ||W*_kq||^2 steps, as many as a perceptron.
    """
    data, norm = run.dataset, run.norm_kq
    run.ask_premise()
    A = max(run.trained.margin, 0.0)  # for a recorded run, Algorithm 1's if unknown
    margin = SATURATED + np.log(data.L_max) - np.log(float(data.smallest_frequency)) + np.log1p(A)
    return float(max(margin * norm / run.eta, 10 * norm**2))


def late_records(run: Run, column: Literal["log_excess", "one_minus_cos"], radius: Floats) -> Series:
    """A column of stage 2 from t = 1 on, or that of `first_steps` if float64 loses it and the run is small.

    Enclosed records are among `first_steps`, and replace them if no fewer, counting t = 0.
    """
    stage = run.training.stage2
    kept = stage.step >= 1
    lost = len(radius) and np.isinf(radius[-1])
    few = run.training.enclosed is not None and len(stage) < min(run.steps2, ENCLOSED_STEPS)
    if (lost or few) and run.first_steps is not None:
        found = run.first_steps
        values, radii = found.columns[column]
        step, begun = found.step, found.step >= 1
        return replace(series(values[begun], radius=radii[begun], step=step[begun]), evidence=Evidence.CERTIFIED)
    return unknown_where_nan(getattr(stage, column)[kept], radius[kept], stage.step[kept])


def unknown_where_nan(value: Floats, radius: Floats, step: NDArray[np.int64]) -> Series:
    """Series along steps, with an infinite error bar for NaN, such as the direction of W = 0."""
    known = ~np.isnan(value)
    return series(np.where(known, value, 0.0), radius=np.where(known, radius, np.inf), step=step)


def excess_rate(run: Run) -> Series:
    """-d log(Loss - floor)/dt between recorded steps at a ratio of at least `APART`."""
    found = late_records(run, "log_excess", log_excess_error(run))
    if found.step is None or not len(found):
        return found
    chosen = [0]
    for i, t in enumerate(found.step.tolist()):
        if t >= APART * int(found.step[chosen[-1]]):
            chosen.append(i)
    step, log_excess, error = found.step[chosen], found.value[chosen], found.radius[chosen]
    gap, near = np.diff(step), step[1:] <= NEAR * step[:-1]
    rate = -np.diff(log_excess) / gap
    radius = (error[1:] + error[:-1]) / gap + FORMULA_ROUNDING * np.abs(rate)
    return replace(series(rate[near], radius=radius[near], step=step[1:][near]), evidence=found.evidence)


def _stage2_log(run: Run, column: Literal["log_loss", "log_other_weight"], radius: Floats, first: int) -> Series:
    stage = run.training.stage2
    kept = stage.step >= first
    value = getattr(stage, column)[kept]
    return enclosed(run, column, series(value, radius=radius[kept], step=stage.step[kept], log=True))


def enclosed(run: Run, column: str, measured: Series) -> Series:
    """The series, with values from the rigorous enclosure if that has all steps."""
    found = run.enclosure
    if found is None or measured.step is None or not np.isin(measured.step, found.step).all():
        return measured
    at = np.searchsorted(found.step, measured.step)
    values, radii = found.columns[column]
    return replace(measured, value=values[at], radius=radii[at], evidence=Evidence.CERTIFIED)
