"""Statements with probability 1 - delta: the failure probability at each delta, and its judgement."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from marginaudit.claims.judgements import Bounded
from marginaudit.claims.series import Series, series
from marginaudit.claims.snap.run import ClassRun
from marginaudit.orders.arrays import Floats, Integers
from marginaudit.training.snap.counts.binomial import Interval, chance_outside

LEVELS = (0.99, 0.9, 0.5, 0.1, 0.01, 1e-3, 1e-6)
"""Values of delta for judging statements with probability at least 1 - delta."""


@dataclass(frozen=True)
class Chances:
    """Failure probabilities, each with its upper limit delta."""

    missed: Series
    delta: Floats


Missed: TypeAlias = tuple[Integers, Interval, Iterable[str]]
"""N, count intervals and labels of the entries of a statement with probability 1 - delta."""


def chances(K: int, missed: Callable[[float], Missed]) -> Chances:
    """Probability that the count of one of K uniform classes lies outside its interval, at each delta of `LEVELS`."""
    value, radius, levels, label = list[Floats](), list[Floats](), list[Floats](), list[str]()
    for delta in LEVELS:
        N, interval, names = missed(delta)
        chance, bar = chance_outside(N, np.full(len(N), 1 / K), interval)
        value, radius, levels = [*value, chance], [*radius, bar], [*levels, np.full(len(N), delta)]
        label += [f"delta = {delta:g}, {name}" for name in names]
    found = series(np.concatenate(value), radius=np.concatenate(radius), label=tuple(label))
    return Chances(found, np.concatenate(levels))


def rarely(beyond: Callable[[ClassRun], Chances]) -> Bounded:
    """Judgement that no failure probability exceeds its delta."""
    return Bounded(measure=lambda run: beyond(run).missed, upper=lambda run, _: beyond(run).delta)
