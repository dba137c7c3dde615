"""Distance of a measured quantity from its bound: room, slack, and their reproducibility in another run."""

from dataclasses import replace
from math import isfinite, ulp
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from marginaudit.claims.series import Series, natural
from marginaudit.claims.values.reportable import Number
from marginaudit.claims.verdict import LEAST

Side: TypeAlias = Literal["upper", "lower"]


def as_known(side: Side, measured: Series) -> Series:
    """The measured series, with values smaller than their error bars replaced by the bar's end towards the bound.

    >>> from marginaudit.claims.series import series
    >>> as_known("upper", series([0.25, 0.0, 3.0], radius=[0.5, 0.5, 1.0])).value.tolist()
    [0.75, 0.0, 3.0]
    """
    size, end = np.abs(measured.value), measured.upper if side == "upper" else measured.lower
    hidden = (size > 0) & (size < measured.radius) & measured.bounded
    return measured if measured.log else replace(measured, value=np.where(hidden, end, measured.value))


def relative_room(side: Side, measured: Series, bound: Series) -> NDArray[np.float64]:
    """Relative distance of the series `as_known` from the bound; negative if the bound is broken."""
    measured = as_known(side, measured)
    with np.errstate(over="ignore", invalid="ignore"):  # of an infinite side from itself
        difference = (bound.value - measured.value).astype(float) * (1 if side == "upper" else -1)
    if measured.log:
        return np.asarray(difference)
    scale = np.maximum(abs(bound.value).astype(float), abs(measured.value).astype(float))
    return np.asarray(difference / np.where((scale > 0) & np.isfinite(scale), scale, 1.0))


def repeats_within(ratio: float, reached: NDArray[np.float64]) -> float:
    """Largest factor, less 1, by which the worst slack can worsen, from the ratios within two runs' error bars."""
    with np.errstate(invalid="ignore", over="ignore"):
        worse = float(np.expm1(ratio - reached.min()))
    return worse if np.isfinite(worse) else np.inf


def log_ratios(measured: Series, sides: list[tuple[Side, Series]], bars: int = 0) -> NDArray[np.float64]:
    """log(large / small) by side, for the quantity that should be larger, each shifted by ``bars`` error bars.

    Without ``bars``, for the series `as_known`. Infinite if the signs differ.
    """
    found = []
    for side, bound in sides:
        seen = measured if bars else as_known(side, measured)
        small, large = (seen, bound) if side == "upper" else (bound, seen)
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):  # of sides that are 0 or infinite
            low = np.asarray(small.value + bars * small.radius if bars else small.value, dtype=float)
            high = np.asarray(large.value - bars * large.radius if bars else large.value, dtype=float)
            if measured.log:
                found.append(high - low)
                continue
            ratio = np.sign(high) * (np.log(np.abs(high)) - np.log(np.abs(low)))
            opposite = np.where(low == high, 0.0, np.copysign(np.inf, high - low))
        found.append(np.where(np.sign(low) * np.sign(high) > 0, ratio, opposite))
    return np.array(found)


def without_the_least(bound: float | None) -> float | None:
    """Replace `LEAST`, which stands for the strict bounds > 0 and < 0, by 0.

    >>> without_the_least(LEAST), without_the_least(-LEAST), without_the_least(-2.0)
    (0.0, 0.0, -2.0)
    """
    return 0.0 if bound is not None and abs(bound) == LEAST else bound


def slack(side: Side, measured: Series, bound: Series, at: int) -> Number:
    """Slack at an entry on the natural scale; below 1 the bound is broken.

    bound / measured for an upper bound, measured / bound for a lower one, inverted for negative numbers. None for a
    division by 0, for different signs with room between them, and for overflow.

    >>> from marginaudit.claims.series import series
    >>> one, four = series([1.0], radius=0), series([4.0], radius=0)
    >>> slack("upper", one, four, 0), slack("lower", one, four, 0), slack("upper", four, series([-1.0], radius=0), 0)
    (4.0, 0.25, -0.25)
    """
    if not measured.bounded[at]:
        return None
    value, stated = float(measured.value[at]), float(bound.value[at])
    if measured.log:
        return _finite(natural(stated - value if side == "upper" else value - stated))
    stated = without_the_least(stated) or 0.0
    if not value:
        return None
    if (side == "upper") is (value > 0):
        ratio = stated / value
    elif stated and (stated > 0) is (value > 0):
        ratio = value / stated
    else:
        return None
    return _finite(ratio or (ulp(0.0) if stated and isfinite(value) else 0.0))


def _finite(ratio: float) -> Number:
    return ratio if isfinite(ratio) else None
