"""The compiled steps against the NumPy form and against exact arithmetic."""

import flint
import numpy as np
import pytest

from marginaudit.training.ntp.steps.compiled import CompiledSteps
from marginaudit.training.ntp.steps.stepper import Stepper
from marginaudit.training.ntp.steps.underflow import TINY
from tests.solutions import known
from tests.training.ntp.naive import ball, late_gradient
from tests.training.ntp.problems import REDUCED, SMALL, assert_same, both, reduced


@pytest.mark.parametrize("name", REDUCED)
@pytest.mark.parametrize(("A", "normalised"), [(0.5, True), (40.0, False), (301.0, True)])
def test_the_same_steps_as_the_numpy_form(name: str, A: float, normalised: bool) -> None:
    data = REDUCED[name]
    problem, start = reduced(data, A, normalised=normalised, lr=None if normalised else 0.3)
    # on a cycle the steps amplify rounding once they oscillate about the optimum
    goal = 100 if name == "cycle" else 300
    fast, slow = both(problem, start, 0, goal)
    assert fast.moves == goal
    assert_same(fast, slow, 1e-13 * max(1.0, A / 40))  # rounding of attention is worth A times as much
    if np.isfinite(slow.state_error):
        assert fast.log_growth == pytest.approx(slow.log_growth, rel=1e-9, abs=1e-12)
        assert 0.9 * slow.local_error <= fast.local_error <= 6 * slow.local_error


@pytest.mark.parametrize("A", [299.0, 301.0, 705.0, 4e7])
@pytest.mark.parametrize("name", ["free", "no majority"])
def test_margins_of_any_size(name: str, A: float) -> None:
    """From even attention, past where A phi is 1, to one-hot attention: one step each, with its error bounds."""
    problem, start = reduced(REDUCED[name], A)
    one_hot = CompiledSteps(problem).arrays.one_hot_margin
    compared = 0
    for margin in np.linspace(0, one_hot, 60):
        for spread in (0.0, 0.2):
            rest = spread * np.random.default_rng(compared).normal(size=start.high.shape)
            moves = int(margin / (problem.lead_rate or 1 / problem.margin_size) / start.lr)
            state = start.placed(moves, rest)
            CompiledSteps(problem).take(state, moves + 1, lambda t: None)
            slow = start.placed(moves, rest)
            slow_taken = Stepper(problem).step(slow)
            if state.moves == moves:
                continue
            assert slow_taken
            compared += 1
            size = slow.local_error / slow.lr
            np.testing.assert_allclose(state.last, slow.last, rtol=0, atol=3 * size)
            assert 0.1 * slow.local_error <= state.local_error <= 10 * slow.local_error
            assert state.log_growth == pytest.approx(slow.log_growth, rel=1e-9, abs=1e-12)
    assert compared > 100


def test_steps_far_out_against_exact_arithmetic() -> None:
    """A hundred steps from t = 1e13 on, from 300 bits of the whole of W."""
    problem, start = reduced(SMALL, 9.0)
    exact = known(problem.exact)
    rest = np.random.default_rng(0).normal(size=start.high.shape)
    t0, steps = 10**13, 100
    state = start.placed(t0, rest)
    Stepper(problem).advance(state, t0 + steps, lambda t: None)
    with flint.ctx.workprec(300):
        root = ball(exact.norm_squared).sqrt()
        lr = flint.arb(start.lr)
        W = [lr * t0 * ball(w) / root + flint.arb(float(r)) for w, r in zip(exact.weight, rest, strict=True)]
        for _ in range(steps):
            G = late_gradient(problem.merged, W)
            size = sum((g * g for g in G), flint.arb(0)).sqrt()
            W = [(w - lr * g / size).mid() for w, g in zip(W, G, strict=True)]
        moved = [float(w - lr * (t0 + steps) * ball(x) / root) for w, x in zip(W, exact.weight, strict=True)]
    assert np.abs(np.array(moved) - rest).max() > 0.1
    np.testing.assert_allclose(state.rest, moved, rtol=0, atol=1e-14)


def test_plain_steps_below_float64_are_in_the_error() -> None:
    """Of 1e-323, of which float64 keeps one digit or none."""
    problem, start = reduced(SMALL, 9.0, normalised=False, lr=1e-323)
    fast, slow = both(problem, start, 0, 3)
    assert 3 * TINY <= fast.local_error <= 4 * TINY
    assert 3 * TINY <= slow.local_error <= 4 * TINY
