"""Binomial tails outside an interval of counts, with error bars, and quantiles of a deviation."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy  # its subpackages load when first used
from numpy.typing import ArrayLike

from marginaudit.orders.arrays import Floats, Integers

ROUNDING = 1e-9
"""Relative error of a tail of the binomial law in float64; below 1e-12 in comparisons with sums of many digits."""

FAINT = 1e-200
"""Least upper end of a chance that is not 0: scipy's tails are wrong from about 1e-249 down, and many are 0."""

LEAST, MOST = 1e-15, 1e12
"""Range in which quantiles of a relative deviation are sought."""

HALVINGS = 34
"""Bisections of the logarithm of that range, to 4e-9 of a quantile."""


@dataclass(frozen=True)
class Interval:
    """Interval of counts, each end enclosed between two numbers.

    Attributes
    ----------
    widest, narrowest : (low, high)
        Intervals certain to contain it, and to lie inside it.
    """

    widest: tuple[Floats, Floats]
    narrowest: tuple[Floats, Floats]

    @classmethod
    def around(cls, center: Floats, room: Floats) -> "Interval":
        """Counts within ``room`` of ``center``, both known to a few roundings."""
        blur = 16 * np.finfo(float).eps * (1 + np.abs(center) + room)
        return cls((center - room - blur, center + room + blur), (center - room + blur, center + room - blur))


def spaced_counts(most: int) -> Integers:
    """Grid of counts from 1: all up to 30, then ten per decade."""
    spaced = np.rint(np.geomspace(1, most, 10 * int(np.ceil(np.log10(most))) + 1)).astype(np.int64)
    return np.unique(np.concatenate([np.arange(1, min(30, most) + 1), spaced]))


def chance_outside(N: Integers, p: Floats, interval: Interval, others: Floats | None = None) -> tuple[Floats, Floats]:
    """P(N_n outside the interval) for N_n ~ Bin(N, p): value and radius of its error bar.

    ``others`` is 1 - p, for p near 1, where subtraction in float64 is inaccurate.

    >>> interval = Interval.around(np.array([1.5]), np.array([0.7]))
    >>> value, radius = chance_outside(np.array([2]), np.array([0.5]), interval)
    >>> value.tolist(), bool(radius[0] < 1e-9)
    ([0.25], True)
    """
    rest = 1 - p if others is None else others
    widest, narrowest = ((np.ceil(low) - 1, np.floor(high)) for low, high in (interval.widest, interval.narrowest))
    outside = _tails(N, p, rest, *widest)
    least = outside * (1 - ROUNDING)
    if not np.array_equal(widest, narrowest):  # a whole number lies between the two bounds of an end
        outside = _tails(N, p, rest, *narrowest)
    possible = (narrowest[0] >= 0) | (narrowest[1] < N)
    most = np.minimum(np.where(possible, np.maximum(outside * (1 + ROUNDING), FAINT), 0.0), 1.0)
    return (least + most) / 2, (most - least) / 2 + np.finfo(float).eps * most  # one rounding each


def deviation_quantile(
    N: Integers, p: Floats, delta: float, within: Callable[[Floats], Interval]
) -> tuple[Floats, Floats]:
    """Least d with P(N_n outside within(d)) <= delta, for intervals growing with d: value and radius."""
    sides = np.array([[-1], [1]])  # its lower and upper bound
    low, high = np.full((2, len(N)), np.log(LEAST)), np.full((2, len(N)), np.log(MOST))
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        value, radius = chance_outside(N, p, within(np.exp(middle)))
        enough = value + sides * radius <= delta
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    least, most = np.exp(low[0]), np.exp(high[1])
    return (least + most) / 2, (most - least) / 2


def at_most(k: ArrayLike, N: ArrayLike, rest: Floats | float) -> Floats:
    """P(N_n <= k) for 0 <= k < N and ``rest`` = 1 - p: an incomplete beta function.

    >>> at_most(0, 2, 0.5).tolist()
    0.25
    """
    return np.asarray(
        scipy.special.betainc(np.subtract(N, k), np.add(k, 1), np.asarray(rest, dtype=np.float64)), dtype=np.float64
    )


def above(k: ArrayLike, N: ArrayLike, p: Floats | float) -> Floats:
    """P(N_n > k) for 0 <= k < N.

    >>> above(0, 2, 0.5).tolist()
    0.75
    """
    return np.asarray(
        scipy.special.betainc(np.add(k, 1), np.subtract(N, k), np.asarray(p, dtype=np.float64)), dtype=np.float64
    )


def _tails(N: Integers, p: Floats, rest: Floats, first: Floats, last: Floats) -> Floats:
    """P(N_n <= first) + P(N_n > last), for whole numbers."""
    under = np.where(first < 0, 0.0, np.where(first >= N, 1.0, at_most(np.clip(first, 0, N - 1), N, rest)))
    over = np.where(last < 0, 1.0, np.where(last >= N, 0.0, above(np.clip(last, 0, N - 1), N, p)))
    return np.asarray(np.minimum(under + over, 1.0), dtype=np.float64)
