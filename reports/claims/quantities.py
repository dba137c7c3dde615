"""Quantities of a run, as series with their error bars, that several claims measure."""

from typing import Literal

from marginaudit.reports.run import Run
from marginaudit.reports.series import FORMULA_ROUNDING, Series, series
from marginaudit.training import StageRecord


def no_direction_ov(run: Run) -> str | None:
    """Why stage 1 has no direction to compare, or None."""
    if run.ov.status == "infeasible":
        return "W*_ov does not exist: no W_ov has all margins positive."
    if run.norm_ov == 0:
        return "The vocabulary has one token, so W*_ov = 0 has no direction."
    return _not_trained(run, 1)


def no_direction_kq(run: Run) -> str | None:
    """Why stage 2 has no direction to compare, or None."""
    if run.kq.status == "infeasible":
        return "W*_kq does not exist: no W_kq has all margins positive."
    if run.norm_kq == 0:
        return "No sample relates two tokens, so W*_kq = 0 has no direction."
    if run.config.steps1 == 0:
        return "Stage 1 has no step, so W_ov = 0 and stage 2 has no gradient."
    return _not_trained(run, 2)


def no_common_margin(run: Run) -> str | None:
    """Why the infimum of the loss over W_kq has no closed form, or None."""
    reason = no_direction_kq(run)
    if reason is None and not run.training.common_margin:
        return "The margins of W_ov^(T) are not one A, so the infimum of the loss has no closed form."
    return reason


def _not_trained(run: Run, stage: Literal[1, 2]) -> str | None:
    steps = run.config.steps1 if stage == 1 else run.config.steps2
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
