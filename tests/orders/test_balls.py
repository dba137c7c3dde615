"""Float64 intervals contain their balls, in rational arithmetic and to the ends of float64's range."""

import math
from fractions import Fraction
from typing import Any

import flint
from flint import arb
from hypothesis import example, given
from hypothesis import strategies as st

from marginaudit.orders.balls import ball_around, outward, rounded, upper_end

LARGEST, LEAST = 2.0**1023, 5e-324


def exact(number: Any) -> Fraction:
    """The middle of a ball, or a radius, which are dyadic."""
    man, exp = (int(part) for part in number.man_exp())
    return Fraction(man) * Fraction(2) ** exp


def ends(ball: Any) -> tuple[Fraction, Fraction]:
    middle, radius = exact(ball.mid()), exact(ball.rad())
    return middle - radius, middle + radius


def of_float(number: float) -> float | Fraction:
    return Fraction(number) if math.isfinite(number) else number


mantissas = st.integers(-(2**200), 2**200)
exponents = st.integers(-1300, 1000)


@st.composite
def balls(draw: st.DrawFn) -> Any:
    """From 0 and far below the least float64 to far above the largest, of any relative width."""
    middle = arb(draw(mantissas)) * arb(2) ** draw(exponents)
    width = draw(st.integers(0, 2**30 - 1))
    near = math.frexp(float(abs(middle)))[1] if float(abs(middle)) not in (0.0, math.inf) else draw(exponents)
    radius = arb(width) * arb(2) ** (near + draw(st.integers(-300, 40)))
    return arb(middle, radius)


with flint.ctx.workprec(256):
    AWKWARD = (
        arb(0),
        arb(1),
        arb(1, 2.0**-54) + arb(2) ** -30,
        arb(LEAST) / 2,
        arb(LEAST) * 3 / 2,
        -arb(LEAST) / 2,
        arb(1, 3e16),
        arb(2 - 2.0**-52, 0.9 * 2.0**-52) + arb(2) ** -54,
        arb(0, LEAST),
        arb(0, 1) * arb(10) ** -400,
        arb(LARGEST),
        -arb(LARGEST) * 2 + 1,
        arb(LARGEST, LARGEST),
        arb(10) ** 400,
        -(arb(10) ** 400),
        arb(0, 1) * arb(10) ** 400,
    )


def at(ball: Any) -> None:
    """The three intervals of one finite ball, all at a precision that rounds nothing away."""
    with flint.ctx.workprec(256):
        low, high = ends(ball)
        value, radius = rounded(ball)
        if math.isfinite(radius):
            assert Fraction(value) - Fraction(radius) <= low
            assert high <= Fraction(value) + Fraction(radius)
            assert math.isfinite(value)
            farther = max(high - Fraction(value), Fraction(value) - low)
            assert Fraction(radius) <= farther * (1 + Fraction(1, 2**40)) + 2 * Fraction(LEAST)
        else:
            assert max(abs(low), abs(high)) > Fraction(LARGEST) / 2
        value, radius = outward(ball)
        assert of_float(value - radius) <= low
        assert high <= of_float(value + radius)
        assert of_float(upper_end(ball)) >= high


@given(balls())
def test_intervals_contain_their_balls(ball: Any) -> None:
    at(ball)


def test_intervals_contain_awkward_balls() -> None:
    for ball in AWKWARD:
        at(ball)


@given(balls())
def test_a_low_precision_widens_and_never_cuts(ball: Any) -> None:
    low, high = ends(ball)
    with flint.ctx.workprec(30):
        for value, radius in (rounded(ball), outward(ball)):
            if math.isfinite(radius):
                assert Fraction(value) - Fraction(radius) <= low
                assert high <= Fraction(value) + Fraction(radius)
        assert of_float(upper_end(ball)) >= high


magnitudes = st.floats(-1e308, 1e308)


@given(magnitudes, st.floats(0, 1e300), st.integers(-1, 1), st.integers(0, 200))
@example(1.0, 0.0, 0, 0)
@example(1.0, 2.0**-54, 1, 30)
@example(0.0, 5e-324, 0, 0)
@example(1.0, 3e16, 0, 0)
@example(2 - 2.0**-52, 0.9 * 2.0**-52, 1, 1)
def test_ends_in_float64_are_outside_and_near(mid: float, rad: float, side: int, bits_below: int) -> None:
    with flint.ctx.workprec(512):
        ball = arb(arb(mid) * (1 + side * arb(2) ** -(53 + bits_below)), arb(rad))
        value, radius = outward(ball)
        assert arb(value - radius) <= ball.lower()
        assert ball.upper() <= arb(value + radius)
        assert radius <= 1.0001 * rad + 4e-16 * abs(value) + 1e-323


def test_a_ball_without_ends_is_anywhere() -> None:
    for ball in (arb("nan"), arb("inf"), arb("-inf"), arb(1, math.inf)):
        assert rounded(ball) == outward(ball) == (0.0, math.inf)
        assert upper_end(ball) == (-LARGEST * (2 - 2.0**-52) if ball.upper() < 0 else math.inf)


def test_an_upper_end_is_one_float_above_what_is_exact() -> None:
    assert 1.25 <= upper_end(arb(1, 0.25)) < 1.26
    assert upper_end(arb(1)) == math.nextafter(1, 2)


@given(magnitudes, st.floats(0, 1e300))
def test_a_ball_is_around_all_of_its_interval(value: float, error: float) -> None:
    low, high = ends(ball_around(value, error))
    assert low <= Fraction(value) - Fraction(error)
    assert high >= Fraction(value) + Fraction(error)
    assert exact(ball_around(value).rad()) == 0
