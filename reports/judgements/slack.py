"""How far a measured quantity is from its bound: room, slack, and how far these repeat in another run."""

from dataclasses import replace
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from marginaudit.reports.series import Series
from marginaudit.reports.verdict import LEAST

Side: TypeAlias = Literal["upper", "lower"]


def as_known(side: Side, measured: Series) -> Series:
    """The measured series, its values that are less than their error bars moved to the bars' ends towards the bound.

    >>> from marginaudit.reports.series import series
    >>> as_known("upper", series([0.25, 0.0, 3.0], radius=[0.5, 0.5, 1.0])).value.tolist()
    [0.75, 0.0, 3.0]
    """
    size, end = np.abs(measured.value), measured.upper if side == "upper" else measured.lower
    hidden = (size > 0) & (size < measured.radius) & measured.bounded
    return measured if measured.log else replace(measured, value=np.where(hidden, end, measured.value))


def relative_room(side: Side, measured: Series, bound: Series) -> NDArray[np.float64]:
    """How far the bound is from being reached by the series `as_known`: relative, and negative where it is broken."""
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
    """log(large / small) by side, of the quantity that should be the larger, each moved by ``bars`` error bars.

    Without bars of the series `as_known`. Infinite where their signs differ.
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
    """0 for `LEAST`, which stands for the strict bounds > 0 and < 0.

    >>> without_the_least(LEAST), without_the_least(-LEAST), without_the_least(-2.0)
    (0.0, 0.0, -2.0)
    """
    return 0.0 if bound is not None and abs(bound) == LEAST else bound


def slack(measured: Series, bound: Series, at: int) -> float | None:
    """bound / measured at an entry on the natural scale; None over a measured 0, or where float64 does not hold it."""
    if not measured.bounded[at]:
        return None
    with np.errstate(over="ignore"):
        if measured.log:
            ratio = float(np.exp(float(bound.value[at]) - float(measured.value[at])))
        elif not measured.value[at]:
            return None
        else:
            ratio = (without_the_least(float(bound.value[at])) or 0.0) / float(measured.value[at])
    return ratio + 0.0 if np.isfinite(ratio) else None  # 0.0, and no -0.0
