"""Comparison of a recorded trajectory with Algorithm 1: its first departure, the size and the cause.

Each record is compared with the steps of Algorithm 1 from the previous record, or from W = 0 at step 0. A record
whose bar exceeds the length of Algorithm 1's move is undecided unless it agrees with Algorithm 1 anyway; but the length
of its step, lr, is checked too.

If stage 1 is not recorded, W_ov is taken from Algorithm 1. The run's own W_ov may differ by rounding, by at most
`stage1_rounding` in the file's precision, which enters the gradient's rounding.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from math import inf, isfinite

import numpy as np

from marginaudit.orders.arrays import UNIT_ROUNDOFF
from marginaudit.orders.ntp import Dataset
from marginaudit.training.departure import AGREES, Departure, StageComparison
from marginaudit.training.ntp.algorithm1 import train
from marginaudit.training.ntp.recorded.candidates import NOT_FROZEN, Frozen
from marginaudit.training.ntp.recorded.cause_search import ANOTHER_START, CauseSearch
from marginaudit.training.ntp.recorded.factored import FactoredStage, factored
from marginaudit.training.ntp.recorded.gradients import FIRST_ORDER, Stage1Loss, Stage2Loss
from marginaudit.training.ntp.recorded.predictions import (
    MOST_STEPS,
    Row,
    algorithm1_row,
    algorithm1_steps,
    direction,
    followed,
)
from marginaudit.training.ntp.recorded.rules import PerStep, Stage, stage1_rounding, textbook, unit
from marginaudit.training.ntp.recorded.trajectory import Trajectory
from marginaudit.training.ntp.records import Progress
from marginaudit.training.recorded_weights import Recorded

NUDGE = 1e-12
"""Relative change of the weights under which a gradient above its rounding keeps its direction."""

LADDER = tuple(int(T) for T in np.unique(np.rint(np.geomspace(1, MOST_STEPS, 40))))
"""Lengths of stage 1 to try first, then those between two of them."""

NOT_FROZEN_AS_RECORDED = f"{NOT_FROZEN} (as recorded at each step)"

OVER_GAPS = "Muon, schedules and minibatches are recognised in consecutive steps only: record every step"

STEPS1 = 900
"""Length of stage 1 if not recorded: that of the experiments of arXiv 2409.17335."""


def compared(
    dataset: Dataset,
    trajectory: Trajectory,
    progress: Callable[[float], None] = lambda _: None,
    steps1: int | None = None,
) -> list[StageComparison]:
    """Compare each recorded stage with Algorithm 1.

    Parameters
    ----------
    progress : callable
        Called with the share of the records compared so far.
    steps1 : int or None
        Step of stage 1 from which W_ov was frozen; None for the last recorded one, or `STEPS1`.

    Raises
    ------
    CollocationError
        n is not a function on the whole vocabulary.
    ValueError
        A step size is not positive and finite, or that step of stage 1 is not recorded.
    """
    eta0, eta = trajectory.step_sizes(dataset)
    first, second = trajectory.stage1, trajectory.stage2
    one = Stage(Stage1Loss(dataset), eta0, UNIT_ROUNDOFF)
    found = []
    trained = first is not None and trajectory.head == "trained"
    lengths = [len(first.step) if first is not None and trained else 0, 0 if second is None else len(second.step)]
    if first is not None and trained:
        own = _in_precision(one, first)
        found.append(_stage(own, first, None, lambda i: progress(i / sum(lengths)), _never))
    if second is not None:
        two = _in_precision(Stage(Stage2Loss(dataset), eta, UNIT_ROUNDOFF, W_ov=np.zeros(0), before=one), second)

        def after(T: int) -> Stage:
            if first is not None:
                i = first.step.tolist().index(T)
                distance = float(np.linalg.norm(first.excess(i)))
                return replace(two, W_ov=np.asarray(first.weights[i], dtype=np.float64), distance=distance)
            W_ov = train(dataset, steps1=T, steps2=0, lr1=eta0).W_ov
            with np.errstate(all="ignore"):
                return replace(two, W_ov=W_ov, distance=stage1_rounding(_in_precision(one, second), T))

        known = {0: np.zeros_like(one.loss.E)}

        def near(T: int) -> Stage:
            """Stage 2 with W_ov after T float64 steps, resumed from the nearest cached step."""
            before = max(t for t in known if t <= T)
            known[T] = textbook(one, T - before, known[before])
            return replace(two, W_ov=known[T])

        def frozen(run: Recorded, i: int) -> tuple[int, Stage]:
            if first is None:
                T = _between(cache(lambda T: _error(near(T), run, i)))
            else:
                T = min(first.step.tolist(), key=lambda T: _error(after(T), run, i))
            return T, after(T)

        last = STEPS1 if first is None else int(first.step[-1])
        stage = after(last if steps1 is None else steps1)
        reached = lambda i: progress((lengths[0] + i) / sum(lengths))  # noqa: E731
        of_head = frozen if trajectory.head == "trained" else _never
        words, per_step = _per_step(dataset, trajectory)
        plain = _stage(stage, second, first, reached, of_head, search=per_step is None)
        if per_step is not None:
            stage = replace(stage, per_step=per_step)
            plain = _declared(stage, second, words, plain, reached)
        found.append(_as_factored(stage, second, words, plain, reached))
    return found


def _per_step(dataset: Dataset, trajectory: Trajectory) -> tuple[str, PerStep | None]:
    """W_ov and samples that are recorded for each step of stage 2, in words too."""
    W_ov = trajectory.stage1 if trajectory.head == "joint" else None
    words = [NOT_FROZEN_AS_RECORDED] if W_ov is not None else []
    samples = trajectory.samples(dataset)
    words += [] if samples is None else ["minibatches as recorded"]
    return " and ".join(words), PerStep(W_ov, samples) if words else None


def _in_precision(stage: Stage, run: Recorded) -> Stage:
    return replace(stage, u=UNIT_ROUNDOFF + run.roundoff, least=run.least)


def _never(run: Recorded, i: int) -> None:
    """No frozen W_ov in stage 1."""


def _stage(
    stage: Stage, run: Recorded, first: Recorded | None, reached: Progress, frozen: Frozen, *, search: bool = True
) -> StageComparison:
    """Compare a stage up to its first departure, or the one after a start other than zero; ``search`` for the cause."""
    decided, start, note = 0, None, ""
    with np.errstate(all="ignore"):
        for i, row in enumerate(followed(stage, run, algorithm1_steps)):
            reached(i)
            if not row.known.all() or not row.within():
                of = CauseSearch(stage, run, first, frozen, i, row, int(start is not None))
                departure = _departure(stage, row, row.error, row.bar, *(of.cause() if search else (None, None)))
                if search and departure.cause is None and not of.gapless:
                    note = note or OVER_GAPS
            elif (row.decided and row.bar <= AGREES * row.moved) or (off := _off_in_length(stage, run, i, row)) is None:
                decided += int(row.decided)
                note = note or ("" if row.decided else _underflow(stage, run, i, row))
                continue
            else:
                departure = _departure(stage, row, *off, f"a step of length {row.length:.4g}", row.length)
            decided += 1
            if start is None and i == 0 and departure.cause in (None, ANOTHER_START):
                start = departure
            else:
                return _compared(stage, run, decided, start, departure, note)
    return _compared(stage, run, decided, start, None, note)


def _declared(stage: Stage, run: Recorded, words: str, plain: StageComparison, reached: Progress) -> StageComparison:
    """Compare a stage with the rule that its file declares, from its first departure from Algorithm 1 on."""
    if plain.departs_at is None:
        return plain
    found = _stage(stage, run, None, reached, _never)
    last = found.later if found.goes_on else found.departs_at
    start = f"{ANOTHER_START}; " if found.start == "given" else ""
    departs = replace(plain.departs_at, cause=f"{start}{words}", value=None)
    return replace(found, departs_at=departs, goes_on=True, later=last, declared=words)


def _as_factored(stage: Stage, run: Recorded, words: str, plain: StageComparison, reached: Progress) -> StageComparison:
    """Compare the tensors that a run trains in place of W_kq, if the steps of W_kq follow no known rule."""
    if plain.rule("known") is not None or (parts := factored(stage, run)) is None:
        return plain
    of_parts, trained, how = parts
    found = _declared(of_parts, trained, " and ".join(filter(None, (words, how))), plain, reached)
    return plain if found.rule("known") is None else found


def _compared(
    stage: Stage, run: Recorded, decided: int, start: Departure | None, departure: Departure | None, note: str
) -> StageComparison:
    records = len(run.step)
    if not note and decided < records and 2 * stage.distance * np.linalg.norm(stage.loss.E, axis=1).max() > FIRST_ORDER:
        note = f"rounding leaves W_ov open in {run.precision}: record its last value as stage 1"
    if start is None:
        return StageComparison(stage.number, stage.lr, records, decided, departure, note=note)
    return StageComparison(
        stage.number, stage.lr, records, decided, start, "given", goes_on=True, later=departure, note=note
    )


def _departure(stage: Stage, row: Row, error: float, bar: float, cause: str | None, value: float | None) -> Departure:
    if isinstance(stage, FactoredStage):
        return Departure(stage.number, row.step, error, bar, stage.place(np.nan_to_num(row.apart)), cause, value)
    columns = row.apart @ stage.loss.E.T
    place = int(np.linalg.norm(columns, axis=0).argmax())
    return Departure(stage.number, row.step, error, bar, stage.loss.names[place], cause, value)


def _underflow(stage: Stage, run: Recorded, i: int, row: Row) -> str:
    """Note on a record that only underflow of squares in the norm explains, with W_ov as assumed."""
    exact = algorithm1_row(replace(stage, least=0.0), run, i)
    if exact.within() and _off_in_length(replace(stage, least=0.0), run, i, exact) is None:
        return ""
    if _off_in_length(replace(stage, distance=0.0), run, i, row) is not None:
        return ""
    lengths = f"a step of length {row.length:.6g}, not {stage.lr:.6g}"
    return f"at step {row.step} of stage {stage.number} the norm underflowed in {run.precision}: {lengths}"


def _off_in_length(stage: Stage, run: Recorded, i: int, row: Row) -> tuple[float, float] | None:
    """Deviation of a step's length from lr and its error bar, if the deviation is larger; else None.

    Squares in the norm may underflow in the file's precision: over several steps, most at the first or last. Several
    steps move by at most lr each. A gradient of pure rounding has neither direction nor length.
    """
    W, before = (np.asarray(run.weights[i - 1], np.float64), run.step[i - 1]) if i else (np.zeros_like(row.apart), 0)
    taken = int(row.step - before)
    stage = stage.at(int(before))
    gradient = stage.gradient(W)
    nudge = NUDGE * (1 + float(np.linalg.norm(W))) * direction(np.ones_like(W))
    turned = unit(stage.gradient(W + nudge), stage.u)[0] - unit(gradient, stage.u)[0]
    if taken > MOST_STEPS or not np.any(gradient.value) or np.linalg.norm(turned) > AGREES:
        return None
    excess = row.length - taken * stage.lr
    share = stage.length_rounding(W, gradient)
    if taken > 1:
        last = np.asarray(run.weights[i], np.float64)
        share = max(share, stage.length_rounding(last, stage.gradient(last)))
    bar = taken * (row.written + stage.lr * share)  # each step is rounded to the weights
    error = abs(excess) if taken == 1 else excess
    return (error, bar) if error > bar else None


def _error(stage: Stage, run: Recorded, i: int) -> float:
    """Distance of a record from a stage's prediction; infinite beyond float64."""
    error = algorithm1_row(stage, run, i).error
    return error if isfinite(error) else inf


def _between(error: Callable[[int], float]) -> int:
    """Length of stage 1 with the least error, on the `LADDER` or between two of its rungs."""
    best = min(range(len(LADDER)), key=lambda j: error(LADDER[j]))
    low, high = LADDER[max(best - 1, 0)], LADDER[min(best + 1, len(LADDER) - 1)]
    while high - low > 2:
        left, right = low + (high - low) // 3, high - (high - low) // 3
        low, high = (low, right) if error(left) < error(right) else (left, high)
    return min(range(low, high + 1), key=error)
