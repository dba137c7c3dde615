"""Whether a recorded trajectory is Algorithm 1's: its first step that departs, by how much, and where.

Every record is compared with one step of Algorithm 1 from the record before it, or with as many as lie between; before
the first one lies W = 0 at step 0. What rounding explains is the bar:

- of one step, lr times what rounding may do to the direction (`unit`), and u times the weights, once for the
  subtraction, twice for writing both records;
- of several, `SAFETY` times the distance of a second run whose steps are each off by that much, always in the same
  random direction, times sqrt(n), n the weights that move: a share of 1/sqrt(n) of it lies, about, in the direction in
  which errors grow most. Such a bar is an estimate.

Where the bar exceeds the distance that Algorithm 1 goes, rounding explains anything, and nothing is decided unless
the record agrees with it all the same. But a step has the length lr there too.

Of a run without stage 1, W_ov is Algorithm 1's, and rounding may have led the run's own one elsewhere: as far as a
textbook stage 1 in the file's precision. `SAFETY` times what that changes in the step then adds to the bar.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import inf, isfinite

import numpy as np
from numpy.typing import NDArray

from marginaudit.orders.arrays import UNIT_ROUNDOFF, Floats
from marginaudit.orders.ntp import Dataset
from marginaudit.training.conformity import AGREES, CLEAR, Compared, Departure
from marginaudit.training.ntp.algorithm1 import train
from marginaudit.training.ntp.recorded.causes import Cause, Frozen, causes
from marginaudit.training.ntp.recorded.gradients import Gradient, Stage1Loss, Stage2Loss
from marginaudit.training.ntp.recorded.rules import Rule, Stage, normalised, textbook, unit
from marginaudit.training.ntp.recorded.trajectory import Trajectory
from marginaudit.training.ntp.records import Progress
from marginaudit.training.trajectory import Recorded

SAFETY = 4.0
"""Safety factor on the difference of the two runs, as error of several steps."""

CONFIRMED = 3
"""Further records that a cause has to explain, where there are as many."""

FITS = 8
"""Rounds in which a cause's number is found; where no step is left out the second is exact to rounding."""

LARGEST = 1e100
"""A step size, at most."""

CLOSE = 1e-9
"""Relative change of a number at which it is found: the difference of two such runs is rounding."""

MOST_STEPS = 20_000
"""Steps between two records, at most; what lies farther apart is not compared."""

FIRST_STEPS = 500
"""Rules with a memory, which run from step 0, are tried only for departures within this many steps."""

NUDGE = 1e-12
"""Relative change of the weights under which a gradient above its rounding keeps its direction."""

LADDER = tuple(int(T) for T in np.unique(np.rint(np.geomspace(1, MOST_STEPS, 40))))
"""Lengths of stage 1 that are tried before those between two of them."""

STEPS1 = 900
"""The length of stage 1 where it is not recorded: that of the experiments of arXiv 2409.17335."""


@dataclass(frozen=True)
class _Row:
    """A record beside the weights that a rule predicts from the one before."""

    step: int
    apart: Floats
    bar: float
    moved: float
    length: float
    written: float

    @property
    def error(self) -> float:
        return float(np.linalg.norm(self.apart))

    @property
    def known(self) -> NDArray[np.bool_]:
        """The entries that the rule predicts."""
        return np.asarray(~np.isnan(self.apart))

    def within(self, spread: float = 0.0) -> bool:
        """Whether rounding explains the distance; never one beyond float64."""
        error = float(np.linalg.norm(self.apart[self.known]))
        return error <= self.bar + spread and isfinite(error)

    @property
    def decided(self) -> bool:
        """Whether it is Algorithm 1's, once it is within its bar."""
        return self.step == 0 or self.bar < self.moved or self.error <= AGREES * self.moved


def compared(
    dataset: Dataset,
    trajectory: Trajectory,
    progress: Callable[[float], None] = lambda _: None,
    steps1: int | None = None,
) -> list[Compared]:
    """Both stages, as far as they are recorded.

    Parameters
    ----------
    dataset : Dataset
    trajectory : Trajectory
    progress : callable
        Called with the share of the records that are compared.
    steps1 : int or None
        The step of stage 1 from which W_ov was frozen; None for the last recorded one, or `STEPS1`.

    Raises
    ------
    CollocationError
        n is not a function on the whole vocabulary.
    ValueError
        A step size is not positive and finite, or stage 1 is recorded without the step.
    """
    eta0, eta = trajectory.step_sizes(dataset)
    first, second = trajectory.stage1, trajectory.stage2
    one = Stage(Stage1Loss(dataset), eta0, UNIT_ROUNDOFF)
    found = []
    lengths = [0 if recorded is None else len(recorded.step) for recorded in (first, second)]
    if first is not None:
        own = replace(one, u=UNIT_ROUNDOFF + first.roundoff)
        found.append(_stage(own, first, None, lambda i: progress(i / sum(lengths)), _never))
    if second is not None:
        two = Stage(Stage2Loss(dataset), eta, UNIT_ROUNDOFF + second.roundoff, np.zeros(0), before=one)

        def after(T: int) -> Stage:
            if first is not None:
                return replace(two, W_ov=np.asarray(first.weights[first.step.tolist().index(T)], dtype=np.float64))
            W_ov = train(dataset, steps1=T, steps2=0, lr1=eta0).W_ov
            return replace(two, W_ov=W_ov, aside=textbook(one, T, second.precision))

        known = {0: np.zeros_like(one.loss.E)}

        def near(T: int) -> Stage:
            """`after` with a textbook's rounding, which goes on from the last known step."""
            before = max(t for t in known if t <= T)
            known[T] = textbook(one, T - before, np.dtype(np.float64), known[before])
            return replace(two, W_ov=known[T])

        def frozen(run: Recorded, i: int) -> tuple[int, Stage]:
            if first is None:
                T = _between(cache(lambda T: _error(near(T), run, i)))
            else:
                T = min(first.step.tolist(), key=lambda T: _error(after(T), run, i))
            return T, after(T)

        last = STEPS1 if first is None else int(first.step[-1])
        reached = lambda i: progress((lengths[0] + i) / sum(lengths))  # noqa: E731
        found.append(_stage(after(last if steps1 is None else steps1), second, first, reached, frozen))
    return found


def _never(run: Recorded, i: int) -> None:
    """Stage 1 has no W_ov of a stage before."""


def _stage(stage: Stage, run: Recorded, first: Recorded | None, reached: Progress, frozen: Frozen) -> Compared:
    decided = 0
    with np.errstate(all="ignore"):
        for i, row in enumerate(_followed(stage, run, lambda stage: normalised(stage, stage.lr))):
            reached(i)
            if not row.known.all() or not row.within():
                cause, value = _cause(stage, run, first, i, row, frozen)
                found = _departure(stage, row, row.error, row.bar, cause, value)
            elif row.decided or (off := _off_in_length(stage, run, i, row)) is None:
                decided += int(row.decided)
                continue
            else:
                found = _departure(stage, row, *off, f"a step of length {row.length:.4g}", row.length)
            return Compared(stage.number, stage.lr, len(run.step), decided + 1, found)
    return Compared(stage.number, stage.lr, len(run.step), decided, None)


def _departure(stage: Stage, row: _Row, error: float, bar: float, cause: str | None, value: float | None) -> Departure:
    columns = row.apart @ stage.loss.E.T
    place = int(np.linalg.norm(columns, axis=0).argmax())
    return Departure(stage.number, row.step, error, bar, stage.loss.names[place], cause, value)


def _off_in_length(stage: Stage, run: Recorded, i: int, row: _Row) -> tuple[float, float] | None:
    """Deviation of a step's length from lr, and the part that rounding explains, if that is less; or None.

    The norm is a sum of k squares, each of which may underflow in the file's precision: of several steps most at one of
    both ends. The lengths of several steps add up to no more than that number of lr. A gradient that is rounding alone
    has no direction, and no length either.
    """
    W, before = (np.asarray(run.weights[i - 1], np.float64), run.step[i - 1]) if i else (np.zeros_like(row.apart), 0)
    taken = int(row.step - before)
    gradient = stage.gradient(W)
    nudge = NUDGE * (1 + float(np.linalg.norm(W))) * _direction(np.ones_like(W))
    turned = unit(stage.gradient(W + nudge), stage.u)[0] - unit(gradient, stage.u)[0]
    if taken > MOST_STEPS or not np.any(gradient.value) or np.linalg.norm(turned) > AGREES:
        return None
    excess = row.length - taken * stage.lr
    k, least = np.count_nonzero(gradient.value), float(np.finfo(run.precision).smallest_subnormal)
    left = _squares_left(gradient)
    if taken > 1:
        left = min(left, _squares_left(stage.gradient(np.asarray(run.weights[i], np.float64))))
    share = (k / 2 + 4) * stage.u + (k * least / left if left else inf)
    bar = taken * (row.written + stage.lr * share)  # each step is rounded to the weights
    error = abs(excess) if taken == 1 else excess
    return (error, bar) if error > bar else None


def _squares_left(gradient: Gradient) -> float:
    """The sum of squares that rounding leaves of a gradient, at least."""
    return float(np.sum(np.maximum(np.abs(gradient.value) - gradient.rounding, 0.0) ** 2))


def _followed(
    stage: Stage, run: Recorded, make: Callable[[Stage], Rule], first: int = 0, last: int | None = None
) -> Iterator[_Row]:
    """The records from ``first`` to ``last``, each beside a rule's prediction from the one before."""
    u = stage.u
    last = len(run.step) - 1 if last is None else min(last, len(run.step) - 1)
    step, other = make(stage), make(stage if stage.aside is None else replace(stage, W_ov=stage.aside))
    gaps = np.diff(run.step, prepend=0)[first : last + 1].max(initial=0) > 1
    W = np.asarray(run.weights[first - 1], dtype=np.float64) if first else np.zeros(run.weights.shape[1:])
    before = int(run.step[first - 1]) if first else 0
    for i in range(first, last + 1):
        t, recorded = int(run.step[i]), np.asarray(run.weights[i], dtype=np.float64)
        here, there, bar = W, W, 0.0
        far = t - before > MOST_STEPS
        for _ in range(0 if far else t - before):
            change, bar = step(here)
            here = here + change
            if gaps or stage.aside is not None:
                aside, off = other(there)
                off += u * float(np.linalg.norm(there))
                there = there + aside + (off * _direction(aside) if gaps else 0)
        if far:
            bar = inf
        elif t - before > 1:
            bar = SAFETY * float(np.sqrt(np.count_nonzero(there - W)) * np.linalg.norm(here - there))
        elif stage.aside is not None:
            bar += SAFETY * float(np.linalg.norm(np.nan_to_num(here - there)))
        length = float(np.linalg.norm(recorded - W))
        written = u * float(np.linalg.norm(W) + 2 * np.linalg.norm(recorded))
        moved = float(np.linalg.norm(here - W))
        yield _Row(t, recorded - here, bar + written if t else 0.0, moved, length, written)
        W, before = recorded, t


def _direction(change: Floats) -> Floats:
    """A random unit vector among the weights that move, or among all where none does, always the same."""
    found = np.random.default_rng(0).normal(size=change.shape) * ((change != 0) | (not change.any()))
    norm = float(np.linalg.norm(found))
    return np.asarray(found / norm) if norm > 0 else found


def _error(stage: Stage, run: Recorded, i: int) -> float:
    """Distance of a record from a stage's next step; infinite where float64 does not hold it."""
    (row,) = _followed(stage, run, lambda stage: normalised(stage, stage.lr), i, i)
    return row.error if isfinite(row.error) else inf


def _between(error: Callable[[int], float]) -> int:
    """The length of stage 1 with the least error, on the `LADDER` or between two of its rungs."""
    best = min(range(len(LADDER)), key=lambda j: error(LADDER[j]))
    low, high = LADDER[max(best - 1, 0)], LADDER[min(best + 1, len(LADDER) - 1)]
    while high - low > 2:
        left, right = low + (high - low) // 3, high - (high - low) // 3
        low, high = (low, right) if error(left) < error(right) else (left, high)
    return min(range(low, high + 1), key=error)


def _cause(
    stage: Stage, run: Recorded, first: Recorded | None, i: int, row: _Row, frozen: Frozen
) -> tuple[str | None, float | None]:
    """The first cause that explains the record and the next ones, and its last number."""
    if row.step == 0 or (i == 0 and _next_conform(stage, run, i)):
        return "another start than zero", None
    far = run.step[: i + CONFIRMED + 1][-1] > FIRST_STEPS
    for cause in causes(stage, run, first, i, frozen):
        if far and cause.remembers:
            continue
        values = _explained(cause.stage or stage, run, i, row, cause)
        if values is not None:
            return cause.words.format(*values), values[-1] if values else None
    return None, None


def _next_conform(stage: Stage, run: Recorded, i: int) -> bool:
    rows = list(_followed(stage, run, lambda stage: normalised(stage, stage.lr), i + 1, i + CONFIRMED))
    return bool(rows) and all(next_row.within() and next_row.bar < next_row.moved for next_row in rows)


def _explained(stage: Stage, run: Recorded, i: int, row: _Row, cause: Cause) -> list[float] | None:
    """The numbers with which the record and the next ones conform under a cause, or None."""
    first = 0 if cause.remembers else i

    def rows(values: Sequence[float]) -> list[_Row]:
        found = _followed(stage, run, lambda stage: cause.rule(stage, *values), first, i + CONFIRMED)
        return list(found)[i - first :]

    values, spread = [p for p, _ in cause.starts], 0.0
    for k, start in enumerate(cause.starts):
        number = _number(lambda x: rows([*values[:k], x, *values[k + 1 :]]), *start)  # noqa: B023
        if number is None:
            return None
        values[k] = number[0]
        spread += SAFETY * number[1]
    return values if _fits(rows(values), row, spread) else None


def _number(rows: Callable[[float], list[_Row]], p: float, q: float) -> tuple[float, float] | None:
    """The number with which the first record that depends on it is met, and this record's bar."""
    at_p, at_q = rows(p), rows(q)
    moved = [
        k
        for k, (one, other) in enumerate(zip(at_p, at_q, strict=True))
        if not np.array_equal(one.apart, other.apart, equal_nan=True)
    ]
    if not moved:
        return None
    k = moved[0]
    for _ in range(FITS):
        if abs(q - p) <= CLOSE * abs(q):
            break
        slope = (at_q[k].apart - at_p[k].apart) / (q - p)
        if not np.nansum(slope**2) > 0:
            break
        p, q = q, q - float(np.nansum(slope * at_q[k].apart) / np.nansum(slope**2))
        if not 0 < q < LARGEST:
            return None
        at_p, at_q = at_q, rows(q)
    return q, at_q[k].bar


def _fits(rows: list[_Row], departure: _Row, spread: float) -> bool:
    """Whether all rows are within their bars, the first one much closer than it departs where the rule predicts it.

    The later ones also inherit the error of a number found at the first.
    """
    at, *later = rows
    departs = float(np.linalg.norm(departure.apart[at.known]))
    return at.within() and at.bar < departs / CLEAR and all(one.within(spread) for one in later)
