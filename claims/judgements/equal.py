"""Equalities."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from numbers import Rational
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marginaudit.claims.judgements.bounded import Values, bound_at, steps_of
from marginaudit.claims.judgements.compare import (
    NO_INSTANCE,
    UNDERFLOW,
    Outcome,
    compare_equal,
    sampled_steps,
    underflown,
    unseen,
)
from marginaudit.claims.series import Measured, Series, as_floats, as_series, exact_entry
from marginaudit.claims.verdict import Evidence, Finding, Verdict, not_applicable, weakest
from marginaudit.orders import counted
from marginaudit.training.iterates import with_time


@dataclass(frozen=True)
class Equal:
    """measured = expected, entry by entry.

    Attributes
    ----------
    measure : callable, run -> measured series
    expected : callable, run -> series with the same entries, or a number for all of them
        As a function of run and float steps, it is a formula, with values of a type allowed for bounds in `Bounded`.
    scale : callable, run -> scale of the rounding allowance, entry by entry; by default the larger of the two sides
    witness : callable, run -> witness of a violation, as plain JSON data
    note : callable, run -> additional note, or ""
    """

    measure: "Callable[[Any], Measured]"
    expected: "Callable[[Any], Measured | float] | Callable[[Any, NDArray[np.float64]], Measured | Values]"
    scale: "Callable[[Any], NDArray[np.float64]] | None" = None
    witness: "Callable[[Any], Mapping[str, Any] | None]" = field(default=lambda _: None)
    note: "Callable[[Any], str]" = field(default=lambda _: "")

    kind = "equality"

    def judge(self, run: Any) -> Finding:
        """Verdict on a run: equal if error bars overlap and are no wider than the allowance."""
        left = as_series(self.measure(run), "measure")
        if not len(left):
            return not_applicable(NO_INSTANCE)
        right = self.stated(run, left)
        if len(right) != len(left):
            raise ValueError(f"got {len(right)} expected values, expected {len(left)}: one for each measured")
        scale = None if self.scale is None else np.broadcast_to(self.scale(run), (len(left),))
        return self._compared(run, left, right, scale)

    def stated(self, run: Any, left: Series) -> Series:
        """The expected side: a series, a number for every entry, or the values of a formula of the steps."""
        formula, steps = with_time(self.expected), steps_of(left)
        found = formula(run, steps)
        if isinstance(found, Series) or not (formula is self.expected or isinstance(found, float | Rational)):
            return as_series(found, "expected")
        return bound_at(lambda *_: found, run, steps, left, "expected")

    @np.errstate(over="ignore", invalid="ignore")  # of values near float64's ends
    def _compared(self, run: Any, left: Series, right: Series, scale: NDArray[np.float64] | None) -> Finding:
        outcomes, evidence = compare_equal(left, right, scale), weakest(left.evidence, right.evidence)
        faded, exact = underflown(left, right), evidence is Evidence.EXACT
        if not exact:
            left, right = left.in_float64, right.in_float64
        difference, size = np.abs(left.value - right.value), scale
        if left.log:
            size = np.ones(len(left))
        elif size is None:
            size = np.maximum(np.abs(left.value), np.abs(right.value))
        relative, some = np.zeros(len(left)), (size > 0).astype(bool)
        relative[some] = as_floats(np.asarray(difference[some] / size[some]))
        # entries that differ beyond their bars come first
        at = int(np.lexsort((relative, outcomes))[-1])
        bars = 0.0 if exact else float(left.radius[at] + right.radius[at])
        allowance = bars / size[at] if bars and size[at] else 0.0
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
            evidence=evidence,
            measured=measured,
            bound=expected,
            measured_exact=exact_entry(left, at),
            bound_exact=exact_entry(right, at),
            worst_step=left.at(at),
            first_violation=left.first(outcomes == Outcome.FALSE),
            detail=(
                f"{compared}; largest {'difference of logarithms' if left.log else 'relative difference'} "
                f"{float(relative.max()):.1e}"
                f"{f' ({where})' if where else ''}, rounding allowance {allowance:.1e}. "
                f"{f'{UNDERFLOW} ' if outcomes[at] == Outcome.UNSURE and faded[at] else ''}"
                f"{self.note(run)}"
            ).rstrip()
            + (sampled_steps(left) if outcomes.max() == Outcome.TRUE else ""),
            witness=self.witness(run) if differing else None,
            left_out=unseen(run, left, evidence),
        )
