"""Whether a recorded trajectory is Algorithm 1's: its first step that departs, by how much, and where.

Every record is compared with one step of Algorithm 1 from the record before it, or with as many as lie between; before
the first one lies W = 0 at step 0. What rounding explains is the bar:

- of one step, lr times what rounding may do to the direction (`unit`), and u times the weights, once for the
  subtraction, twice for writing both records;
- of several, `SAFETY` times the distance of a second run whose steps are each off by that much, always in the same
  direction. Such a bar is an estimate.

Where the bar exceeds the distance that Algorithm 1 goes, rounding explains anything, and nothing is decided.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from math import inf, isfinite

import numpy as np

from marginaudit.orders.arrays import UNIT_ROUNDOFF, Floats
from marginaudit.orders.ntp import Dataset
from marginaudit.training.ntp.algorithm1 import train
from marginaudit.training.ntp.recorded.causes import Cause, causes
from marginaudit.training.ntp.recorded.gradients import Stage1Loss, Stage2Loss
from marginaudit.training.ntp.recorded.rules import Rule, Stage, normalised
from marginaudit.training.ntp.recorded.trajectory import Trajectory
from marginaudit.training.ntp.records import Progress
from marginaudit.training.trajectory import Recorded

SAFETY = 4.0
"""The error of several steps is taken for so many times the distance of both runs."""

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
"""Steps up to a departure, and the records that confirm it, of which causes are tried: each takes them all anew."""

STEPS1 = 900
"""The length of stage 1 where it is not recorded: that of the experiments of arXiv 2409.17335."""


@dataclass(frozen=True)
class Departure:
    """The first record that departs.

    Attributes
    ----------
    stage, step : int
    error, bar : float
        The distance from Algorithm 1's weights, in the Frobenius norm, and how much of it rounding explains.
    token : str
        Where it is largest: the token of W_ov's column in stage 1, the query in stage 2.
    cause : str or None
        Under which these steps and the next ones conform.
    value : float or None
        The number in it.
    """

    stage: int
    step: int
    error: float
    bar: float
    token: str
    cause: str | None
    value: float | None


@dataclass(frozen=True)
class Compared:
    """One stage, record by record up to the first that departs.

    Attributes
    ----------
    stage : int
    lr : float
    records : int
    decided : int
        Those at which rounding does not explain everything.
    departs_at : Departure or None
    """

    stage: int
    lr: float
    records: int
    decided: int
    departs_at: Departure | None


@dataclass(frozen=True)
class _Row:
    """A record beside the weights that a rule predicts from the one before."""

    step: int
    apart: Floats
    bar: float
    moved: float

    @property
    def error(self) -> float:
        return float(np.linalg.norm(self.apart))

    @property
    def within(self) -> bool:
        """Whether rounding explains the distance; what is too large for float64 it does not."""
        return self.error <= self.bar and isfinite(self.error)


def compared(
    dataset: Dataset,
    trajectory: Trajectory,
    progress: Callable[[float], None] = lambda _: None,
) -> list[Compared]:
    """Both stages, as far as they are recorded.

    Parameters
    ----------
    dataset : Dataset
    trajectory : Trajectory
    progress : callable
        Called with the share of the records that are compared.

    Raises
    ------
    CollocationError
        n is not a function on the whole vocabulary.
    ValueError
        A step size is not positive and finite.
    """
    eta0, eta = trajectory.step_sizes(dataset)
    first, second = trajectory.stage1, trajectory.stage2
    one = Stage(Stage1Loss(dataset), eta0, UNIT_ROUNDOFF)
    found = []
    lengths = [0 if recorded is None else len(recorded.step) for recorded in (first, second)]
    if first is not None:
        own = replace(one, u=UNIT_ROUNDOFF + first.roundoff)
        found.append(_stage(own, first, None, lambda i: progress(i / sum(lengths))))
    if second is not None:
        if first is None:
            W_ov = train(dataset, steps1=STEPS1, steps2=0, lr1=eta0).W_ov
        else:
            W_ov = np.asarray(first.weights[-1], dtype=np.float64)
        two = Stage(Stage2Loss(dataset), eta, UNIT_ROUNDOFF + second.roundoff, W_ov, one)
        found.append(_stage(two, second, first, lambda i: progress((lengths[0] + i) / sum(lengths))))
    return found


def _stage(stage: Stage, run: Recorded, first: Recorded | None, reached: Progress) -> Compared:
    decided = 0
    with np.errstate(all="ignore"):
        for i, row in enumerate(_followed(stage, run, lambda: normalised(stage, stage.lr))):
            reached(i)
            if not row.within:
                found = _departure(stage, run, first, i, row)
                return Compared(stage.number, stage.lr, len(run.step), decided + 1, found)
            decided += bool(row.bar < row.moved or row.step == 0)
    return Compared(stage.number, stage.lr, len(run.step), decided, None)


def _departure(stage: Stage, run: Recorded, first: Recorded | None, i: int, row: _Row) -> Departure:
    columns = row.apart @ stage.loss.E.T
    place = int(np.linalg.norm(columns, axis=0).argmax())
    cause, value = _cause(stage, run, first, i, row)
    return Departure(stage.number, row.step, row.error, row.bar, stage.loss.names[place], cause, value)


def _followed(stage: Stage, run: Recorded, make: Callable[[], Rule], last: int | None = None) -> Iterator[_Row]:
    """Every record up to a ``last`` one, beside what a rule makes of the one before."""
    u = stage.u
    step, other = make(), make()
    gaps = np.diff(run.step, prepend=0).max(initial=0) > 1
    W = np.zeros(run.weights.shape[1:])
    before = 0
    for i in range(len(run.step) if last is None else min(last + 1, len(run.step))):
        t, recorded = int(run.step[i]), np.asarray(run.weights[i], dtype=np.float64)
        here, there, bar = W, W, 0.0
        far = t - before > MOST_STEPS
        for _ in range(0 if far else t - before):
            change, bar = step(here)
            here = here + change
            if gaps:
                aside, off = other(there)
                off += u * float(np.linalg.norm(there))
                there = there + aside + off * _direction(aside)
        if far:
            bar = inf
        elif t - before > 1:
            bar = SAFETY * float(np.linalg.norm(here - there))
        rounding = u * float(np.linalg.norm(W) + 2 * np.linalg.norm(recorded))
        yield _Row(t, recorded - here, bar + rounding if t else 0.0, float(np.linalg.norm(here - W)))
        W, before = recorded, t


def _direction(change: Floats) -> Floats:
    """A random unit vector among the weights that move, always the same."""
    found = np.random.default_rng(0).normal(size=change.shape) * (change != 0)
    norm = float(np.linalg.norm(found))
    return np.asarray(found / norm) if norm > 0 else found


def _cause(stage: Stage, run: Recorded, first: Recorded | None, i: int, row: _Row) -> tuple[str | None, float | None]:
    """The first cause that explains the record and the next ones, and its number."""
    if row.step == 0 or (not run.weights[:i].any() and _next_conform(stage, run, i)):
        return "another start than zero", None
    if run.step[: i + CONFIRMED + 1][-1] > FIRST_STEPS:
        return None, None
    for cause in causes(stage, run, first, i):
        explained, value = _explained(stage, run, i, row, cause)
        if explained:
            return cause.words.format(value=value), value
    return None, None


def _next_conform(stage: Stage, run: Recorded, i: int) -> bool:
    later = Recorded(run.step[i:] - run.step[i], run.weights[i:])
    rows = list(_followed(stage, later, lambda: normalised(stage, stage.lr), CONFIRMED))[1:]
    return bool(rows) and all(next_row.error <= next_row.bar < next_row.moved for next_row in rows)


def _explained(stage: Stage, run: Recorded, i: int, row: _Row, cause: Cause) -> tuple[bool, float | None]:
    """Whether the record conforms under a cause, with a smaller bar than its departure, and so do the next ones."""

    def rows(value: float) -> list[_Row]:
        return list(_followed(stage, run, lambda: cause.rule(stage, value), i + CONFIRMED))[i:]

    if cause.start is None:
        return _fits(rows(0.0), row, 0.0), None
    p, q = cause.start
    at_p, at_q = rows(p), rows(q)
    moved = [k for k, (one, other) in enumerate(zip(at_p, at_q, strict=True)) if (one.apart != other.apart).any()]
    for _ in range(FITS):
        if not moved or abs(q - p) <= CLOSE * abs(q):
            break
        slope = (at_q[moved[0]].apart - at_p[moved[0]].apart) / (q - p)
        p, q = q, q - float(np.sum(slope * at_q[moved[0]].apart) / np.sum(slope**2))
        if not 0 < q < LARGEST:
            return False, None
        at_p, at_q = at_q, rows(q)
    return bool(moved) and _fits(at_q, row, SAFETY * at_q[moved[0]].bar), q


def _fits(rows: list[_Row], departure: _Row, spread: float) -> bool:
    """Whether all rows are within their bars; the later ones also inherit the error of a number found at the first."""
    at, *later = rows
    return at.within and at.bar < departure.error / 2 and all(one.error <= one.bar + spread for one in later)
