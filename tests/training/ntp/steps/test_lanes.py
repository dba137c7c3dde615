"""Exponentials on lanes are those of plain numbers, and the steps of the kernel on lanes those of its plain loops."""

import copy

import numpy as np
import pytest
from numpy.typing import NDArray

from marginaudit.orders.jit import compiled
from marginaudit.orders.ntp import free_dataset
from marginaudit.training.ntp.steps.class_fluxes import exp_of
from marginaudit.training.ntp.steps.compiled import CompiledSteps
from marginaudit.training.ntp.steps.lanes import (
    LANES,
    NONE,
    lanes_of,
    largest_of,
    load,
    store,
    two_to,
)
from tests.training.ntp.problems import reduced

Floats = NDArray[np.float64]


@compiled
def exponentials(a: Floats, out: Floats) -> float:
    store(out, NONE, exp_of(load(a, NONE, lanes_of(1.0))))
    return largest_of(load(a, NONE, lanes_of(1.0)))


@compiled
def power(shifted: Floats, out: Floats) -> None:
    store(out, NONE, two_to(load(shifted, NONE, lanes_of(1.0))))


def test_exponentials_and_powers() -> None:
    below, above = [-1e9, -708.0, -707.5, -40.0, -1.0, -0.3, -1e-9], [1e-9, 0.2, 0.5, 1.0, 30.0, 300.0, 700.0, 709.0]
    values = np.array([*below, 0.0, *above])
    out = np.empty(LANES)
    assert exponentials(values, out) == 709.0
    assert out.tolist() == [exp_of(v) for v in values.tolist()]
    n = np.arange(-1022, -1022 + 136 * LANES, 136)[:LANES]
    power((n + 1.5 * 2.0**52).astype(np.float64), out)
    np.testing.assert_array_equal(out, np.ldexp(1.0, n))


@pytest.mark.parametrize("A", [0.2, 9.0, 301.0])
def test_lanes_take_the_steps_of_plain_loops(A: float) -> None:
    """One after the other, from where the plain ones are: a step, and its bounds, to rounding."""
    data = free_dataset(V=12, N=300, L=6, seed=1)
    problem, plain = reduced(data, A)
    on_lanes, on_one = CompiledSteps(problem), CompiledSteps(problem, lanes=False)
    assert len(on_one.arrays.blocks.size) == len(problem.edges.query) > 3 * len(on_lanes.arrays.blocks.size)
    for t in range(1, 40):
        found = copy.deepcopy(plain)
        on_lanes.take(found, t, lambda _: None)
        on_one.take(plain, t, lambda _: None)
        assert found.moves == plain.moves == t
        np.testing.assert_allclose(found.last, plain.last, rtol=0, atol=(plain.local_error / plain.lr) / t)
        assert found.local_error == pytest.approx(plain.local_error, rel=1e-12, abs=0)
        assert found.log_growth == pytest.approx(plain.log_growth, rel=1e-12, abs=1e-15)
