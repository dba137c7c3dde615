"""Comparison of numbers with error bars."""

from collections.abc import Callable, Mapping
from enum import IntEnum
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from marginaudit.claims.series import Series, is_exact, position_text
from marginaudit.claims.verdict import LEAST, Curve, Evidence, weakest
from marginaudit.training.schedule import NEIGHBOURS

if TYPE_CHECKING:
    import flint

NO_INSTANCE = "the dataset has no instance of the statement"

ALLOWANCE = 1e-9
"""Widest relative error bars of two overlapping sides that count as equal."""


DECADE = 10
"""Largest ratio of neighbouring recorded steps that represent the steps between them."""


class Outcome(IntEnum):
    """Outcome of a comparison at one entry."""

    TRUE = 0
    UNSURE = 1
    FALSE = 2


def compare_upper(small: Series, large: Series) -> NDArray[np.int64]:
    """Compare small <= large, entry by entry.

    The outcome is certain if the error bars do not overlap. Overlapping bars no wider than `ALLOWANCE` (relative) count
    as equality, and so as true. Two sides that may have underflown are unsure, unless the bound is `LEAST` and the
    other side exactly 0. Rational numbers and balls are compared without rounding.

    >>> from marginaudit.claims.series import series
    >>> compare_upper(series([1, 2, 3, 3], radius=[0, 0, 0.5, 0]), series([2, 1, 3, 3], radius=0)).tolist()
    [0, 2, 1, 0]
    """
    _same_scale(small, large)
    if (surely := weakest(small.evidence, large.evidence)) is not Evidence.FLOAT64:
        return _as_they_are(small, large, surely, lambda low, high: low <= high, lambda low, high: low > high)
    small, large = small.in_float64, large.in_float64
    with np.errstate(over="ignore", invalid="ignore"):
        bars = small.radius + large.radius
        room = large.value - small.value
        equal = (abs(room) <= bars).astype(bool) & _narrow(small, large)
        # an infinite bar hides every finite room; an infinite value that is known is beyond every other one
        certain = np.isfinite(bars.astype(float)) | _known(large, np.inf) | _known(small, -np.inf)
        result = np.full(len(small), Outcome.UNSURE, dtype=np.int64)
        result[(room >= bars).astype(bool) & certain | equal] = Outcome.TRUE
        strict = (small.value == LEAST) & _zero(large) | _zero(small) & (large.value == -LEAST)
        result[(room < -bars).astype(bool) & (~underflown(small, large) | strict.astype(bool))] = Outcome.FALSE
    return result


def compare_equal(left: Series, right: Series, scale: NDArray[np.float64] | None = None) -> NDArray[np.int64]:
    """Compare left = right, entry by entry: true if error bars overlap and are no wider than `ALLOWANCE`.

    The allowance is relative to ``scale``, by default the larger side. Rational numbers and balls are compared without
    rounding, as by `compare_upper`.
    """
    _same_scale(left, right)
    if (surely := weakest(left.evidence, right.evidence)) is not Evidence.FLOAT64:
        return _as_they_are(
            left, right, surely, lambda one, other: one == other, lambda one, other: one != other, scale
        )
    left, right = left.in_float64, right.in_float64
    with np.errstate(over="ignore", invalid="ignore"):
        bars = left.radius + right.radius
        difference = abs(left.value - right.value)
        near = (difference <= bars).astype(bool)
        result = np.full(len(left), Outcome.UNSURE, dtype=np.int64)
        result[near & _narrow(left, right, scale)] = Outcome.TRUE
        result[(difference > bars).astype(bool) & ~underflown(left, right)] = Outcome.FALSE
    return result


BITS = 256
"""Precision in bits of Fractions compared with balls, and of balls with error bars."""


def _as_they_are(
    left: Series,
    right: Series,
    evidence: Evidence,
    true: Callable[[Any, Any], bool],
    false: Callable[[Any, Any], bool],
    scale: NDArray[np.float64] | None = None,
) -> NDArray[np.int64]:
    """Compare rational numbers or balls without rounding, by predicates for certainly true and certainly false.

    Overlapping balls no wider than `ALLOWANCE` count as equal.
    """
    if evidence is Evidence.EXACT:
        pairs = zip(left.value.tolist(), right.value.tolist(), strict=True)
        return np.array([Outcome.TRUE if true(*pair) else Outcome.FALSE for pair in pairs], dtype=np.int64)
    import flint

    with flint.ctx.workprec(BITS):
        balls = list(zip(_balls(left), _balls(right), strict=True))
        result = np.where(_narrow(left.in_float64, right.in_float64, scale), Outcome.TRUE, Outcome.UNSURE)
        result[[false(*pair) for pair in balls]] = Outcome.FALSE
        result[[true(*pair) for pair in balls]] = Outcome.TRUE
    return result.astype(np.int64)


def _balls(side: Series) -> "list[flint.arb]":
    """Entries as balls that include the error bars."""
    from flint import arb, fmpq

    found = []
    for value, bar in zip(side.value.tolist(), side.radius.tolist(), strict=True):
        exact = arb(fmpq(value.numerator, value.denominator)) if is_exact(value) else arb(value)
        found.append(exact + arb(0, bar) if bar else exact)
    return found


FADED = LEAST / np.finfo(float).eps
"""Size up to which a product may have an underflown factor, if the others are at most 1/eps (5e15)."""

UNDERFLOW = "Underflow may have taken all digits of both sides; logarithms would keep them."


def underflown(left: Series, right: Series) -> NDArray[np.bool_]:
    """Whether both sides may have lost digits to underflow, which error bars do not include."""
    if weakest(left.evidence, right.evidence) is not Evidence.FLOAT64:
        return np.zeros(len(left), dtype=bool)
    left, right = left.in_float64, right.in_float64
    sizes = [np.abs(number.astype(float)) for side in (left, right) for number in (side.value, side.radius)]
    return np.asarray((np.maximum.reduce(sizes) <= FADED) & (not left.log))


def _zero(side: Series) -> NDArray[np.bool_]:
    return np.asarray((side.value == 0) & (side.radius == 0))


def _known(side: Series, value: float) -> NDArray[np.bool_]:
    return np.asarray((side.value.astype(float) == value) & side.bounded)


def _narrow(left: Series, right: Series, scale: NDArray[np.float64] | None = None) -> NDArray[np.bool_]:
    bars = (left.radius + right.radius).astype(float)
    if left.log:
        return np.asarray(bars <= ALLOWANCE)
    if scale is None:
        scale = np.maximum(abs(left.value).astype(float), abs(right.value).astype(float))
    return np.asarray((bars <= ALLOWANCE * scale) & np.isfinite(bars), dtype=bool)


def _same_scale(left: Series, right: Series) -> None:
    if left.log != right.log:
        raise ValueError("one side is given in logarithms and the other is not")


def curve_of(
    measured: Series,
    bounds: Mapping[Literal["upper", "lower"], Series | NDArray[Any]],
    *,
    vacuous_above: float = np.inf,
    predicted: float | None = None,
) -> Curve:
    """Curve for a plot on the natural scale, from a measured series and bounds on the series' scale.

    A bound with a fitted constant is an array: it has no error bars.
    """

    def natural(values: Any) -> list[float]:
        with np.errstate(over="ignore"):
            found: list[float] = (np.exp(values) if measured.log else np.asarray(values)).tolist()
        return found

    def values(side: Literal["upper", "lower"]) -> list[float] | None:
        bound = bounds.get(side)
        return None if bound is None else natural(bound.value if isinstance(bound, Series) else bound)

    def bars(bound: Any) -> list[float] | None:
        return bound.natural.radius.tolist() if isinstance(bound, Series) else None

    return Curve(
        step=[] if measured.step is None else measured.step.tolist(),
        measured=natural(measured.known),
        upper=values("upper"),
        lower=values("lower"),
        measured_bar=bars(measured),
        upper_bar=bars(bounds.get("upper")),
        lower_bar=bars(bounds.get("lower")),
        vacuous_above=natural([vacuous_above])[0] if np.isfinite(vacuous_above) else None,
        clock=measured.clock,
        predicted=predicted,
    )


def left_out(run: Any, measured: Series, first: int | None = None) -> str:
    """First decade of training steps without a measurement, from ``first`` to the run's end, or "".

    If the settings chose the recorded steps, the run's end is that of the longest stage. Otherwise the check ends at
    the last recorded step, and needs ``first``.
    """
    lengths = getattr(run, "lengths", ())
    if measured.step is None or measured.clock != "t" or not (lengths or first is not None):
        return ""
    start = max(first or 1, 1)
    return without_a_step(measured.step, start, max(lengths, default=start))


def unseen(
    run: Any,
    measured: Series,
    evidence: Evidence,
    first: int | None = None,
    applies: Callable[[NDArray[np.float64]], NDArray[np.bool_]] = lambda step: np.ones(len(step), dtype=bool),
) -> str:
    """First range of training steps that a statement covers without a measurement, or "".

    The search goes from ``first``, or the first measured step, to the run's end if the settings chose the recorded
    steps, else to the last measured step. For float64 evidence, recorded steps represent those between them: up to a
    decade if the run chose them, else up to its ratio ``between``, or `NEIGHBOURS`; for others, only themselves.
    """
    lengths = getattr(run, "lengths", ())
    if measured.step is None or measured.clock != "t":
        return ""
    reach = DECADE if getattr(run, "own_steps", False) else getattr(run, "between", None) or NEIGHBOURS
    if evidence is not Evidence.FLOAT64:
        reach = 1.0
    elif reach >= DECADE:
        return left_out(run, measured, first)
    recorded = np.unique(measured.step.astype(float))
    start = max(recorded[0] if first is None else first, 1)
    end = max(lengths, default=recorded[-1])
    step = np.array([start - 1, *recorded[(recorded >= start) & (recorded <= end)], end + 1])
    wide = (step[1:] >= step[:-1] + 2) & (step[1:] > reach * step[:-1])
    wide &= applies(step[:-1] + 1) | applies(step[1:] - 1)
    if not wide.any():
        return ""
    at = int(np.argmax(wide))
    return f"t = {position_text(step[at] + 1)} to {position_text(step[at + 1] - 1)}"


def sampled_steps(measured: Series) -> str:
    """Sentence on the number of measured training steps; "" if every step from first to last was measured."""
    if measured.step is None or measured.clock != "t" or not len(measured):
        return ""
    step = np.unique(measured.step.astype(float))
    if len(step) > step[-1] - step[0]:
        return ""
    ends = " to ".join(map(position_text, (step[0], step[-1])))
    return f" Measured at {len(step)} of the steps t = {ends}."


def without_a_step(recorded: NDArray[Any], start: int, end: int) -> str:
    """First decade from ``start`` to ``end`` without a recorded step, or ""."""
    step = np.unique(np.maximum([start, *recorded.astype(float), end], start))
    wide = np.flatnonzero(step[1:] > DECADE * step[:-1])
    if not len(wide):
        return ""
    before, after = (position_text(step[at]) for at in (wide[0], wide[0] + 1))
    return f"t = {before} to {after}"
