"""Balls of flint to float64 and back: radii are rounded up, so that an interval contains its ball."""

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import flint

EPS = float(np.finfo(np.float64).eps)


def ball_around(value: float, error: float = 0.0) -> "flint.arb":
    """The ball of all numbers no farther than an error from a float64.

    >>> ball_around(1.5, 0.25).contains(1.75)
    True
    """
    import flint

    return flint.arb(float(value), float(error))


def rounded(ball: "flint.arb") -> tuple[float, float]:
    """A ball's middle in float64, and a radius around it that holds all of the ball: infinite if float64 has none.

    The radius is exact arithmetic's: value - radius in float64 may be inside the ball, see `outward`.

    >>> import flint
    >>> rounded(flint.arb(1))
    (1.0, 5e-324)
    """
    value, off = _nearest(ball)
    return value, math.nextafter(off, math.inf)


def outward(ball: "flint.arb") -> tuple[float, float]:
    """`rounded`, and so that value - radius and value + radius as computed in float64 enclose the ball, too.

    >>> import flint
    >>> outward(flint.arb(1))
    (1.0, 2.220446049250313e-16)
    """
    value, off = _nearest(ball)
    return value, off * (1 + 4 * EPS) + float(np.spacing(abs(value)))


def upper_end(ball: "flint.arb") -> float:
    """The upper end of a ball, rounded up; infinite if the ball has none.

    >>> import flint
    >>> upper_end(flint.arb(1))
    1.0000000000000002
    """
    return math.inf if ball.is_nan() else math.nextafter(float(ball.upper()), math.inf)


def _nearest(ball: "flint.arb") -> tuple[float, float]:
    """The float64 nearest to the middle, and the distance of the farther end in float64, to nearest."""
    value = float(ball.mid())
    if not (ball.is_finite() and math.isfinite(value)):
        return 0.0, math.inf
    return value, float((ball - value).abs_upper())
