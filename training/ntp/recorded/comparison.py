"""Comparison of a recorded trajectory with Algorithm 1: its first departure, the size and the cause.

Each record is compared with the steps of Algorithm 1 from the previous record, or from W = 0 at step 0. The error bar
for rounding is

- of one step, lr times the rounding of the direction (`unit`), plus u times the weights: once for the subtraction,
  twice for writing both records;
- of several steps, an estimate: `SAFETY` times the distance of a second run, each step of which is off by that much in
  one random direction, times sqrt(n), n the number of weights that move, as about 1/sqrt(n) of it lies in the direction
  in which errors grow most.

A record whose bar exceeds the length of Algorithm 1's move is undecided unless it agrees with Algorithm 1 anyway; but
the length of its step, lr, is checked too.

If stage 1 is not recorded, W_ov is taken from Algorithm 1. The run's own W_ov may differ by rounding, by at most
`stage1_rounding` in the file's precision, which enters the gradient's rounding.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from math import inf, isfinite

import numpy as np
from numpy.typing import NDArray

from marginaudit.orders.arrays import UNIT_ROUNDOFF, Floats
from marginaudit.orders.ntp import Dataset
from marginaudit.training.departure import (
    AGREES,
    CLEAR,
    FEWEST,
    Departure,
    StageComparison,
    lower_precision,
    scheduled,
    unlike,
)
from marginaudit.training.ntp.algorithm1 import train
from marginaudit.training.ntp.recorded.candidates import CandidateRule, Frozen, causes, gapless, minibatch, muon
from marginaudit.training.ntp.recorded.gradients import FIRST_ORDER, Stage1Loss, Stage2Loss
from marginaudit.training.ntp.recorded.rules import (
    Rule,
    Stage,
    normalised,
    stage1_rounding,
    textbook,
    unit,
)
from marginaudit.training.ntp.recorded.trajectory import Trajectory
from marginaudit.training.ntp.records import Progress
from marginaudit.training.recorded_weights import Recorded

SAFETY = 4.0
"""Safety factor of the error bar of several steps over the distance of the two runs."""

CONFIRMED, FURTHER = 3, 60
"""Number of next records that a cause has to explain, then number of steps whose records it has to explain, too."""

FITS = 8
"""Iterations to fit a cause's number; without gaps between records the second is exact to rounding."""

LARGEST = 1e100
"""Largest value of a number, such as a step size."""

CLOSE, APART = 1e-9, 1e-5
"""Relative change of a number at convergence, where the difference of two runs is rounding; and that of numerical
derivatives, where it is not."""

UNEVEN = 0.1
"""Least relative range of step sizes that rise and fall repeatedly; a smaller one may be rounding of a norm."""

MOST_STEPS = 20_000
"""Largest gap between two records in steps; beyond it they are not compared."""

FIRST_STEPS = 500
"""Rules with a memory, which run from step 0, are tried only for departures within this many steps."""

NUDGE = 1e-12
"""Relative change of the weights under which a gradient above its rounding keeps its direction."""

LADDER = tuple(int(T) for T in np.unique(np.rint(np.geomspace(1, MOST_STEPS, 40))))
"""Lengths of stage 1 to try first, then those between two of them."""

ANOTHER_START = "another start than zero"

STEPS1 = 900
"""Length of stage 1 if not recorded: that of the experiments of arXiv 2409.17335."""


@dataclass(frozen=True)
class _Row:
    """A record, and a rule's prediction of it from the previous one."""

    step: int
    apart: Floats
    bar: float
    by: Floats
    length: float
    written: float

    @property
    def error(self) -> float:
        return float(np.linalg.norm(self.apart))

    @property
    def moved(self) -> float:
        """Distance by which the rule moves the weights."""
        return float(np.linalg.norm(self.by))

    @property
    def known(self) -> NDArray[np.bool_]:
        """Mask of the entries with a prediction."""
        return np.asarray(~np.isnan(self.apart))

    def within(self, spread: float = 0.0) -> bool:
        """Whether the distance is within the bar; False beyond float64."""
        error = float(np.linalg.norm(self.apart[self.known]))
        return error <= self.bar + spread and isfinite(error)

    @property
    def decided(self) -> bool:
        """Whether a record within its bar counts as Algorithm 1's."""
        return self.step == 0 or self.bar < self.moved or self.error <= AGREES * self.moved


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
    lengths = [0 if recorded is None else len(recorded.step) for recorded in (first, second)]
    if first is not None:
        own = _in_precision(one, first)
        found.append(_stage(own, first, None, lambda i: progress(i / sum(lengths)), _never))
    if second is not None:
        two = _in_precision(Stage(Stage2Loss(dataset), eta, UNIT_ROUNDOFF, W_ov=np.zeros(0), before=one), second)

        def after(T: int) -> Stage:
            if first is not None:
                return replace(two, W_ov=np.asarray(first.weights[first.step.tolist().index(T)], dtype=np.float64))
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
        reached = lambda i: progress((lengths[0] + i) / sum(lengths))  # noqa: E731
        found.append(_stage(after(last if steps1 is None else steps1), second, first, reached, frozen))
    return found


def _in_precision(stage: Stage, run: Recorded) -> Stage:
    return replace(stage, u=UNIT_ROUNDOFF + run.roundoff, least=run.least)


def _never(run: Recorded, i: int) -> None:
    """No frozen W_ov in stage 1."""


def _stage(stage: Stage, run: Recorded, first: Recorded | None, reached: Progress, frozen: Frozen) -> StageComparison:
    """Compare a stage up to its first departure, or the one after a start other than zero."""
    decided, start, note = 0, None, ""
    with np.errstate(all="ignore"):
        for i, row in enumerate(_followed(stage, run, _steps)):
            reached(i)
            if not row.known.all() or not row.within():
                search = _Search(stage, run, first, frozen, i, row, int(start is not None))
                departure = _departure(stage, row, row.error, row.bar, *search.cause())
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


def _steps(stage: Stage) -> Rule:
    """The rule of Algorithm 1."""
    return normalised(stage, stage.lr)


def _departure(stage: Stage, row: _Row, error: float, bar: float, cause: str | None, value: float | None) -> Departure:
    columns = row.apart @ stage.loss.E.T
    place = int(np.linalg.norm(columns, axis=0).argmax())
    return Departure(stage.number, row.step, error, bar, stage.loss.names[place], cause, value)


def _underflow(stage: Stage, run: Recorded, i: int, row: _Row) -> str:
    """Note on a record that only underflow of squares in the norm explains."""
    exact = _row(replace(stage, least=0.0), run, i)
    if exact.within() and _off_in_length(replace(stage, least=0.0), run, i, exact) is None:
        return ""
    lengths = f"a step of length {row.length:.6g}, not {stage.lr:.6g}"
    return f"at step {row.step} of stage {stage.number} the norm underflowed in {run.precision}: {lengths}"


def _off_in_length(stage: Stage, run: Recorded, i: int, row: _Row) -> tuple[float, float] | None:
    """Deviation of a step's length from lr and its error bar, if the deviation is larger; else None.

    Squares in the norm may underflow in the file's precision: over several steps, most at the first or last. Several
    steps move by at most lr each. A gradient of pure rounding has neither direction nor length.
    """
    W, before = (np.asarray(run.weights[i - 1], np.float64), run.step[i - 1]) if i else (np.zeros_like(row.apart), 0)
    taken = int(row.step - before)
    gradient = stage.gradient(W)
    nudge = NUDGE * (1 + float(np.linalg.norm(W))) * _direction(np.ones_like(W))
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


def _followed(
    stage: Stage,
    run: Recorded,
    make: Callable[[Stage], Rule],
    first: int = 0,
    last: int | None = None,
    *,
    bars: bool = True,
) -> Iterator[_Row]:
    """Records ``first`` to ``last``, each with a rule's prediction from the previous one.

    ``bars`` of several steps take as long as the steps.
    """
    u = stage.u
    last = len(run.step) - 1 if last is None else min(last, len(run.step) - 1)
    step, other = make(stage), make(stage)
    gaps = bars and np.diff(run.step, prepend=0)[first : last + 1].max(initial=0) > 1
    W = np.asarray(run.weights[first - 1], dtype=np.float64) if first else np.zeros(run.weights.shape[1:])
    before = int(run.step[first - 1]) if first else 0
    for i in range(first, last + 1):
        t, recorded = int(run.step[i]), np.asarray(run.weights[i], dtype=np.float64)
        here, there, bar = W, W, 0.0
        known = t - before <= MOST_STEPS
        for _ in range(t - before if known else 0):
            change, bar = step(here)
            here = here + change
            known = known and bar < inf
            if gaps:
                aside, off = other(there)
                there = there + aside + (off + u * float(np.linalg.norm(there))) * _direction(aside)
        if t - before > 1:
            bar = SAFETY * float(np.sqrt(np.count_nonzero(there - W)) * np.linalg.norm(here - there))
        known = known and not np.isnan(bar)  # weights beyond the file's precision have no bar
        length = float(np.linalg.norm(recorded - W))
        written = u * float(np.linalg.norm(W) + 2 * np.linalg.norm(recorded))
        yield _Row(t, recorded - here, (bar + written if t else 0.0) if known else inf, here - W, length, written)
        W, before = recorded, t


def _row(stage: Stage, run: Recorded, i: int) -> _Row:
    """A record, and Algorithm 1's prediction of it."""
    (row,) = _followed(stage, run, _steps, i, i)
    return row


def _direction(change: Floats) -> Floats:
    """A fixed random unit vector on the weights that move, or on all if none does."""
    found = np.random.default_rng(0).normal(size=change.shape) * ((change != 0) | (not change.any()))
    norm = float(np.linalg.norm(found))
    return np.asarray(found / norm) if norm > 0 else found


def _error(stage: Stage, run: Recorded, i: int) -> float:
    """Distance of a record from a stage's prediction; infinite beyond float64."""
    error = _row(stage, run, i).error
    return error if isfinite(error) else inf


def _between(error: Callable[[int], float]) -> int:
    """Length of stage 1 with the least error, on the `LADDER` or between two of its rungs."""
    best = min(range(len(LADDER)), key=lambda j: error(LADDER[j]))
    low, high = LADDER[max(best - 1, 0)], LADDER[min(best + 1, len(LADDER) - 1)]
    while high - low > 2:
        left, right = low + (high - low) // 3, high - (high - low) // 3
        low, high = (low, right) if error(left) < error(right) else (left, high)
    return min(range(low, high + 1), key=error)


@dataclass(frozen=True)
class _Search:
    """The search for the cause of a departure.

    Attributes
    ----------
    stage, run : the stage and its records
    first : Recorded or None
        Records of stage 1.
    frozen : callable, records -> step at which W_ov was frozen
    i, row : the record that departs
    origin : int
        The record from which rules with a memory start: 0 for W = 0 before it, 1 for a given start.
    """

    stage: Stage
    run: Recorded
    first: Recorded | None
    frozen: Frozen
    i: int
    row: _Row
    origin: int

    def cause(self) -> tuple[str | None, float | None]:
        """The first cause that explains the record and the next ones, joined with fitting rivals, and its last number.

        Rules without a number that fit much better, but have bars too wide to confirm them, are rivals of every cause.
        """
        stage, run, i = self.stage, self.run, self.i
        if self.row.step == 0 or (i == 0 and self._next_conform()):
            return ANOTHER_START, None
        far = run.step[: i + CONFIRMED + 1][-1] > FIRST_STEPS or (self.origin and run.step[0] > 0)
        found: list[tuple[CandidateRule, list[float]]] = []
        unconfirmed: list[str] = []
        for cause in causes(stage, run, self.first, i, self.frozen):
            if found and not self._ambiguous and (not cause.rivals or cause.rivals != found[0][0].rivals):
                break
            if far and cause.remembers:
                continue
            if (values := self._numbers(cause)) is not None:
                found.append((cause, values))
            elif not cause.starts and self._may_explain(cause):
                unconfirmed.append(cause.words)
        if found:
            values = found[0][1]
            words = dict.fromkeys(one.words.format(*some) for one, some in found)
            named, value = " or ".join(words), values[-1] if values else None
        elif pattern := self._by_pattern(far=bool(far)):
            named, value = pattern
        else:
            return None, None
        return " or ".join([named, *unconfirmed]), None if unconfirmed else value

    @property
    def _ambiguous(self) -> bool:
        """Whether records are few and have gaps, so that several causes may fit and all are tried."""
        return len(self.own) <= FEWEST and not self._gapless

    @property
    def _gapless(self) -> bool:
        return gapless(self.run, self.i, self.i + len(self.own) - 1)

    def _next_conform(self) -> bool:
        rows = list(_followed(self.stage, self.run, _steps, self.i + 1, self.i + CONFIRMED))
        return bool(rows) and all(row.within() and row.bar < row.moved for row in rows)

    @cached_property
    def own(self) -> list[_Row]:
        """The record and the next ones, with Algorithm 1's predictions."""
        return list(_followed(self.stage, self.run, _steps, self.i, self.i + self.further))

    @property
    def further(self) -> int:
        """Number of further records that a cause finally has to explain."""
        step = self.run.step
        return max(CONFIRMED, int(np.searchsorted(step, step[self.i] + FURTHER, side="right")) - self.i - 1)

    @cached_property
    def clear(self) -> int:
        """Index of a clear departure: the first row, or else the clearest with records after it."""
        shares = [row.error / row.bar if row.bar > 0 else inf for row in self.own]
        return 0 if not shares[0] <= CLEAR else int(np.argmax(shares[: -CONFIRMED or None] or shares[:1]))

    def _numbers(self, cause: CandidateRule) -> list[float] | None:
        """The numbers with which the record and the next ones conform under a cause, or None."""
        at, values = self.clear, self._one_by_one(cause)
        if values is None or not self._closer(self._rows(cause, values, at, bars=False)[at]):
            return None
        row = self._rows(cause, values, at)[at]
        if not self._close(row) or (len(values) < 2 and not row.within(2 * SAFETY * row.bar)):
            return None
        if len(values) > 1:
            values = self._all_together(cause, values)
        if values is None or not all(self._explains(cause, values, at + k) for k in (CONFIRMED, self.further)):
            return None
        return values

    def _may_explain(self, cause: CandidateRule) -> bool:
        """Whether a rule fits the record much better than Algorithm 1, but has a bar too wide to confirm it."""
        rows = self._rows(cause, (), self.further)
        clear = rows[self.clear]
        return self._closer(clear) and not self._close(clear) and all(row.within() for row in rows)

    def _rows(self, cause: CandidateRule, values: Sequence[float], further: int, *, bars: bool = True) -> list[_Row]:
        """The record and the ``further`` next ones, each with the prediction of a cause's rule."""
        first = self.origin if cause.remembers else self.i
        stage, last = cause.stage or self.stage, self.i + further
        found = _followed(stage, self.run, lambda stage: cause.rule(stage, *values), first, last, bars=bars)
        return list(found)[self.i - first :]

    def _one_by_one(self, cause: CandidateRule) -> list[float] | None:
        """Fit the numbers in turn to the clear departure, each with the previous ones fixed."""
        values = [p for p, _ in cause.starts]
        for k, start in enumerate(cause.starts):

            def rows(x: float, k: int = k) -> list[_Row]:
                given = [*values[:k], x, *values[k + 1 :]]
                return self._rows(cause, given, self.clear + 1, bars=False)[self.clear :]

            if (number := _number(rows, *start)) is None:
                return None
            values[k] = number
        return values

    def _all_together(self, cause: CandidateRule, values: list[float]) -> list[float] | None:
        """Fit all numbers jointly to the clear departure and the next records, by Gauss-Newton steps."""
        further = self.clear + CONFIRMED
        bars = [row.bar for row in self._rows(cause, values, further)[self.clear :]]
        for _ in range(FITS):
            found = self._rows(cause, values, further, bars=False)
            slopes = self._slopes(cause, values, found)
            off = np.array([np.nan_to_num(row.apart) / bar for row, bar in zip(found[self.clear :], bars, strict=True)])
            by = np.linalg.pinv(_flat([one[self.clear :] for one in slopes], bars)).T @ -off.ravel()
            values = [value + float(change) for value, change in zip(values, by, strict=True)]
            if not all(0 < value < LARGEST for value in values):
                return None
            if (abs(by) <= CLOSE * np.array(values)).all():
                break
        return values

    def _slopes(self, cause: CandidateRule, values: Sequence[float], found: Sequence[_Row]) -> list[list[Floats]]:
        """Derivatives of the predictions ``found`` with respect to each number."""
        slopes = []
        for k, value in enumerate(values):
            given = [*values[:k], value * (1 + APART), *values[k + 1 :]]
            both = zip(found, self._rows(cause, given, len(found) - 1, bars=False), strict=True)
            slopes.append([np.nan_to_num(other.apart - one.apart) / (value * APART) for one, other in both])
        return slopes

    def _explains(self, cause: CandidateRule, values: Sequence[float], further: int) -> bool:
        """Whether the record and further ones conform, as far as rounding leaves the numbers open."""
        at, found = self.clear, self._rows(cause, values, further)
        if not self._close(found[at]) or (values and len(found) < at + 2):
            return False
        spread, slopes = np.zeros(len(found)), self._slopes(cause, values, found)
        if values:
            near = slice(at, at + CONFIRMED + 1)
            inverse = np.linalg.pinv(_flat([one[near] for one in slopes], [row.bar for row in found[near]]))
            moves = np.array([[float(np.linalg.norm(move)) for move in one] for one in slopes])
            spread = SAFETY * np.linalg.norm(inverse, axis=0) @ moves
        return all(row.within(off) for row, off in zip(found, spread.tolist(), strict=True))

    def _closer(self, row: _Row) -> bool:
        """Whether a rule predicts the clear departure much better than Algorithm 1."""
        return float(np.linalg.norm(row.apart[row.known])) < self._departs(row) / CLEAR

    def _close(self, row: _Row) -> bool:
        """Whether the prediction is `_closer` and its bar is also much smaller than the departure."""
        return self._closer(row) and row.bar < self._departs(row) / CLEAR

    def _departs(self, row: _Row) -> float:
        """Size of the clear departure in the entries that a rule predicts."""
        return float(np.linalg.norm(self.own[self.clear].apart[row.known]))

    def _by_pattern(self, *, far: bool) -> tuple[str, float | None] | None:
        """A cause with unknowns at each step: step sizes, samples or roundings."""
        stage, run, i = self.stage, self.run, self.i
        if found := self._schedule():
            return found, None
        if not far and (size := muon(stage, run, i, self.origin)) is not None:
            return f"Muon (step size about {size:.2g})", size
        turned = [(row.apart + row.by) / row.length - row.by / row.moved for row in self.own if row.length * row.moved]
        turns = all(np.linalg.norm(one) > AGREES for one in turned)
        if turns and unlike(turned) and minibatch(stage, run, i):
            return "a minibatch (other samples at each step)", None
        return self._rounded()

    def _schedule(self) -> str | None:
        """Steps along the gradient of varying length, possibly 0.

        Detected from consecutive records only: over a gap, other mistakes look like longer steps.
        """
        lengths, clear = [], 0
        if not self._gapless:
            return None
        for row in self.own:
            share = float(np.sum((row.apart + row.by) * row.by)) / row.moved**2 if row.moved else 0.0
            across = float(np.linalg.norm(row.apart + row.by - share * row.by))
            if not across <= max(1.0, share) * row.bar or -share * row.moved > row.bar:
                return None
            if row.bar < row.moved / CLEAR:
                lengths.append((max(0.0, share) * self.stage.lr, row.step))
                clear += row.bar < share * row.moved / CLEAR
        sizes = [length for length, _ in lengths]
        if clear < FEWEST or not (scheduled(sizes) or max(sizes) - min(sizes) > UNEVEN * max(sizes)):
            return None
        (begun, t), (ended, last) = lengths[0], lengths[-1]
        return f"a schedule of step sizes ({begun:.4g} at step {t}, {ended:.4g} at step {last})"

    def _rounded(self) -> tuple[str, float | None] | None:
        """A precision lower than the file's that explains the size and variation of all next errors."""
        steps = np.diff(self.run.step, prepend=0)[self.i : self.i + len(self.own)].tolist()

        def explains(u: float) -> bool:
            rows = _followed(replace(self.stage, u=u), self.run, _steps, self.i, self.i + self.further)
            return all(row.within() for row in rows)

        return lower_precision(
            [row.apart for row in self.own], [row.by for row in self.own], steps, self.stage.u, explains
        )


def _flat(slopes: Sequence[Sequence[Floats]], bars: Sequence[float]) -> Floats:
    """Derivatives of all entries over their bars, shape (numbers, entries); 0 beyond float64."""
    found = [np.concatenate([one.ravel() / bar for one, bar in zip(of, bars, strict=True)]) for of in slopes]
    return np.asarray(np.nan_to_num(np.array(found), nan=0.0, posinf=0.0, neginf=0.0))


def _number(rows: Callable[[float], list[_Row]], p: float, q: float) -> float | None:
    """Fit a number to the first record that depends on it, by the secant method."""
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
    return q
