"""The error bars of sums, differences, products and quotients against all that the operands can be, exactly."""

import operator
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

import flint
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from marginaudit.orders.arrays import UNIT_ROUNDOFF
from marginaudit.training.approximation import Approximation, of

RNG = np.random.default_rng(0)
OPERATIONS = [operator.add, operator.sub, operator.mul, operator.truediv]


def random(count: int, largest_error: float) -> Approximation:
    value = RNG.normal(size=count) * 10.0 ** RNG.integers(-3, 3, count)
    return Approximation(value, np.abs(value) * largest_error * RNG.random(count))


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("largest_error", [0.0, 1e-16, 0.3])
def test_a_bar_holds_and_is_no_wider_than_needed(operation: Callable[..., Any], largest_error: float) -> None:
    a, b = random(200, largest_error), random(200, largest_error)
    found = operation(a, b)
    for i in range(200):
        ends = [[Fraction(x.value[i]) + s * Fraction(x.error[i]) for s in (-1, 1)] for x in (a, b)]
        value, error = Fraction(found.value[i]), Fraction(found.error[i])
        worst = max(abs(operation(x, y) - value) for x, y in product(*ends))
        assert worst <= error <= (worst + Fraction(2.0 * UNIT_ROUNDOFF) * abs(value)) * (1 + Fraction(1, 10**14))


@pytest.mark.parametrize(("operation", "size"), [(operator.mul, 1e-159), (operator.truediv, 1e159)])
def test_a_bar_holds_what_underflow_takes(operation: Callable[..., Any], size: float) -> None:
    a, b = random(200, 1e-15) * 1e-159, random(200, 1e-15) * size
    found = operation(a, b)
    for i in range(200):
        ends = [[Fraction(x.value[i]) + s * Fraction(x.error[i]) for s in (-1, 1)] for x in (a, b)]
        value = Fraction(found.value[i])
        assert max(abs(operation(x, y) - value) for x, y in product(*ends)) <= Fraction(found.error[i])
    nothing = of(np.zeros(200))
    assert not operation(nothing, b).error.any()


SIZES = st.one_of(st.just(0.0), st.floats(1e-300, 1e300), st.floats(0.0, 1e-307), st.floats(1e-3, 1e3))
VALUES = st.builds(operator.mul, SIZES, st.sampled_from([-1.0, 1.0]))


@st.composite
def approximations(draw: st.DrawFn) -> Approximation:
    """One number with a bar of any size: none, within the value, the value itself, a unit off it, beyond it."""
    value = draw(VALUES)
    near = [abs(value) * share for share in (1e-16, 0.5, 1.0, 10.0)] + [
        np.nextafter(abs(value), x) for x in (0, np.inf)
    ]
    return Approximation(np.array([value]), np.array([draw(st.one_of(st.sampled_from(near), SIZES, st.just(np.inf)))]))


@given(approximations(), approximations(), st.sampled_from(OPERATIONS))
@example(of(np.ones(1)), Approximation(np.array([1e-20]), np.array([1e-19])), operator.truediv)
@example(of(np.array([1e-300])), Approximation(np.array([1e24]), np.array([np.nextafter(1e24, 0)])), operator.truediv)
def test_a_bar_of_any_size_holds_what_balls_do(
    a: Approximation, b: Approximation, operation: Callable[..., Any]
) -> None:
    found = operation(a, b)
    value, bar = found.value[0], found.error[0]
    infinite = [bool(np.isinf(x.error[0])) for x in (a, b)]
    if operation is operator.truediv and abs(b.value[0]) <= b.error[0]:
        assert bar == np.inf
    elif any(infinite):
        nothing = [x.value[0] == 0 and x.error[0] == 0 for x in (a, b)]
        assert bar == (0.0 if operation is operator.mul and any(nothing) else np.inf)
    elif np.isinf(value):
        assert bar == np.inf
    else:
        with flint.ctx.workprec(4500):  # each float64, and the sum and product of any two, is exact
            ends = [[flint.arb(x.value[0]) + s * flint.arb(x.error[0]) for s in (-1, 1)] for x in (a, b)]
            off = [abs(operation(x, y) - value) for x, y in product(*ends)]
            assert all(ball <= flint.arb(bar) for ball in off)
            twice = Approximation(np.array([value, value]), np.array([bar, bar])).sum()
            assert 2 * max(off, key=flint.arb.mid) <= flint.arb(float(twice.error)) or np.isinf(bar)


def test_the_other_operand_may_be_exact() -> None:
    a = random(5, 0.1)
    for exact in (3.0, np.arange(1.0, 6.0)):
        for operation in OPERATIONS:
            one, other = operation(a, exact), operation(a, Approximation(*np.broadcast_arrays(exact, 0 * a.value)))
            assert (one.value == other.value).all()
            assert (one.error == other.error).all()
    assert of(a) is a
    assert ((-a).value == -a.value).all()
    assert (-a).error is a.error
    assert (a[1:3].value == a.value[1:3]).all()
    assert (a[1:3].error == a.error[1:3]).all()


@pytest.mark.parametrize("exact", [3.0, -0.5, 0.0, np.inf, np.nan])
@pytest.mark.parametrize("operation", [operator.mul, operator.truediv])
def test_an_exact_operand_is_one_with_a_bar_of_0(operation: Callable[..., Any], exact: float) -> None:
    value = np.array([0.0, 1.5, -2.0, 1e308, 3e-324, np.inf])
    for error in (0.0, 1e-17, np.inf):
        a = Approximation(value, np.full_like(value, error))
        with np.errstate(invalid="ignore", divide="ignore"):
            short, long = operation(a, exact), operation(a, of(exact))
        np.testing.assert_array_equal(short.value, long.value)
        np.testing.assert_array_equal(short.error, long.error)


def test_the_bar_of_a_sum_over_the_last_axis() -> None:
    a = Approximation(RNG.normal(size=(30, 7)), RNG.random((30, 7)) * 1e-16)
    found = a.sum()
    for i in range(30):
        exact = sum(map(Fraction, a.value[i]))
        off, bars = abs(exact - Fraction(found.value[i])), sum(map(Fraction, a.error[i]))
        most = bars + 7 * Fraction(UNIT_ROUNDOFF) * sum(abs(Fraction(x)) for x in a.value[i])
        assert off + bars <= found.error[i] <= most * (1 + Fraction(1, 10**14))
    rounded = Approximation(np.array([1.0, UNIT_ROUNDOFF, UNIT_ROUNDOFF, UNIT_ROUNDOFF]), np.zeros(4)).sum()
    assert 0 < 3 * UNIT_ROUNDOFF <= rounded.error <= 4.1 * UNIT_ROUNDOFF
