"""Statements that two things are equal."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marginaudit.orders import counted
from marginaudit.reports.judgements.compare import UNDERFLOW, Outcome, compare_equal, left_out, underflown
from marginaudit.reports.series import Series, as_series
from marginaudit.reports.verdict import Evidence, Finding, Verdict, not_applicable


@dataclass(frozen=True)
class Equal:
    """measured = expected, entry by entry.

    Attributes
    ----------
    measure, expected : from a run to two series of the same entries
    scale : from a run to what the rounding allowance is relative to, entry by entry; by default the
        larger of the two sides
    witness : from a run to what shows a violation, as plain JSON data
    note : from a run to what else the reader is to know, "" for nothing
    """

    measure: Callable[[Any], Series]
    expected: Callable[[Any], Series]
    scale: "Callable[[Any], NDArray[np.float64]] | None" = None
    witness: "Callable[[Any], Mapping[str, Any] | None]" = field(default=lambda _: None)
    note: "Callable[[Any], str]" = field(default=lambda _: "")

    kind = "equality"

    def judge(self, run: Any) -> Finding:
        """The verdict on a run: equal within error bars that are themselves no wider than the allowance."""
        left, right = as_series(self.measure(run), "measure"), as_series(self.expected(run), "expected")
        if not len(left):
            return not_applicable("the dataset has nothing of which the statement speaks")
        if len(right) != len(left):
            raise ValueError(f"got {len(right)} expected values, expected {len(left)}: one for each measured")
        scale = None if self.scale is None else np.broadcast_to(self.scale(run), (len(left),))
        return self._compared(run, left, right, scale)

    @np.errstate(over="ignore", invalid="ignore")  # of values near float64's ends
    def _compared(self, run: Any, left: Series, right: Series, scale: NDArray[np.float64] | None) -> Finding:
        outcomes = compare_equal(left, right, scale)
        difference = np.abs((left.value - right.value).astype(float))
        if left.log:
            size = np.ones(len(left))
        elif scale is None:
            size = np.maximum(np.abs(left.value.astype(float)), np.abs(right.value.astype(float)))
        else:
            size = scale
        relative = np.divide(difference, size, out=np.zeros_like(difference), where=size > 0)
        # an entry that differs beyond its bars is worse than any that does not
        at = int(np.lexsort((relative, outcomes))[-1])
        bars = float(left.radius[at] + right.radius[at])
        where = left.label[at] if left.label else "" if left.step is None else f"{left.clock} = {left.at(at)}"
        verdicts = {
            Outcome.TRUE: Verdict.HOLDS,
            Outcome.UNSURE: Verdict.INCONCLUSIVE,
            Outcome.FALSE: Verdict.VIOLATED,
        }
        measured, expected = left.shown(at), right.shown(at)
        differing = int((outcomes == Outcome.FALSE).sum())
        entries = counted(len(left), "entry", "entries")
        compared = (
            f"{differing} of {entries} {'differs' if differing == 1 else 'differ'}"
            if differing
            else f"{entries} compared"
        )
        return Finding(
            verdict=verdicts[Outcome(int(outcomes.max()))],
            evidence=left.evidence if left.evidence == right.evidence else Evidence.FLOAT64,
            measured=measured,
            bound=expected,
            slack=expected / measured + 0.0 if measured and expected is not None else None,  # 0.0, and no -0.0
            worst_step=left.at(at),
            first_violation=left.first(outcomes == Outcome.FALSE),
            detail=(
                f"{compared}; largest {'difference of logarithms' if left.log else 'relative difference'} "
                f"{float(relative.max()):.1e}"
                f"{f' ({where})' if where else ''}, rounding allowance {bars / size[at] if size[at] else 0.0:.1e}. "
                f"{f'{UNDERFLOW} ' if outcomes[at] == Outcome.UNSURE and underflown(left, right)[at] else ''}"
                f"{self.note(run)}"
            ).rstrip(),
            witness=self.witness(run) if differing else None,
            left_out=left_out(run, left),
        )
