"""Records of a trajectory beside a rule's predictions from the previous records, with error bars for rounding.

The error bar is

- of one step, lr times the rounding of the direction (`unit`), plus u times the weights: once for the subtraction,
  twice for writing both records;
- of several steps, an estimate: `SAFETY` times the distance of a second run, each step of which is off by that much in
  one random direction, times sqrt(n), n the number of weights that move, as about 1/sqrt(n) of it lies in the direction
  in which errors grow most.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import inf, isfinite

import numpy as np
from numpy.typing import NDArray

from marginaudit.orders.arrays import Floats
from marginaudit.training.departure import AGREES
from marginaudit.training.ntp.recorded.rules import Rule, Stage, normalised
from marginaudit.training.recorded_weights import Recorded

SAFETY = 4.0
"""Safety factor of the error bar of several steps over the distance of the two runs."""

MOST_STEPS = 20_000
"""Largest gap between two records in steps; beyond it they are not compared."""


@dataclass(frozen=True)
class Row:
    """A record, and a rule's prediction of it from the previous one."""

    step: int
    apart: Floats
    bar: float
    by: Floats
    length: float
    written: float

    @property
    def error(self) -> float:
        """Distance of the record from its prediction."""
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


def algorithm1_steps(stage: Stage) -> Rule:
    """The rule of Algorithm 1."""
    return normalised(stage, stage.lr)


def followed(
    stage: Stage,
    run: Recorded,
    make: Callable[[Stage], Rule],
    first: int = 0,
    last: int | None = None,
    *,
    bars: bool = True,
) -> Iterator[Row]:
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
        for k in range(t - before if known else 0):
            if stage.per_step is not None:
                stage.per_step.t = before + k
            change, bar = step(here)
            here = here + change
            known = known and bar < inf
            if gaps:
                aside, off = other(there)
                there = there + aside + (off + u * float(np.linalg.norm(there))) * direction(aside)
        if t - before > 1:
            bar = SAFETY * float(np.sqrt(np.count_nonzero(there - W)) * np.linalg.norm(here - there))
        known = known and not np.isnan(bar)  # weights beyond the file's precision have no bar
        length = float(np.linalg.norm(recorded - W))
        written = u * float(np.linalg.norm(W) + 2 * np.linalg.norm(recorded)) + _excess(run, i)
        yield Row(t, recorded - here, (bar + written if t else 0.0) if known else inf, here - W, length, written)
        W, before = recorded, t


def _excess(run: Recorded, i: int) -> float:
    """Rounding of two records that are products, beyond one rounding of their entries."""
    return sum(float(np.linalg.norm(run.excess(k))) for k in (i - 1, i) if k >= 0)


def algorithm1_row(stage: Stage, run: Recorded, i: int) -> Row:
    """A record, and Algorithm 1's prediction of it."""
    (row,) = followed(stage, run, algorithm1_steps, i, i)
    return row


def direction(change: Floats) -> Floats:
    """A fixed random unit vector on the weights that move, or on all if none does."""
    found = np.random.default_rng(0).normal(size=change.shape) * ((change != 0) | (not change.any()))
    norm = float(np.linalg.norm(found))
    return np.asarray(found / norm) if norm > 0 else found
