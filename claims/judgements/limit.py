"""Limits and rates."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from marginaudit.claims.judgements.compare import curve_of
from marginaudit.claims.series import FORMULA_ROUNDING, Series, as_series, exactly, position, position_text
from marginaudit.claims.verdict import Evidence, Finding, Verdict, weakest
from marginaudit.orders.arrays import Floats

if TYPE_CHECKING:
    import flint

NEAR = 0.01
"""Relative distance from the prediction below which a limit counts as reached."""

SETTLED = 0.005
"""Largest relative change over half a decade of a settled distance."""

STEADY = 0.5
"""Largest spread of a settled distance, relative to its part beyond the error bars."""

RESOLVED = 1e-4
"""Widest error bars within which a distance counts as 0."""

VANISHING = 0.2
"""A rate below this share of its value a decade earlier tends to 0."""

APART = 3
"""Decades between two entries from which a third is extrapolated."""

STABLE = 0.01
"""Largest change of an extrapolated distance over `APART` decades, relative to it, that refutes a limit."""

FEWEST = 3
"""Fewest entries in each half of the last decade of a settled distance."""

OFF_A_DECADE = 0.1
"""Largest distance of an entry from the decade it represents, in decades."""

REMAINS = 0.6
"""Share of a distance that remains, if its fall goes on slowing, beyond which it does not tend to 0.

Extrapolated from a distance like t^-a for a > 0 it is 0, from one like 1/log t a half.
"""

ALTERNATING = 0.8
"""Smallest share of alternating changes between entries in a cycle."""

FEWEST_TURNS = 5
"""Fewest turns in each half of the last decade of a cycle."""


@dataclass(frozen=True)
class Limit:
    """measured(t) tends to predicted; or, with ``positive``, to some limit > 0, which should be the predicted one.

    A verdict needs a run whose last decade lies in the asymptotic regime. The statement holds if over the last three
    decades the relative distance decreases each time, or is within narrow error bars, and ends below 1 %, without
    having stopped: extrapolated from the last decade, less than `REMAINS` of it is left beyond error bars. It is
    violated if in the last decade the distance from a stated value is beyond the error bars and does not decrease, if
    the quantity is in a cycle that does not decay, or if a quantity with a positive limit vanishes. Everything else is
    inconclusive, including runs without a prediction (NaN) unless in such a cycle.

    The evidence is float64. It is that of the quantity, at most certified, if the prediction is a Fraction, an integer
    or a ball, or if a cycle is visible in the measured quantity alone.

    Attributes
    ----------
    measure : callable, run -> measured series, with steps; logarithms are judged on the natural scale
    predicted : callable, run -> predicted limit, of a type allowed for bounds in `Bounded`
    regime : callable, run -> first step of the asymptotic regime
    uncertainty : float
        Relative error bar of the prediction.
    positive : bool
        Whether the statement is only that the limit is positive.
    approach : from float steps to numbers > 0 that tend to 0, or None
        Stated order of the distance, such as 1/log t, which no run brings below 1 %. The values m are extrapolated to
        order 0 from entries `APART` decades apart, of orders r and r': (m r' - m' r)/(r' - r) is judged in their place.
        The verdict is as good as this order. Where the extrapolated distance still changes by more than `STABLE` over
        `APART` decades, which a wrong order does, the limit is not refuted.
    scale : from a run to the size to which the distance from a limit of 0 is relative, or None for the largest value
        For example the distance of x_0 from x*, for x_t -> x*.
    """

    measure: Callable[[Any], Series]
    predicted: "Callable[[Any], float | Fraction | flint.arb]"
    regime: "Callable[[Any], float]"
    uncertainty: float = 0.0
    positive: bool = False
    scale: "Callable[[Any], float] | None" = None
    approach: "Callable[[Floats], ArrayLike] | None" = None

    kind = "limit"
    late = True
    quantifier = "limit"

    def judge(self, run: Any) -> Finding:
        """Verdict on a run."""
        measured, predicted = as_series(self.measure(run), "measure").natural, self.predicted(run)
        if predicted == 0 and self.positive:
            raise ValueError("got 0 as predicted, expected a positive limit")
        step = measured.along("a limit is approached")
        if not len(measured):
            return Finding(Verdict.INCONCLUSIVE, detail="The run recorded too few steps to show a limit.")
        size = abs(float(predicted)) or self._size(run, measured)
        if self.approach is not None:
            measured, step = _extrapolated(measured.in_float64, step, self.approach)
            if not len(measured):
                return Finding(Verdict.INCONCLUSIVE, detail=f"The run has no {APART} decades to extrapolate from.")
        return self._judged(measured, step, predicted, size, in_regime=bool(step[-1] / 10 >= self.regime(run)))

    def _size(self, run: Any, measured: Series) -> float:
        """Size to which the distance from a limit of 0 is relative."""
        known = np.abs(measured.in_float64.known)
        largest = float(np.nanmax(known)) if np.isfinite(known).any() else 1.0
        size = largest or 1.0 if self.scale is None else float(self.scale(run))
        if not 0 < size < np.inf:
            raise ValueError(f"scale: got {size!r}, expected a positive number")
        return size

    @np.errstate(over="ignore", invalid="ignore")  # of values near float64's ends
    def _judged(self, found: Series, step: Floats, limit: Any, size: float, *, in_regime: bool) -> Finding:
        measured, stated, surest = found.in_float64, exactly(limit, (1,)), weakest(found.evidence, Evidence.CERTIFIED)
        predicted, off = float(limit), 0.0 if stated is None else float(stated.in_float64.radius[0])
        evidence = surest if stated is not None and not self.uncertainty else Evidence.FLOAT64
        if in_regime and not self.positive and _cycles(measured, step):
            return _cycle(measured, step, predicted, surest)
        if np.isnan(predicted):
            return Finding(
                Verdict.INCONCLUSIVE,
                evidence,
                measured=measured.shown(len(measured) - 1),
                detail="The run reached no state from which the limit is predicted.",
            )
        distance = np.abs(measured.value - predicted) / size
        bars = (measured.radius + off) / size + self.uncertainty
        if evidence is not Evidence.FLOAT64:
            bars = bars + FORMULA_ROUNDING * distance
        last = position(step[-1])
        marks = [int(np.argmin(np.abs(np.log(step) - np.log(last / 10**k)))) for k in (3, 2, 1, 0)]
        seen = np.abs(np.log10(step[marks]) - np.log10(last) + np.array([3, 2, 1, 0])) < OFF_A_DECADE
        changes = False
        near = in_regime and seen.all() and _approached(distance[marks], bars[marks])
        stops = near and (_elsewhere(step, distance, bars) or _stops(step, distance, bars, marks[1:]))
        if near:
            verdict = Verdict.INCONCLUSIVE if stops else Verdict.HOLDS
        elif in_regime and (self._vanishes(step, measured) if self.positive else _elsewhere(step, distance, bars)):
            changes = self.approach is not None and not (seen[0] and _stable(distance[marks], bars[marks]))
            verdict = Verdict.INCONCLUSIVE if changes else Verdict.VIOLATED
        else:
            verdict = Verdict.INCONCLUSIVE
        shown = ", ".join(
            f"{f'{100 * distance[m]:.3g} %' if measured.bounded[m] else 'not known'} at {measured.clock} = "
            f"{position_text(step[m])}"
            for m in marks
        )
        wrong = " The extrapolated distance still changes, as under a wrong order." if changes else ""
        wrong += " Its fall slows as towards another limit." if stops else ""
        cause = {
            Verdict.HOLDS: "",
            Verdict.VIOLATED: " It vanishes." if self.positive else " It has settled elsewhere.",
            Verdict.INCONCLUSIVE: f" Not decided by {measured.clock} = {position_text(last)}.{wrong}",
        }[verdict]
        return Finding(
            verdict=verdict,
            evidence=evidence,
            measured=measured.shown(len(measured) - 1),
            bound=predicted,
            worst_step=last,
            first_violation=last if verdict is Verdict.VIOLATED else None,
            detail=(
                f"Relative distance from the prediction{'' if predicted else f' 0, in units of {size:.4g}'}: {shown}; "
                f"error bars {bars[-1]:.1e}.{cause}"
            ),
            curve=curve_of(measured, {}, predicted=None if np.isnan(predicted) else predicted),
        )

    def _vanishes(self, step: Floats, measured: Series) -> bool:
        early = (step >= step[-1] / 10) & (step <= step[-1] / 8)
        if not early.any():
            return False
        before = np.median(measured.value[early])
        after = np.median(measured.upper[step >= 0.8 * step[-1]])
        return bool(before > 0 and after < VANISHING * before)


def _extrapolated(measured: Series, step: Floats, approach: "Callable[[Floats], ArrayLike]") -> tuple[Series, Floats]:
    """Values extrapolated to 0 of their order, at steps with an entry `APART` decades earlier."""
    order = np.broadcast_to(np.asarray(approach(step), dtype=float), step.shape)
    if not ((order > 0).all() and (np.diff(order) < 0).all()):
        raise ValueError("approach: expected numbers > 0 that fall along the steps")
    earlier = np.searchsorted(step, step / 10.0**APART * 10.0**-OFF_A_DECADE)
    there = np.flatnonzero(np.abs(np.log10(step / step[earlier]) - APART) < OFF_A_DECADE)
    before, r, q = earlier[there], order[there], order[earlier[there]]
    value = (measured.value[there] * q - measured.value[before] * r) / (q - r)
    radius = (measured.radius[there] * q + measured.radius[before] * r) / (q - r)
    rounding = FORMULA_ROUNDING * (np.abs(measured.value[there]) * q + np.abs(measured.value[before]) * r) / (q - r)
    found = Series(value, radius + rounding, measured.step[there] if measured.step is not None else None)
    return replace(found, clock=measured.clock, evidence=measured.evidence), step[there]


def _approached(distance: Floats, bars: Floats) -> bool:
    """Whether distances a decade apart decrease, each by more than `SETTLED`, or are 0 within error bars."""
    zero = (distance <= bars) & (bars <= RESOLVED)
    falls = distance[1:] + bars[1:] < (1 - SETTLED) * (distance[:-1] - bars[:-1])
    return bool((falls | zero[1:]).all() and distance[-1] + bars[-1] < NEAR)


def _stops(step: Floats, distance: Floats, bars: Floats, decades: list[int]) -> bool:
    """Whether more than `REMAINS` of the last distance is left beyond error bars if its fall goes on slowing.

    Its fall in log t is extrapolated as a power of t, from the start, middle and end of the last decade, or from
    ``decades`` if entries are farther apart. Distances are the largest from there on, as of an oscillation.
    """
    place = np.log(step)
    near = [int(np.argmin(np.abs(place - place[-1] + k * np.log(10)))) for k in (1, 0.5, 0)]
    near = near if len(set(near)) == len(near) else decades
    ends = [at + int(np.argmax(distance[at:])) for at in near]
    rest = distance[-1] - bars[-1]
    if rest <= 0 or ends[1] == ends[2]:
        return bool(rest > 0)
    if ends[0] == ends[1]:
        return False
    width, fall, bar = np.diff(place[ends]), -np.diff(distance[ends]), bars[ends][1:] + bars[ends][:-1]
    before, after = (fall[0] - bar[0]) / width[0], (fall[1] + bar[1]) / width[1]
    if before <= after:
        return bool(after * width[1] <= SETTLED * rest)
    slowing = np.log(before / after) / width.mean()
    return bool(rest - after * np.exp(-slowing * width[1] / 2) / slowing > REMAINS * distance[-1])


def _stable(distance: Floats, bars: Floats) -> bool:
    """Whether the first and the last distance agree, error bars included."""
    return bool(abs(distance[-1] - distance[0]) + bars[-1] + bars[0] <= STABLE * distance[-1])


def _elsewhere(step: Floats, distance: Floats, bars: Floats) -> bool:
    """Whether distances in the last decade are beyond the error bars, and no smaller in its second half."""
    decade = step >= step[-1] / 10
    late = step >= step[-1] / np.sqrt(10)
    if min((decade & ~late).sum(), late.sum()) < FEWEST:
        return False
    before, after = distance[decade & ~late], distance[late]
    room = (distance - bars)[decade].min()
    spread = np.ptp(distance[decade])
    return bool(room > 0 and spread <= STEADY * room and np.median(after) >= (1 - SETTLED) * np.median(before))


def _cycles(measured: Series, step: Floats) -> bool:
    """Whether the quantity alternates in the last decade, beyond the error bars and without decay."""
    decade = step >= step[-1] / 10
    turns = np.diff(measured.value[decade])
    size, half = np.abs(turns), len(turns) // 2
    bars = 2 * float(measured.radius[decade].max())
    return bool(
        half >= FEWEST_TURNS
        and np.mean(turns[1:] * turns[:-1] < 0) >= ALTERNATING
        and np.median(size) > bars + NEAR * np.abs(measured.value[decade]).max()
        and np.median(size[half:]) >= (1 - SETTLED) * np.median(size[:half])
    )


def _cycle(measured: Series, step: Floats, predicted: float, evidence: Evidence) -> Finding:
    decade = step >= step[-1] / 10
    values = np.sort(measured.value[decade])
    low, high = np.median(values[: len(values) // 2]), np.median(values[len(values) // 2 :])
    return Finding(
        Verdict.VIOLATED,
        evidence,
        measured=measured.shown(len(measured) - 1),
        worst_step=position(step[-1]),
        first_violation=position(step[-1]),
        detail=(
            f"From {measured.clock} = {position_text(step[decade][0])} to {position_text(step[-1])} it goes back "
            f"and forth between about {low:.4g} and {high:.4g}, and this does not die out."
        ),
        curve=curve_of(measured, {}, predicted=None if np.isnan(predicted) else predicted),
    )
