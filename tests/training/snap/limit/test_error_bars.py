"""The stated errors, each term written out by hand; with a unit roundoff of 2^-10 terms of second order show too."""

import math
from importlib import import_module
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from marginaudit.orders.arrays import UNIT_ROUNDOFF
from marginaudit.training import approximation
from marginaudit.training.approximation import Approximation
from marginaudit.training.snap.limit import descent as steps_of_eq_7
from marginaudit.training.snap.limit import level, recursion
from marginaudit.training.snap.limit.backpropagated import zeta_products
from marginaudit.training.snap.limit.continuous import continuous, solve
from marginaudit.training.snap.limit.descent import descend
from marginaudit.training.snap.limit.level import Level
from marginaudit.training.snap.limit.overlap import overlap
from marginaudit.training.snap.limit.recursion import gap, h_star
from tests.training.snap.dense import features

COARSE = 2.0**-10
SETTINGS = [(2, 1.0), (3, 0.5), (3, 10.0), (50, 3.7), (1000, 0.5), (10**9, 10.0), (30, 1e-3)]


def near(value: Any, rel: float) -> Any:
    return pytest.approx(value, rel=rel, abs=0)


def interpreted(kernel: Any) -> Any:
    """The function that was compiled; a kernel keeps the unit roundoff that it was compiled with."""
    return kernel.py_func


# One row


@pytest.mark.parametrize("unit", [UNIT_ROUNDOFF, COARSE])
@pytest.mark.parametrize("error", [0.0, 1e-15, 0.3])
def test_the_bars_of_a_level(error: float, unit: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Logit: its own and one rounding. Share: 6 roundings and the logit's by its part of the sum, and 3."""
    above = 1 + 16 * unit
    for module in (approximation, level):
        monkeypatch.setattr(module, "UNIT_ROUNDOFF", unit)
    monkeypatch.setattr(approximation, "ABOVE", above)
    M, high, low = 20, np.array([0.0, 2.0, 30.0]), np.array([0.0, 1e-17, -1e-16])
    found = Level.of_sum(M, high, low, np.full(3, error))
    assert found.logit.error == near((error + unit * high) * above, rel=1e-13)
    part = np.exp(high) / (M - 1 + np.exp(high))
    relative = part * (math.expm1(error) + 6 * unit) + 3 * unit
    assert found.share.error / found.share.value == near(relative, rel=1e-13)
    # h: one rounding more
    assert found.h.error == near((found.logit.error + unit * high) / M * above, rel=1e-13)


def test_the_bars_of_arithmetic(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the operands' bars make of the result, one rounding of it, and what covers the rounding of the bar."""
    unit, above = COARSE, 1 + 16 * COARSE
    monkeypatch.setattr(approximation, "UNIT_ROUNDOFF", unit)
    monkeypatch.setattr(approximation, "ABOVE", above)
    a, b = (Approximation(np.array([x]), np.array([e])) for x, e in ((-3.0, 0.25), (8.0, 0.5)))
    for found, value, bar in (
        (a + b, 5, 0.75),
        (a - b, 11, 0.75),
        (a * b, 24, 3 * 0.5 + 8 * 0.25 + 0.25 * 0.5),
        (a / b, 3 / 8, (0.25 + 3 / 8 * 0.5) / (8 - 0.5)),
    ):
        assert found.error[0] == near((bar + unit * value) * above, rel=1e-14)
    several = Approximation(np.array([1.0, -2.0, 4.0]), np.array([0.1, 0.2, 0.3])).sum()
    assert several.error == near((0.6 + 3 * unit * 7) * (1 + 2 * (3 + 8) * unit), rel=1e-14)


@pytest.mark.parametrize(("M", "eta"), SETTINGS)
def test_the_bar_of_the_continuous_growth(M: int, eta: float) -> None:
    """6 roundings of M eta_Y t over the slope, and what Newton's one step leaves."""
    t = np.array([1e-20, 0.3, 7.0, 1e3, 1e12])
    start, correction, error = solve(t, M, eta)
    slope = M - 1 + np.exp(start)
    assert error == near(6 * UNIT_ROUNDOFF * M * eta * t / slope + correction**2 * np.exp(abs(correction)), rel=1e-13)
    logit = continuous(t, M, eta).logit
    assert logit.error == near(error + UNIT_ROUNDOFF * logit.value, rel=1e-13)


def taken(steps: int, M: int, eta: float, unit: float) -> list[tuple[float, float, float, float]]:
    """M h*, its bar, the lag and its bar after each step: see `h_star`."""
    c, x, e, lag, lag_error = M * eta, 0.0, 0.0, 0.0, 0.0
    states = [(x, e, lag, lag_error)]
    for _ in range(steps):
        q, d = math.exp(x) / (M - 1 + math.exp(x)), c / (M - 1 + math.exp(x))
        r = math.exp(x) * (math.expm1(d) - d if d > 1 else sum(d**k / math.factorial(k) for k in range(2, 20)))
        lag += r / c
        lag_error += r / c * (1000 * unit + 2 * e * (1 + d)) + unit * lag
        x += d
        e *= max(abs(1 - d * q * (1 - 2 * e)), abs(1 - d * q * (1 + 2 * e))) if e < 1 else math.inf
        e = (e + 12 * unit * d + 4 * unit**2 * x) * (1 + 16 * unit)
        states.append((x, e, lag, lag_error))
    return states


@pytest.mark.parametrize("unit", [UNIT_ROUNDOFF, COARSE])
@pytest.mark.parametrize(("M", "eta"), [*SETTINGS, (2, 150.0)])
def test_the_bars_of_steps_that_are_taken(M: int, eta: float, unit: float, monkeypatch: pytest.MonkeyPatch) -> None:
    at = np.arange(25)
    states = np.empty((25, recursion.STATE))
    take = recursion.take
    if unit == COARSE:
        monkeypatch.setattr(recursion, "UNIT_ROUNDOFF", unit)
        take = interpreted(take)
    with np.errstate(over="ignore", invalid="ignore"):
        take(at, np.zeros(25, dtype=np.int64), M * eta, M - 1.0, states)
    found = np.column_stack([states[:, 0] + states[:, 1], states[:, 2:]])
    np.testing.assert_allclose(found, taken(24, M, eta, unit), rtol=1e-12)


def test_no_bar_beyond_an_error_of_1(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recursion, "UNIT_ROUNDOFF", 2.0**-4)
    states = np.empty((4, recursion.STATE))
    interpreted(recursion.take)(np.arange(4), np.zeros(4, dtype=np.int64), 4.0, 1.0, states)
    assert 1 < states[1, 2] < math.inf
    assert states[2, 2] == math.inf


@pytest.mark.parametrize("unit", [UNIT_ROUNDOFF, COARSE])
@pytest.mark.parametrize(("M", "eta"), SETTINGS)
def test_the_bars_of_steps_that_are_left_out(M: int, eta: float, unit: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """See `h_star`: the lag's two bounds, four roundings of their logarithms, and what a time off by so much does."""
    (x_0, _, lag, _), bar, lag_bar = taken(100, M, eta, UNIT_ROUNDOFF)[100], 1e-9, 1e-8
    monkeypatch.setattr(recursion, "TAKEN", 100)
    monkeypatch.setattr(recursion, "UNIT_ROUNDOFF", unit)
    more = np.array([1, 50, 10**6])
    found = recursion.beyond_taken(more, np.array([x_0, 0.0, bar, lag, lag_bar]), M, eta)
    first = M - 1 + math.exp(x_0)
    d_0, q_0 = M * eta / first, math.exp(x_0) / first
    high, low, off = solve(100 + lag + more, M, eta)
    I = np.log((M - 1 + np.exp(high + low)) / first)  # noqa: E741
    least, most = (I - d_0 * (1 - q_0)) / 2, math.exp(d_0) * I / (2 * (1 - d_0))
    later, later_bar = (least + most) / 2, (most - least) / 2 + off + bar + 4 * unit * (I + 4 * math.log(first) + most)
    time, time_bar = 100 + lag + more + later, lag_bar + later_bar
    time_bar = time_bar + 4 * unit * time
    high, low, off = solve(time, M, eta)
    x_bar = off + 1.001 * time_bar / (time - time_bar) * (high + low)
    expected = [high + low, x_bar, lag + later, lag_bar + later_bar + 2 * unit * (lag + later)]
    np.testing.assert_allclose([found[:, 0] + found[:, 1], *found[:, 2:].T], expected, rtol=1e-9)


def test_the_gap_is_the_narrower_of_two() -> None:
    """Lag times the rate at either end, or the difference of h* and h."""
    M, eta = 50, 3.7
    steps = h_star([3, 40, 10**7], M, eta)
    found, before = gap(steps, eta), continuous(steps.step, M, eta)
    lag, share = steps.lag, steps.level.share
    most = (lag.value + lag.error) * eta * (before.share.value + before.share.error)
    least = (lag.value - lag.error) * eta * (share.value - share.error)
    subtracted = steps.level.h - before.h
    chosen = (most - least) / 2 < subtracted.error
    assert chosen.tolist() == [False, False, True]
    assert found.value == near(np.where(chosen, (most + least) / 2, subtracted.value), rel=1e-13)
    assert found.error == near(np.where(chosen, (most - least) / 2, subtracted.error), rel=1e-13)


# The features and SGD on Y


def test_the_bar_of_zeta_products() -> None:
    """Four roundings, of which a square and a quotient have two."""
    found = zeta_products(12, 3)
    assert found.error == near(4 * UNIT_ROUNDOFF * abs(found.value), rel=1e-13)


@pytest.mark.parametrize("unit", [UNIT_ROUNDOFF, COARSE])
def test_the_bar_of_E_prime(unit: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is left of (I+E) E' = E, and K + 2 roundings of its terms, over the least eigenvalue of I + E."""
    monkeypatch.setattr(import_module("marginaudit.training.snap.limit.overlap"), "UNIT_ROUNDOFF", unit)
    F = features(seed=3, tokens=30, K=5, own=3.0)
    found = overlap(F)
    E, X, gram, values = found.E, found.E_prime.value, np.eye(5) + found.E, found.eigenvalues
    rounding = 2 * (5 + 2) * unit * np.linalg.norm(E + gram @ abs(X))
    least = 1 + values[0] - 4 * 5 * unit * (1 + values[-1])
    expected = (np.linalg.norm(E - gram @ X) + rounding) / least
    assert found.E_prime.error == near(np.full((5, 5), expected), rel=1e-12)


def stepped(F: NDArray[np.float64], sequence: NDArray[np.int64], M: int, eta: float, unit: float) -> float:
    """The bar of Y after the steps: see `descend`; with all M columns."""
    K = F.shape[1]
    E = F.T @ F * (1 - np.eye(K))
    A, off = np.zeros((K, M)), 0.0
    for n in sequence:
        logits, size = A[n] + E[n] @ A, abs(A[n]) + E[n] @ abs(A)
        share = np.exp(logits) / np.exp(logits).sum()
        change = eta * ((np.arange(M) == n) - share)
        A[n] += change
        relative = (2 * (K + 4) * size.max() + 2 * K + 12) * unit
        off = max(1, eta / 2 - 1) * off + relative * np.linalg.norm(change) + unit * np.linalg.norm(A[n])
        off *= 1 + (4 * K + 16) * unit
    return float(off)


@pytest.mark.parametrize("unit", [UNIT_ROUNDOFF, COARSE])
@pytest.mark.parametrize("eta", [0.5, 4.0, 7.0])
@pytest.mark.parametrize("M", [9, 12])
def test_the_bar_of_a_step_on_Y(M: int, eta: float, unit: float, monkeypatch: pytest.MonkeyPatch) -> None:
    F, sequence = features(seed=5, tokens=9, K=4), np.array([[0, 1, 2, 0, 3, 1, 1, 0, 2, 3]])
    if unit == COARSE:
        monkeypatch.setattr(steps_of_eq_7, "UNIT_ROUNDOFF", unit)
        monkeypatch.setattr(steps_of_eq_7, "take", interpreted(steps_of_eq_7.take))
    found = descend(overlap(F), sequence, [0, 1, 5, 10], M, eta).error[0]
    expected = [stepped(F, sequence[0, :steps], M, eta, unit) for steps in (0, 1, 5, 10)]
    np.testing.assert_allclose(found, expected, rtol=1e-11)


def test_a_bar_of_0_takes_no_rounding() -> None:
    zero = Approximation(np.zeros(2), np.zeros(2))
    for found in (zero + zero, zero - 0.0, zero * 3.0, zero / 3.0, zero.sum()):
        assert not found.error.any()
