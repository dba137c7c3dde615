"""Conversion between flint's balls and float64 intervals; radii are rounded up to enclose the ball."""

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import flint

EPS = float(np.finfo(np.float64).eps)


def ball_around(value: float, error: float = 0.0) -> "flint.arb":
    """Ball around a float64 with an error as radius.

    >>> ball_around(1.5, 0.25).contains(1.75)
    True
    """
    import flint

    return flint.arb(float(value), float(error))


def rounded(ball: "flint.arb") -> tuple[float, float]:
    """Midpoint of a ball in float64, and a radius that encloses the ball; infinite beyond float64.

    The radius holds in exact arithmetic: value - radius, rounded to float64, may lie inside the ball; see `outward`.

    >>> import flint
    >>> rounded(flint.arb(1))
    (1.0, 5e-324)
    """
    value, off = _nearest(ball)
    return value, math.nextafter(off, math.inf)


def outward(ball: "flint.arb") -> tuple[float, float]:
    """`rounded`, with value - radius and value + radius enclosing the ball even when computed in float64.

    >>> import flint
    >>> outward(flint.arb(1))
    (1.0, 2.220446049250313e-16)
    """
    value, off = _nearest(ball)
    return value, off * (1 + 4 * EPS) + float(np.spacing(abs(value)))


def upper_end(ball: "flint.arb") -> float:
    """Upper end of a ball, rounded up; infinite if the ball is NaN.

    >>> import flint
    >>> upper_end(flint.arb(1))
    1.0000000000000002
    """
    return math.inf if ball.is_nan() else math.nextafter(float(ball.upper()), math.inf)


def _nearest(ball: "flint.arb") -> tuple[float, float]:
    """Midpoint rounded to nearest, and the distance from it to the ball's farther end, also rounded to nearest."""
    value = float(ball.mid())
    if not (ball.is_finite() and math.isfinite(value)):
        return 0.0, math.inf
    return value, float((ball - value).abs_upper())
