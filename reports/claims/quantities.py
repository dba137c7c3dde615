"""Quantities of a run, as series with their error bars, that several claims measure."""

from dataclasses import replace
from typing import Literal

import numpy as np

from marginaudit.reports.error_bars import FORMULA_ROUNDING, Series, series
from marginaudit.reports.run import Run
from marginaudit.reports.verdict import Evidence
from marginaudit.training import StageRecord

LOG_ROUNDING = 1e-12
"""Error of a logarithm that the model computes, relative to its size (absolute below 1)."""


def no_direction_ov(run: Run) -> str | None:
    """Why stage 1 has no direction to compare, or None."""
    if run.ov.status == "infeasible":
        return "W*_ov does not exist: no W_ov has all margins positive."
    if run.norm_ov == 0:
        return "The vocabulary has one token, so W*_ov = 0 has no direction."
    return _not_trained(run, 1)


def no_direction_kq(run: Run) -> str | None:
    """Why stage 2 has no direction to compare, or None."""
    return nothing_to_learn(run, "has no direction") or _not_trained(run, 2)


def nothing_to_learn(run: Run, if_zero: str) -> str | None:
    """Why stage 2 has no W*_kq or no gradient, or None; ``if_zero`` says what W*_kq = 0 means for the statement."""
    if run.kq.status == "infeasible":
        return "W*_kq does not exist: no W_kq has all margins positive."
    if run.norm_kq == 0:
        return f"No sample relates two tokens, so W*_kq = 0 {if_zero}."
    if run.config.steps1 == 0:
        return "Stage 1 has no step, so W_ov = 0 and stage 2 has no gradient."
    return None


def no_common_margin(run: Run) -> str | None:
    """Why the infimum of the loss over W_kq has no closed form, or None."""
    reason = no_direction_kq(run)
    if reason is None and not run.training.common_margin:
        return "The margins of W_ov^(T) are not one A, so the infimum of the loss has no closed form."
    return reason


def _not_trained(run: Run, stage: Literal[1, 2]) -> str | None:
    steps = run.config.steps1 if stage == 1 else run.steps2
    if steps < 2:
        return f"Stage {stage} has {steps} steps and the statement speaks from t = 2."
    if run.config.at is not None and not any(2 <= t <= steps for t in run.config.at):
        return f"No step of stage {stage} from t = 2 on was recorded."
    return None


def direction(stage: StageRecord, reference_radius: float, first: int) -> Series:
    """1 - cos(W^(t), W*) from step ``first`` on.

    The error bar joins the rounding of the trajectory and ``reference_radius``, the distance of the
    reference direction from the true one, both as distances of unit vectors.
    """
    kept = stage.step >= first
    distance = stage.distance[kept]
    bar = stage.distance_error[kept] + reference_radius
    # 1 - cos = distance^2 / 2
    return series(stage.one_minus_cos[kept], radius=bar * (distance + bar / 2), step=stage.step[kept])


def norm(stage: StageRecord, first: int) -> Series:
    """||W^(t)|| from step ``first`` on; its relative rounding is at most that of the unit vector."""
    kept = stage.step >= first
    value = stage.norm[kept]
    return series(value, radius=(stage.distance_error[kept] + FORMULA_ROUNDING) * value, step=stage.step[kept])


def stage2_direction(run: Run, first: int) -> Series:
    """1 - cos(W_kq^(t), W*_kq) from step ``first`` on, enclosed where the run is certified."""
    measured = direction(run.training.stage2, run.kq.direction_radius or 0.0, first)
    return enclosed(run, "one_minus_cos", measured)


def stage2_norm(run: Run, first: int) -> Series:
    """||W_kq^(t)|| from step ``first`` on, enclosed where the run is certified.

    With one relation the gradient is a multiple of W* wherever W is, so that W^(t) = t eta What whatever rounding does
    to single steps: only that of their length is left.
    """
    measured = norm(run.training.stage2, first)
    if len(run.dataset.relations) == 1:
        measured = replace(measured, radius=np.minimum(measured.radius, FORMULA_ROUNDING * measured.value))
    return enclosed(run, "norm", measured)


def stage2_log(run: Run, column: Literal["log_loss", "log_other_weight"], first: int) -> Series:
    """A logarithm that stage 2 records, from step ``first`` on, enclosed where the run is certified."""
    stage = run.training.stage2
    kept = stage.step >= first
    value = getattr(stage, column)[kept]
    radius = LOG_ROUNDING * np.maximum(1, np.abs(value))
    return enclosed(run, column, series(value, radius=radius, step=stage.step[kept], log=True))


def enclosed(run: Run, column: str, measured: Series) -> Series:
    """The series with its values from the rigorous enclosure, where that has all of its steps."""
    found = run.enclosure
    if found is None or measured.step is None or not np.isin(measured.step, found.step).all():
        return measured
    at = np.searchsorted(found.step, measured.step)
    values, radii = found.columns[column]
    return replace(measured, value=values[at], radius=radii[at], evidence=Evidence.CERTIFIED)
