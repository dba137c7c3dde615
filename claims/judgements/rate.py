"""Rates: the power of t with which a quantity decays or grows, with an interval over decades of a stated regime."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from marginaudit.claims.judgements.compare import curve_of
from marginaudit.claims.series import Series, as_series, position, position_text
from marginaudit.claims.verdict import Finding, Verdict, needed
from marginaudit.orders.arrays import Floats

TOLERANCE = 0.05
"""Distance of a power from the stated one that counts as equal."""

FEWEST = 2
"""Fewest decades of the regime."""

APPROACHING = 0.9
"""Ratio of distances in neighbouring decades below which the power approaches the stated one.

The power of t^p log t is off by 1/ln t, which falls by a ratio below 0.9 up to t = 1e10.
"""

OFF_A_DECADE = 0.1
"""Largest distance of the regime's first entry from the start of its decade, in decades."""


@dataclass(frozen=True)
class Rate:
    """measured(t) is of the order t^power: exactly, or at most, or at least, in a stated regime.

    The power of a decade is the slope of log(measured) against log(t) between its ends, with an interval from the error
    bars. The statement holds if the interval of the last decade is within `TOLERANCE` of what is stated, and does not
    move away from it. It is violated if those of the last two decades are off by more, and the last is not nearer.
    Everything else is inconclusive, including runs with less than `FEWEST` decades of the regime.

    Attributes
    ----------
    measure : from a run to the measured series, positive, with steps
    power : from a run to the stated power
    regime : from a run to the first step of the regime of the statement
    side : "equal", or "upper" for at most t^power, or "lower" for at least
    """

    measure: Callable[[Any], Series]
    power: Callable[[Any], float]
    regime: Callable[[Any], float]
    side: Literal["equal", "upper", "lower"] = "equal"

    kind = "rate"
    late = True
    quantifier = "rate"

    def judge(self, run: Any) -> Finding:
        """Verdict on a run."""
        measured, start = as_series(self.measure(run), "measure").in_float64, float(self.regime(run))
        step = measured.along("a rate is measured")
        within = step >= start
        decades = int(np.floor(np.log10(step[-1] / step[within][0]) + OFF_A_DECADE)) if within.any() else 0
        if decades < FEWEST:
            first = start * 10**FEWEST
            last = position(step[-1]) if len(step) else None
            end = "without steps" if last is None else f"ends at {measured.clock} = {position_text(last)}"
            return Finding(
                Verdict.INCONCLUSIVE,
                beyond_the_run=True,
                needs=needed(measured.clock, first, last),
                detail=f"Two decades of the regime, from {measured.clock} = {start:.4g} on, are needed; the run {end}.",
            )
        return self._judged(measured, step, float(self.power(run)), decades)

    def _judged(self, measured: Series, step: Floats, stated: float, decades: int) -> Finding:
        ends = [int(np.argmin(np.abs(np.log10(step) - np.log10(step[-1]) + k))) for k in range(decades, -1, -1)]
        if len(set(ends[-FEWEST - 1 :])) <= FEWEST:
            gap = f"One of the last {FEWEST} decades to {measured.clock} = {position_text(step[-1])} has no entry."
            return Finding(Verdict.INCONCLUSIVE, detail=gap)
        ends = sorted(set(ends))
        low, high = _slopes(measured, step, ends)
        nearest, farthest = self._off(low, high, stated)
        if farthest[-1] <= TOLERANCE and nearest[-1] <= max(farthest[-2], TOLERANCE / 2):
            verdict = Verdict.HOLDS
        elif nearest[-2:].min() > TOLERANCE and nearest[-1] >= APPROACHING * farthest[-2]:
            verdict = Verdict.VIOLATED
        else:
            verdict = Verdict.INCONCLUSIVE
        told = ", ".join(
            f"[{one:.4g}, {other:.4g}] to {measured.clock} = {position_text(step[end])}"
            for one, other, end in zip(low, high, ends[1:], strict=True)
        )
        last = position(step[-1])
        return Finding(
            verdict,
            measured.evidence,
            measured=float((low[-1] + high[-1]) / 2),
            bound=stated,
            side=None if self.side == "equal" else self.side,
            worst_step=last,
            first_violation=last if verdict is Verdict.VIOLATED else None,
            detail=f"Power by decade: {told}; stated {stated:.4g}, within {TOLERANCE:g}.",
            curve=curve_of(measured, {}),
        )

    def _off(self, low: Floats, high: Floats, stated: float) -> tuple[Floats, Floats]:
        """Least and largest distance of each interval from what is stated; 0 on the right side of it."""
        above, below = high - stated, stated - low
        if self.side == "upper":
            return np.maximum(low - stated, 0.0), np.maximum(above, 0.0)
        if self.side == "lower":
            return np.maximum(stated - high, 0.0), np.maximum(below, 0.0)
        return np.maximum(np.maximum(low - stated, stated - high), 0.0), np.maximum(above, below)


def _slopes(measured: Series, step: Floats, ends: list[int]) -> tuple[Floats, Floats]:
    """Interval of the slope of log(measured) against log(step) between neighbouring ends."""
    if measured.log:
        least, most = measured.lower[ends].astype(float), measured.upper[ends].astype(float)
    else:
        with np.errstate(divide="ignore", invalid="ignore"):
            least = np.log(np.maximum(measured.lower[ends].astype(float), 0.0))
            most = np.log(measured.upper[ends].astype(float))
    width = np.diff(np.log(step[ends]))
    return (least[1:] - most[:-1]) / width, (most[1:] - least[:-1]) / width
