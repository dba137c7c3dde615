"""Bounds with a hidden constant: measured <= C shape(t), or measured >= C shape(t), for some C > 0."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from marginaudit.claims.judgements.bounded import Steps
from marginaudit.claims.judgements.compare import FADED, NO_INSTANCE, curve_of, left_out
from marginaudit.claims.series import Series, as_series, natural, position, position_text, real
from marginaudit.claims.values.json_data import finite
from marginaudit.claims.verdict import Curve, Finding, Verdict, needed, not_applicable
from marginaudit.orders import counted
from marginaudit.orders.arrays import Floats

Mask: TypeAlias = NDArray[np.bool_]

HEADROOM = 2.0
"""Factor between the fitted constant and the tightest one on the fitting part."""

RUNAWAY = 10.0
"""Factor by which a needed constant exceeds the fitted one to refute it, if its pace does not slow."""

SLOWING = 0.9
"""Ratio of paces over the two halves of the steps' logarithms below which the pace slows."""

STILL_RISING = 0.25
"""Least power of ln t of a rising needed constant, if it does not settle."""

SETTLING = 0.6
"""Ratio of rises over the two halves of the tested steps' logarithms below which a needed constant settles.

The ratio is at least 0.7 for ln t, and a half for a quantity that approaches its limit as 1/ln t.
"""

LONG = 1000.0
"""Least factor between the first and last tested steps of a run that can refute a statement without a regime."""

RISES = " The constant needed still rises at the end, as it would if a logarithm were missing."

TOO_SHORT = " Without a given regime, fewer than three decades of tested steps cannot refute it."


@dataclass(frozen=True)
class HiddenConstant:
    """The constant is fitted on the first half of the steps' logarithms and tested, unchanged, on the rest.

    The statement holds if the fitted constant is valid on the rest and the needed constant does not rise at the end
    like a logarithm, which the headroom of 2 would hide. It is violated if the needed constant exceeds the fitted one
    by a large factor beyond error bars, at a pace that does not slow, or if no constant of the right sign is valid at a
    step. Everything else is inconclusive, including runs with too few steps to show a pace.

    Short runs cannot refute it, because their start may resemble another rate. With a ``regime``, a refutation by pace
    needs a last decade beyond it; without one, three decades of tested steps, as for a `Limit`. Statements on ``late``
    steps are judged on that decade only; a violation before its second half must persist there.

    Logarithms are computed in float64, and the evidence is float64.

    Attributes
    ----------
    measure : callable, run -> measured series, with steps
    shape : callable, (run, float steps) -> shape(t) > 0, on the scale of the series
    side : "upper" for measured <= C shape, "lower" for measured >= C shape
    regime : callable, run -> first step of the asymptotic regime; None if unknown
        Infinite if the run does not reach the regime; 0 if the statement itself limits its steps.
    late : bool
        Whether the statement is only about steps in that regime.
    """

    measure: Callable[[Any], Series]
    shape: Callable[[Any, Steps], ArrayLike]
    side: Literal["upper", "lower"] = "upper"
    regime: "Callable[[Any], float] | None" = None
    late: bool = False

    @property
    def kind(self) -> str:
        """Name of the kind of statement for reports."""
        return f"{self.side} bound with a hidden constant"

    def judge(self, run: Any) -> Finding:
        """Verdict on a run, with the tightest constant valid on it."""
        measured = as_series(self.measure(run), "measure").in_float64
        if not len(measured):
            return not_applicable(NO_INSTANCE)
        begins = 0.0 if self.regime is None else self.regime(run)
        in_regime = bool(_steps(measured)[-1] / 10 >= begins)
        if not self.late:
            return self._judge(run, measured, in_regime=in_regime)
        return self._judge_late(run, measured, begins, in_regime=in_regime)

    def _judge_late(self, run: Any, measured: Series, begins: float, *, in_regime: bool) -> Finding:
        step = _steps(measured)
        half = step[-1] / np.sqrt(10)
        found = self._judge(run, measured.taken(step >= step[-1] / 10), in_regime=in_regime)
        if found.first_violation is not None and found.first_violation < half:
            second = self._judge(run, measured.taken(step >= half), in_regime=in_regime)
            found = second if second.verdict is Verdict.VIOLATED else found
        if not in_regime:
            where = f"begin at about t = {begins:.4g}" if np.isfinite(begins) else "the run does not get to"
            cause = f"The statement is about late steps, which {where}; the run ends at"
        elif found.first_violation is not None and found.first_violation < half:
            cause = f"What fails at t = {found.first_violation} may yet come true; the run ends at"
        else:
            return found
        return replace(
            found,
            verdict=Verdict.INCONCLUSIVE,
            first_violation=None,
            beyond_the_run=not in_regime,
            needs="" if in_regime else needed("t", 10 * begins, position(step[-1])),
            detail=f"{cause} t = {position_text(step[-1])}. In its last decade: {found.verdict}. {found.detail}",
        )

    def _judge(self, run: Any, measured: Series, *, in_regime: bool) -> Finding:
        step = _steps(measured)
        shape = np.broadcast_to(real(self.shape(run, step)), step.shape)
        value = measured.value
        if np.isnan(shape).any():
            raise ValueError("not a number on one side of a comparison")
        if not measured.log:
            if (shape < 0).any():
                at = int(np.argmax(shape < 0))
                raise ValueError(
                    f"got a shape of {shape[at]:g} at {measured.clock} = {position_text(step[at])}, expected > 0"
                )
            seen = (shape > FADED) | (np.abs(value) > np.sqrt(FADED))  # else underflow may have made their ratio
            measured, step, shape = measured.taken(seen), step[seen], shape[seen]
        needed, least, most = (self._needed(measured, shape, bars) for bars in (0, -1, 1))
        if np.isposinf(most).any():
            refuted = bool(np.isposinf(least).any())
            at = int(np.argmax(np.isposinf(least if refuted else most)))
            where = f"At {measured.clock} = {position_text(step[at])}"
            return Finding(
                Verdict.VIOLATED if refuted else Verdict.INCONCLUSIVE,
                measured.evidence,
                measured=measured.shown(at),
                bound=0.0,
                worst_step=position(step[at]),
                first_violation=position(step[at]) if refuted else None,
                detail=f"{where} no constant C > 0 makes it true."
                if refuted
                else f"{where} the error bars leave open whether any constant C > 0 makes it true.",
                curve=self._curve(measured, shape, -np.inf),
            )
        fitted_on = np.log(step) <= (np.log(step[:1]) + np.log(step[-1:])) / 2
        if fitted_on.all():
            few = counted(len(measured), "recorded step is", "recorded steps are")
            return Finding(
                Verdict.INCONCLUSIVE, detail=f"{few} too few to fit a constant on some and test it on others."
            )
        with np.errstate(over="ignore", invalid="ignore"):  # a quantity of 0 has no slack
            return self._tested(run, measured, shape, needed, least, most, fitted_on, in_regime=in_regime)

    @np.errstate(divide="ignore", over="ignore", invalid="ignore")  # of values that are 0 or near float64's ends
    def _needed(self, measured: Series, shape: Floats, bars: int) -> Floats:
        """Logarithm of the needed constant by entry, negated for a lower bound; +inf if no positive one is valid.

        The measured quantity is shifted by ``bars`` error bars, in the direction that needs more.
        """
        value: Floats = measured.value
        if bars:
            value = value + (bars if self.side == "upper" else -bars) * measured.radius
        needed = value - shape if measured.log else np.where(value > 0, np.log(np.abs(value)) - np.log(shape), -np.inf)
        return needed if self.side == "upper" else -needed

    def _tested(
        self,
        run: Any,
        measured: Series,
        shape: Floats,
        needed: Floats,
        least: Floats,
        most: Floats,
        fitted_on: Mask,
        *,
        in_regime: bool,
    ) -> Finding:
        step = _steps(measured)
        constant = float(needed[fitted_on].max()) + np.log(HEADROOM)
        rest = needed[~fitted_on]
        at = len(needed) - len(rest) + int(np.argmax(rest))
        beyond = np.flatnonzero(~fitted_on & (needed > constant))
        long = self.regime is not None or measured.clock != "t" or step[-1] >= LONG * step[fitted_on][-1]
        if (rest <= constant).all():
            rises = _rises(step, needed, fitted_on, least, most)
            verdict = Verdict.INCONCLUSIVE if rises else Verdict.HOLDS
            note = RISES if rises else ""
        else:
            beyond_bars = bool(least[-1] - constant > np.log(RUNAWAY))
            refuted = in_regime and long and beyond_bars and _runs_away(step, needed, fitted_on)
            verdict = Verdict.VIOLATED if refuted else Verdict.INCONCLUSIVE
            note = "" if long else TOO_SHORT
        sign = 1 if self.side == "upper" else -1
        tightest = float(np.exp(sign * needed.max()))
        return Finding(
            verdict=verdict,
            evidence=measured.evidence,
            measured=measured.shown(at),
            bound=finite(natural(sign * constant + shape[at]) if measured.log else np.exp(sign * constant) * shape[at]),
            slack=finite(natural(constant - needed[at])),
            side=self.side,
            constant=finite(tightest),
            repeats_within=self._repeats_within(measured, shape, needed, fitted_on),
            worst_step=position(step[at]),
            first_violation=position(step[beyond[0]]) if verdict is Verdict.VIOLATED else None,
            detail=(
                f"Tightest constant on the run: {tightest:.4g}. Fitted to "
                f"{measured.clock} <= {position_text(step[fitted_on][-1])} with "
                f"a factor {HEADROOM:g} of room: {np.exp(sign * constant):.4g}; tested, unchanged, to "
                f"{measured.clock} = {position_text(step[-1])}."
                f"{note}"
            ),
            curve=self._curve(measured, shape, sign * constant),
            left_out="" if self.late else left_out(run, measured),
        )

    def _repeats_within(self, measured: Series, shape: Floats, needed: Floats, fitted_on: Mask) -> float:
        """Largest factor, less 1, by which slack or constant can worsen in another run, by both runs' error bars."""
        least, most = (self._needed(measured, shape, bars) for bars in (-2, 2))
        with np.errstate(invalid="ignore"):
            constant = most.max() - needed.max()
            fitted = needed[fitted_on].max() - least[fitted_on].max()
            tested = most[~fitted_on].max() - needed[~fitted_on].max()
            worse = float(np.expm1(max(constant, fitted + tested)))
        return worse if np.isfinite(worse) else np.inf

    def _curve(self, measured: Series, shape: Floats, log_constant: float) -> Curve:
        with np.errstate(over="ignore", invalid="ignore"):
            bound = log_constant + shape if measured.log else np.exp(log_constant) * shape
        return curve_of(measured, {self.side: bound})


def _rises(step: Floats, needed: Floats, fitted_on: Mask, least: Floats, most: Floats) -> bool:
    """Whether the needed constant rises at the end, beyond error bars, by `STILL_RISING` and `SETTLING`."""
    log_step = np.log(step)
    late = log_step > (log_step[fitted_on][-1] + log_step[-1]) / 2
    if least[late].max() <= most[~late].max():
        return False
    reached = needed[~late].max()
    second, first = needed[late].max() - reached, reached - needed[fitted_on].max()
    logarithm = np.log1p(step)
    pace = STILL_RISING * np.log(logarithm[-1] / logarithm[~late][-1])
    return bool(second > pace and second > SETTLING * first)


def _runs_away(step: Floats, needed: Floats, fitted_on: Mask) -> bool:
    """Whether the needed constant keeps its pace from its first finite value; a quantity of 0 needs no constant."""
    since = int(fitted_on.sum()) - 1
    since += int(np.argmax(np.isfinite(needed[since:])))
    return _keeps_pace(np.log(step[since:]), needed[since:])


def _keeps_pace(log_step: Floats, needed: Floats) -> bool:
    """Whether the needed constant rises as fast in the second half as in the first.

    Both neighbours of the midpoint are tried as the midpoint. They must be inner entries: two entries show no pace.
    """
    middle = (log_step[0] + log_step[-1]) / 2
    inside = np.flatnonzero((log_step > log_step[0]) & (log_step < log_step[-1]))
    before, after = inside[log_step[inside] <= middle], inside[log_step[inside] >= middle]
    if not len(before) or not len(after):
        return False
    for at in (before[-1], after[0]):
        first = (needed[at] - needed[0]) / (log_step[at] - log_step[0])
        second = (needed[-1] - needed[at]) / (log_step[-1] - log_step[at])
        if second < SLOWING * first:
            return False
    return True


def _steps(measured: Series) -> Floats:
    return measured.along("a hidden constant is fitted")
