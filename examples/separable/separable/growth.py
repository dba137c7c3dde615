"""Statements that a quantity stays bounded, or grows without bound."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from marginaudit.reports import Evidence, Finding, Series, Verdict

SHRINKS, LASTS = 0.5, 0.9
"""By these factors, or not, the change over a decade of log t follows the one before."""

NARROW = 0.01
"""Error bars that are wider, relative to the value, do not show that it stays."""


@dataclass(frozen=True)
class Growth:
    """The quantity is bounded, or with ``unbounded`` tends to infinity; judged on three decades of the clock.

    Along log t a quantity of order log log t changes by as much in every decade, one of order log t by ten times as
    much, and one that converges by less and less. Changes count as shrinking below half of the one before or
    within error bars of 1 % of the value, as lasting above 0.9 of it and beyond error bars. What does neither, and a
    clock whose last decade does not lie in the regime, is inconclusive.

    Attributes
    ----------
    measure : from a run to the series
    unbounded : bool
    regime : from a run to the position from which it shows how it ends
    """

    measure: Callable[[Any], Series]
    unbounded: bool
    regime: Callable[[Any], float]

    @property
    def kind(self) -> str:
        """In words, for the reader of a report."""
        return "growth without bound" if self.unbounded else "boundedness"

    def judge(self, run: Any) -> Finding:
        """The verdict on a run."""
        found = self.measure(run)
        step = np.asarray(found.step, dtype=float)
        at = [int(np.argmin(np.abs(np.log(step * 10.0**k / step[-1])))) for k in (3, 2, 1, 0)]
        value, bars = found.value[at], found.radius[at]
        change, doubt = np.diff(value), bars[1:] + bars[:-1]
        size = np.abs(change)
        still = (size[1:] <= doubt[1:]) & (doubt[1:] <= NARROW * np.abs(value[1:-1]))
        shrinks = bool(((size[1:] + doubt[1:] <= SHRINKS * (size[:-1] - doubt[:-1])) | still).all())
        lasts = bool((size[1:] - doubt[1:] >= LASTS * (size[:-1] + doubt[:-1])).all() and (size > doubt).all())
        grows = lasts and bool((change > doubt).all())
        holds, fails = (grows, shrinks) if self.unbounded else (shrinks, lasts)
        verdict = Verdict.INCONCLUSIVE
        if holds != fails and np.isfinite(bars).all() and step[-1] / 10 >= self.regime(run):
            verdict = Verdict.HOLDS if holds else Verdict.VIOLATED
        changes = ", ".join(f"{one:.4g} to {float(step[i]):.4g}" for one, i in zip(change, at[1:], strict=True))
        return Finding(
            verdict,
            Evidence.FLOAT64,
            measured=found.shown(at[-1]) if not found.log else None,
            worst_step=float(step[at[-1]]),
            first_violation=float(step[at[-1]]) if verdict is Verdict.VIOLATED else None,
            detail=f"Its changes over decades of {found.clock}: {changes}; error bars {float(doubt[-1]):.1e}.",
        )
