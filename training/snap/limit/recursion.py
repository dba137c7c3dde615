"""Growth h*(s) of a row of W over the steps of batch-1 SGD on its class (eq. 33)."""

from dataclasses import dataclass
from functools import lru_cache
from math import exp, expm1

import numpy as np
from numpy.typing import ArrayLike, NDArray

from marginaudit.orders.arrays import UNIT_ROUNDOFF, Floats
from marginaudit.orders.jit import compiled
from marginaudit.training.approximation import Approximation
from marginaudit.training.snap.limit.continuous import continuous, solve
from marginaudit.training.snap.limit.level import Level, require_setting

TAKEN = 1_000_000
"""Most steps taken one by one: less than a tenth of a second.

The next increment d_0 of M h* is then below 0.001: increments decrease, and 10^6 of them add up to M h*, below
log(M eta_Y s + ..) + eta_Y, so below 1000 for float64 settings.
"""

SMALL = 0.01
"""Largest d for which exp(d) - 1 - d is summed as a series."""

STATE = 5

BETWEEN = 4096
"""Steps between states that are cached unasked, so that later steps start from near."""


@compiled
def take(at: NDArray[np.int64], known: NDArray[np.int64], per_step: float, others: float, states: Floats) -> None:
    """Iterate the recursion up to the last of the increasing steps ``at``.

    Parameters
    ----------
    at, known : (records,) arrays
        Requested steps, and for each an earlier step with known state.
    per_step, others : float
        M eta_Y and M - 1.
    states : (records, 5) array
        Holds the known states and receives the requested ones: M h* as a sum of two, its error bound, the lag and its
        error bound; see `h_star`.
    """
    high = low = error = lag = lag_error = 0.0
    step = 0
    for record in range(len(at)):
        if known[record] > step:
            step = known[record]
            high, low, error = states[record, 0], states[record, 1], states[record, 2]
            lag, lag_error = states[record, 3], states[record, 4]
        while step < at[record]:
            power = exp(high) * (1 + low)
            share = 1 / (others + power)
            d = per_step * share
            if d > SMALL:
                beyond = expm1(d) - d
            else:
                beyond = d * d / 2 * (1 + d / 3 * (1 + d / 4 * (1 + d / 5 * (1 + d / 6 * (1 + d / 7)))))
            late = power * beyond / per_step
            lag += late
            lag_error += late * (1000 * UNIT_ROUNDOFF + 2 * error * (1 + d)) + UNIT_ROUNDOFF * lag
            pull = d * power * share
            grown = high + d
            rounded = grown - high
            low += (high - (grown - rounded)) + (d - rounded)
            high = grown + low
            low = (grown - high) + low
            factor = max(1 - pull * (1 - 2 * error), pull * (1 + 2 * error) - 1) if error < 1 else np.inf
            error = (factor * error + 12 * UNIT_ROUNDOFF * d + 4 * UNIT_ROUNDOFF * UNIT_ROUNDOFF * high) * (
                1 + 16 * UNIT_ROUNDOFF
            )
            step += 1
        states[record, 0] = high
        states[record, 1] = low
        states[record, 2] = error
        states[record, 3] = lag
        states[record, 4] = lag_error


@dataclass(frozen=True)
class Recursion:
    """h*(s) at chosen steps.

    Attributes
    ----------
    step : array of integers
        Steps on this class.
    level : Level
        Level of h*(s).
    lag : Approximation
        Delay of the continuous h behind h*: h*(s) = h(s + lag).
    """

    step: NDArray[np.int64]
    level: Level
    lag: Approximation


def h_star(at: ArrayLike, M: int, eta_Y: float) -> Recursion:
    """h*(s) = h*(s-1) + eta_Y/(M-1+exp(M h*(s-1))), h*(0) = 0, at any steps s.

    Up to `TAKEN` steps the recursion is iterated, with x = M h* as a compensated sum. A step turns the error bound e
    into |1 - g(xi)| e plus the rounding error of the step, where g = d q, q = exp(x)/(M-1+exp(x)), d is the increment
    and xi lies within e of x. As |(log g)'| = |1 - 2 q| <= 1, g(xi) is g(x) times 1 +- 2 e for e <= 1. The rounding
    error of a step is 4 units of roundoff of exp and the rest of 10 roundings at most, all relative to d, plus the loss
    of the compensated sum.

    The lag. With p(x) = exp(x) + (M-1) x, p(M h(t)) grows by M eta_Y per unit of time (eq. 45), p(M h*) by
    M eta_Y + r per step, r = exp(x) (exp(d) - 1 - d) >= 0. So h*(s) = h(s + lag), lag = sum of r / (M eta_Y).

    Beyond `TAKEN`. As exp(x)/(M eta_Y) = q/d and 1/2 <= (exp(d) - 1 - d)/d^2 <= exp(d)/2, a step adds between q d/2 and
    exp(d) q d/2 to the lag. As d decreases and q increases, the sum of q d lies between I - d_0 (1 - q_0) and I, the
    integral of q over x, which is the increase of log(M-1+exp(x)); d_0 and q_0 are those of the first omitted step. In
    continuous time a longer lag increases I by at most d_0 times as much. This encloses the lag, and so h*, to a
    relative error of about d_0.

    Parameters
    ----------
    at : array of int
        Steps in any order and shape.
    M : int
        Tokens in the vocabulary.

    Raises
    ------
    ValueError
        A step is negative, or see `require_setting`.

    >>> steps = h_star([0, 1, 2, 10**18], M=1000, eta_Y=0.5)
    >>> [f"{x:.12g}" for x in steps.level.logit.value]
    ['0', '0.5', '0.999675849648', '47.6611397723']
    >>> [f"{x:.4g}" for x in steps.lag.value]
    ['0', '0.0002974', '0.0007871', '20.4']
    """
    require_setting(M, eta_Y)
    step = np.asarray(at, dtype=np.int64)
    if (step < 0).any():
        raise ValueError(f"at: got step {step.min()}, expected steps from 0 on")
    near, place = np.unique(np.minimum(step, TAKEN), return_inverse=True)
    reached = state_cache(M, eta_Y).states(near)[place]
    late = step > TAKEN
    if late.any():
        reached[late] = beyond_taken(step[late] - TAKEN, reached[late][0], M, eta_Y)
    high, low, error, lag, lag_error = np.moveaxis(reached, -1, 0)
    return Recursion(step, Level.of_sum(M, high, low, error), Approximation(lag, lag_error))


class StateCache:
    """Cache of states up to `TAKEN` steps, resumed from the nearest earlier one; statements share many steps."""

    def __init__(self, M: int, eta_Y: float) -> None:
        self._per_step, self._others = M * eta_Y, M - 1.0
        self._known = np.zeros(1, dtype=np.int64), np.zeros((1, STATE))

    def states(self, at: NDArray[np.int64]) -> Floats:
        """States at increasing steps, shape (steps, 5)."""
        step, states = self._known
        new = np.setdiff1d(at, step, assume_unique=True)
        if len(new):
            passed = np.arange(step[-1] // BETWEEN + 1, new[-1] // BETWEEN + 1) * BETWEEN
            new = np.union1d(new, np.setdiff1d(passed, step, assume_unique=True))
            before = np.searchsorted(step, new) - 1
            found = states[before]
            take(new, step[before], self._per_step, self._others, found)
            place = before + 1
            step, states = np.insert(step, place, new), np.insert(states, place, found, axis=0)
            self._known = step, states
        return states[np.searchsorted(step, at)]


@lru_cache(maxsize=16)
def state_cache(M: int, eta_Y: float) -> StateCache:
    """Cache of states for M and eta_Y, extended by later calls."""
    return StateCache(M, eta_Y)


def gap(steps: Recursion, eta_Y: float) -> Approximation:
    """h*(s) - h(s) (Lemma 7), accurate to some digits even far below the rounding of h* and h.

    The gap is h(s + lag) - h(s), and h' decreases, so it lies between lag h'(s + lag) and lag h'(s). If the lag is no
    small part of s, direct subtraction is more accurate. A few roundings are covered by the lag's error bar of 1000
    UNIT_ROUNDOFF.

    >>> [f"{x:.3g}" for x in gap(h_star([0, 1, 10**18], M=1000, eta_Y=0.5), 0.5).value]
    ['0', '1.49e-07', '2.04e-20']
    """
    M, lag = steps.level.M, steps.lag
    before = continuous(steps.step, M, eta_Y)
    difference = steps.level.h - before.h
    most = (lag.value + lag.error) * eta_Y * (before.share.value + before.share.error)
    least = (lag.value - lag.error) * eta_Y * (steps.level.share.value - steps.level.share.error)
    middle = (most + least) / 2
    off = (most - least) / 2
    closer = off < difference.error
    return Approximation(np.where(closer, middle, difference.value), np.where(closer, off, difference.error))


def beyond_taken(more: NDArray[np.int64], state: Floats, M: int, eta_Y: float) -> Floats:
    """States ``more`` steps after the state at `TAKEN` steps; see `h_star`.

    Times have error bounds; as x is concave and 0 at 0, x'(t) <= x(t)/t.
    """
    high, low, error, lag, lag_error = state
    power = np.exp(high + low)
    share = 1 / (M - 1 + power)
    d_0, log_0 = M * eta_Y * share, -np.log(share)
    start = TAKEN + lag
    x, x_low, off = solve(start + more, M, eta_Y)
    integral = np.log(M - 1 + np.exp(x + x_low)) - log_0
    integral_error = off + error + 4 * UNIT_ROUNDOFF * (integral + 4 * log_0)
    least = (integral - d_0 * (1 - share * power)) / 2
    most = np.exp(d_0) / 2 * integral / (1 - d_0)
    further = (least + most) / 2
    further_error = (most - least) / 2 + integral_error + 4 * UNIT_ROUNDOFF * most
    time = start + more + further
    time_error = lag_error + further_error + 4 * UNIT_ROUNDOFF * time
    x, x_low, off = solve(time, M, eta_Y)
    x_error = off + 1.001 * time_error / (time - time_error) * (x + x_low)
    return np.stack(
        [x, x_low, x_error, lag + further, lag_error + further_error + 2 * UNIT_ROUNDOFF * (lag + further)], axis=1
    )
