"""Statements about a limit or a rate that a measured quantity approaches."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from marginaudit.reports.error_bars import Series
from marginaudit.reports.verdict import Curve, Finding, Verdict, not_applicable

if TYPE_CHECKING:
    from marginaudit.reports.run import Run

Floats: TypeAlias = NDArray[np.float64]

NEAR = 0.01
"""Relative distance from the prediction below which a limit counts as reached."""

SETTLED = 0.005
"""Relative spread of the distance over the last decade below which it counts as settled."""

VANISHING = 0.2
"""A rate that falls by this factor over the last decade tends to 0."""


@dataclass(frozen=True)
class Limit:
    """measured(t) tends to predicted; or, with ``positive``, to some limit > 0, which should be the predicted one.

    A run that stops early says nothing of a limit, so it is decided only where the whole last decade lies in the
    asymptotic regime. It holds when over the last three decades the relative distance falls and ends below 1 %. It
    is violated when the distance from a stated value stays above 1 % in the last decade and does not change there,
    or when a quantity whose limit is to be positive vanishes there. Anything else is inconclusive, and so is a run
    for which there is no prediction (NaN).

    Attributes
    ----------
    measure : from a run to the measured series, with steps
    predicted : from a run to the predicted limit, not 0
    regime : from a run to the step from which the asymptotic regime has to be visible
    positive : bool
        The statement is only that the limit is positive.
    """

    measure: "Callable[[Run], Series]"
    predicted: "Callable[[Run], float]"
    regime: "Callable[[Run], float]"
    positive: bool = False

    kind = "limit"

    def judge(self, run: "Run") -> Finding:
        """The verdict on a run."""
        measured, predicted = self.measure(run), self.predicted(run)
        if not len(measured):
            return not_applicable("the dataset has nothing of which the statement speaks")
        if measured.step is None:
            raise ValueError("a limit is approached along steps, and the series has none")
        if np.isnan(measured.value).any() or np.isnan(measured.radius).any():
            raise ValueError("not a number on one side of a comparison")
        if np.isnan(predicted):
            return Finding(Verdict.INCONCLUSIVE, detail="The run reached no state from which the limit is predicted.")
        step = measured.step.astype(float)
        distance = np.abs(measured.value - predicted) / abs(predicted)
        bars = measured.radius / abs(predicted)
        last = int(step[-1])
        marks = [int(np.argmin(np.abs(np.log(step) - np.log(last / 10**k)))) for k in (3, 2, 1, 0)]
        reaches_back = step[0] <= last / 1000 * 1.2
        decades = distance[marks]
        in_regime = reaches_back and last / 10 >= self.regime(run)
        if in_regime and (np.diff(decades) <= bars[-1]).all() and decades[-1] + bars[-1] < NEAR:
            verdict = Verdict.HOLDS
        elif in_regime and self._refuted(step, measured, distance, bars):
            verdict = Verdict.VIOLATED
        else:
            verdict = Verdict.INCONCLUSIVE
        shown = ", ".join(f"{100 * d:.3g} % at t = {int(step[m])}" for m, d in zip(marks, decades, strict=True))
        cause = {
            Verdict.HOLDS: "",
            Verdict.VIOLATED: " It vanishes." if self.positive else " It has settled elsewhere.",
            Verdict.INCONCLUSIVE: f" Not decided by t = {last}.",
        }[verdict]
        return Finding(
            verdict=verdict,
            evidence=measured.evidence,
            measured=measured.shown(len(measured) - 1),
            bound=predicted,
            slack=predicted / float(measured.value[-1]) if measured.value[-1] else None,
            worst_step=last,
            detail=f"Relative distance from the prediction: {shown}.{cause}",
            curve=Curve(
                step=measured.step.tolist(),
                measured=measured.value.tolist(),
                upper=[predicted] * len(measured),
            ),
        )

    def _refuted(self, step: Floats, measured: Series, distance: Floats, bars: Floats) -> bool:
        """What the last decade shows against the statement."""
        decade = step >= step[-1] / 10
        if self.positive:
            before = np.median(measured.value[decade & (step <= step[-1] / 8)])
            after = np.median(measured.upper[step >= 0.8 * step[-1]])
            return bool(before > 0 and after < VANISHING * before)
        off = bool((distance[decade] - bars[decade] > NEAR).all())
        return off and bool(np.ptp(distance[decade]) <= SETTLED * distance[-1])
