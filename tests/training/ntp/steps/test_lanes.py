"""Lanes do to each of their numbers what NumPy does."""

import numpy as np
import pytest
from numpy.typing import NDArray

from marginaudit.orders.jit import compiled
from marginaudit.training.ntp.steps.compiled import exp_of_lanes, largest_of
from marginaudit.training.ntp.steps.lanes import LANES, lanes_of, larger, load, root, smaller, store, two_to_lanes

Floats = NDArray[np.float64]

NONE, TWO = np.uint64(0), np.uint64(2)
SIZE = int(LANES)
RNG = np.random.default_rng(0)
A, B = RNG.uniform(0.5, 2, SIZE), RNG.uniform(0.5, 2, SIZE)


@compiled
def computed(a: Floats, b: Floats, c: float, out: Floats) -> None:
    x, y = load(a, NONE), load(b, NONE)
    store(out[0], NONE, x + y)
    store(out[1], NONE, x - y)
    store(out[2], NONE, x * y)
    store(out[3], NONE, x / y)
    store(out[4], NONE, c - x)
    store(out[5], NONE, x - c)
    store(out[6], NONE, 1 / x)
    store(out[7], NONE, smaller(x, y))
    store(out[8], NONE, larger(x, y))
    store(out[9], NONE, larger(x, c))
    store(out[10], NONE, smaller(c, x))
    store(out[11], NONE, root(x))
    store(out[12], NONE, lanes_of(c))


def test_operations() -> None:
    c = 1.1
    out = np.zeros((13, SIZE))
    computed(A, B, c, out)
    expected = [A + B, A - B, A * B, A / B, c - A, A - c, 1 / A, np.minimum(A, B), np.maximum(A, B)]
    expected += [np.maximum(A, c), np.minimum(c, A), np.sqrt(A), np.full(SIZE, c)]
    np.testing.assert_array_equal(out, expected)


@compiled
def moved(a: Floats, out: Floats) -> None:
    store(out, TWO, load(a, TWO + 1))


def test_load_and_store_begin_where_they_are_told() -> None:
    a, out = np.arange(SIZE + 5.0), np.full(SIZE + 5, -1.0)
    moved(a, out)
    np.testing.assert_array_equal(out, [-1, -1, *a[3 : SIZE + 3], -1, -1, -1])


@compiled
def exponentials(a: Floats, out: Floats) -> float:
    store(out, NONE, exp_of_lanes(load(a, NONE)))
    return largest_of(load(a, NONE))


@compiled
def power(shifted: Floats, out: Floats) -> None:
    store(out, NONE, two_to_lanes(load(shifted, NONE)))


def test_exponentials_and_powers() -> None:
    below, above = [-1e9, -708.0, -707.5, -40.0, -1.0, -0.3, -1e-9], [1e-9, 0.2, 0.5, 1.0, 30.0, 300.0, 700.0, 709.0]
    values = np.array([*below, 0.0, *above])
    out = np.empty(SIZE)
    assert exponentials(values, out) == 709.0
    np.testing.assert_allclose(out, np.exp(np.maximum(values, -708.0)), rtol=5e-16, atol=0)
    assert out[7] == 1.0
    n = np.arange(-1022, -1022 + 136 * SIZE, 136)[:SIZE]
    power((n + 1.5 * 2.0**52).astype(np.float64), out)
    np.testing.assert_array_equal(out, np.ldexp(1.0, n))


@pytest.mark.parametrize("at", range(SIZE))
def test_the_largest_in_every_lane(at: int) -> None:
    values = np.full(SIZE, -3.0)
    values[at] = -2.0
    assert exponentials(values, np.empty(SIZE)) == -2.0
