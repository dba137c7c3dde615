"""Training by Algorithm 1 for `marginaudit train`."""

from collections.abc import Callable
from typing import Any

from marginaudit.claims.answers.results import Trained
from marginaudit.claims.ntp.algorithm1 import train_against
from marginaudit.claims.ntp.config import Config
from marginaudit.claims.ntp.run import Run
from marginaudit.claims.ntp.solving import trainable
from marginaudit.claims.values.json_data import finite
from marginaudit.margins.ntp import require_dense
from marginaudit.orders import InputError
from marginaudit.orders.ntp import Dataset
from marginaudit.training.ntp import MOST_TRUE_STEPS, Progress, StageRecord, no_closed_form

COLUMNS = (
    "step",
    "loss",
    "norm",
    "one_minus_cos",
    "distance",
    "gradient_norm",
    "min_optimal_weight",
    "method",
    "error",
)


def train(dataset: Dataset, config: Config, progress: Progress, notify: Callable[[str], None], origin: str) -> Trained:
    """Train both stages; step 0 is the zero initialisation and has no direction.

    Raises
    ------
    InputError
        n is not a function on the whole vocabulary, there are too many tokens, or a stage is too long.
    """
    run = Run(trainable(dataset, origin), config)
    require_dense(dataset, "W_ov", "none of which is zero")
    require_closed_form(config, no_closed_form(dataset, config.optimizer), origin)
    ov, kq = run.solved("ov"), run.solved("kq")
    for name, solution in (("W*_ov", ov), ("W*_kq", kq)):
        if solution is None:
            notify(f"{name}: the solver's answer is not proved, so its directions are null")
    if config.steps2 is not None and config.steps2 > MOST_TRUE_STEPS and run.no_fast_forward is not None:
        raise InputError(
            f"{origin}: --steps2 {config.steps2}",
            got=f"no fast-forward ({run.no_fast_forward})",
            expected=f"at most {MOST_TRUE_STEPS} steps",
        )
    result = train_against(dataset, config, ov, kq, progress)
    if result.stopped:
        notify(f"{dataset.name}: stage 2 ends at step {result.stage2.step[-1]}: {result.stopped}")
    if run.not_as_given:
        notify(run.not_as_given)
    of = ", of the nearest orthonormal embedding" if run.not_as_given else ""
    columns = {"stage1": (f"Stage 1: W_ov{of}", COLUMNS), "stage2": (f"Stage 2: W_kq{of}", COLUMNS)}
    answer: dict[str, Any] = {"stage1": stage_rows(result.stage1), "stage2": stage_rows(result.stage2)}
    return Trained(answer | ({"note": run.not_as_given} if run.not_as_given else {}), columns)


def require_closed_form(config: Config, reason: str | None, origin: str) -> None:
    """Refuse a stage 1 too long for true steps if there is no closed form, for a ``reason``.

    Raises
    ------
    InputError
    """
    if reason is not None and config.steps1 > MOST_TRUE_STEPS:
        raise InputError(
            f"{origin}: --steps1 {config.steps1}",
            got=f"no closed form ({reason})",
            expected=f"at most {MOST_TRUE_STEPS} steps",
        )


def stage_rows(stage: StageRecord) -> list[dict[str, Any]]:
    """Recorded steps as rows; non-finite numbers become None."""
    columns = finite(stage.columns())
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
