"""Statements about a limit or a rate that a measured quantity approaches."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from marginaudit.reports.series import Series
from marginaudit.reports.verdict import Curve, Finding, Verdict, not_applicable

if TYPE_CHECKING:
    from marginaudit.reports.run import Run

NEAR = 0.01
"""Relative distance from the prediction below which a limit counts as reached."""

SETTLED = 0.005
"""Relative change of the distance over the last decade below which it counts as settled."""


@dataclass(frozen=True)
class Limit:
    """measured(t) tends to predicted.

    It holds when over the last three decades the relative distance falls and ends below 1 %. It is
    violated when the distance ends above 1 % and has settled there, or grows from decade to decade.

    Attributes
    ----------
    measure : from a run to the measured series, with steps
    predicted : from a run to the predicted limit, not 0
    """

    measure: "Callable[[Run], Series]"
    predicted: "Callable[[Run], float]"

    kind = "limit"

    def judge(self, run: "Run") -> Finding:
        """The verdict on a run."""
        measured, predicted = self.measure(run), self.predicted(run)
        if not len(measured):
            return not_applicable("the dataset has nothing of which the statement speaks")
        if measured.step is None:
            raise ValueError("a limit is approached along steps, and the series has none")
        if np.isnan(measured.value).any() or np.isnan(predicted):
            raise ValueError("not a number on one side of a comparison")
        step = measured.step.astype(float)
        distance = np.abs(measured.value - predicted) / abs(predicted)
        bars = measured.radius / abs(predicted)
        last = int(step[-1])
        marks = [int(np.argmin(np.abs(np.log(step) - np.log(last / 10**k)))) for k in (3, 2, 1, 0)]
        reaches_back = step[0] <= last / 1000 * 1.2
        decades = distance[marks]
        verdict = self._verdict(decades, reaches_back, float(bars[-1]))
        shown = ", ".join(f"{100 * d:.3g} % at t = {int(step[m])}" for m, d in zip(marks, decades, strict=True))
        cause = {
            Verdict.HOLDS: "",
            Verdict.VIOLATED: " It has settled elsewhere.",
            Verdict.INCONCLUSIVE: f" The run ends at t = {last} before it settles.",
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

    def _verdict(self, decades: "np.ndarray[tuple[int], np.dtype[np.float64]]", full: bool, bars: float) -> Verdict:
        falling = bool((np.diff(decades) <= bars).all())
        if full and falling and decades[-1] + bars < NEAR:
            return Verdict.HOLDS
        off = decades[-1] - bars > NEAR
        settled = abs(decades[-1] - decades[-2]) <= SETTLED * decades[-1]
        growing = bool((np.diff(decades) > bars).all())
        return Verdict.VIOLATED if off and (settled or growing) else Verdict.INCONCLUSIVE
