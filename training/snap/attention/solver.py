"""Solver of ordinary differential equations from 0, with an error bar from a coarser second run."""

import warnings
from bisect import bisect_right
from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import scipy  # its subpackages load when first used

from marginaudit.orders.arrays import UNIT_ROUNDOFF, Floats
from marginaudit.training.approximation import Approximation
from marginaudit.training.log_time import NotIntegrated

TOLERANCE, COARSER = 1e-13, 1e-12
"""Relative tolerances of the result, and of the coarser run for its error bar."""

FROM_ZERO = 1e-6
"""Absolute tolerance over relative tolerance and scale of the largest state at the first requested time."""

SAFETY = 10.0
"""Safety factor of the error bar over the distance of the two runs; eq. 11, an identity, was off by 2.2 distances."""

EXTRA_TIMES = 60
"""Number of additional times at which the two runs are compared: at a single one they can agree by chance."""

SMALL = 1e-6
"""Ratio to the largest state below which a state may be pure rounding; its distance counts for that state alone."""

USEFUL = 1e-3
"""Largest relative error bar; beyond it `NotIntegrated`."""


MOST_RATES, MORE_A_STATE = 25_000, 100
"""Limit on the evaluations of the rate: a constant, and an addition per state, as a Jacobian needs one each."""


Rate: TypeAlias = Callable[[float, Floats], Floats]


def solved(rate: Rate, size: int, at: Floats, first: Floats | float, nudged: Rate | None = None) -> Approximation:
    """Solve x' = rate(t, x), x(0) = 0; states of shape (times, size).

    LSODA (Adams' or backward differentiation formulas, depending on stiffness) to `TOLERANCE`. The error bar is
    `SAFETY` times the largest distance from a run to `COARSER` over all times and states, each relative to the largest
    value of the state so far, plus the rounding of a few dozen operations. The distance of a `SMALL` state counts for
    that state alone; that of a state that stays 0 is absolute. No bar is below `SAFETY` local errors, because two runs
    of few steps can agree by chance.

    Parameters
    ----------
    rate : function of time and state, the derivative of the state
    at : (times,) array
        Nonnegative and nondecreasing.
    first : float, or (size,) array
        Approximate scale of the largest state at the first positive time, or one per state if some are known to fewer
        digits: a state below `FROM_ZERO` of it counts for itself alone.
    nudged : as ``rate``, or None
        The rate perturbed by 1/`SAFETY` of its rounding error, for the run to `COARSER`.

    Raises
    ------
    NotIntegrated
        The solver gave up, or its two runs lie too far apart.

    >>> found = solved(lambda t, x: 1 - x, 1, np.array([0.0, 1.0]), 1.0)
    >>> bool(abs(found.value[1, 0] - (1 - np.exp(-1))) < found.error[1, 0] < 1e-11)
    True
    """
    later, first = at > 0, np.where(np.asarray(first) > 0, first, 1.0)
    value, error = np.zeros((len(at), size)), np.zeros((len(at), size))
    if later.any():
        asked = at[later]
        times = np.union1d(asked, np.geomspace(asked[0] / 10, asked[-1], EXTRA_TIMES))
        fine = _run(rate, size, times, TOLERANCE, first)
        coarse = _run(nudged or rate, size, times, COARSER, first)
        distance = np.abs(fine - coarse)
        largest, farthest = (np.maximum.accumulate(x, axis=0) for x in (np.abs(fine), distance))
        relative = np.divide(distance, largest, out=np.zeros_like(fine), where=largest > 0)
        significant = (largest >= SMALL * largest.max(axis=1, keepdims=True)) & (largest >= FROM_ZERO * first)
        apart = relative[significant].max(initial=0.0)
        if SAFETY * apart > USEFUL:
            raise NotIntegrated(f"to {times[-1]:.4g} on its clock two runs of the solver differ by {apart:.2g}")
        own = np.maximum(apart, relative.max(axis=0))
        place = np.searchsorted(times, asked)
        relative_bars = SAFETY * np.maximum(own, TOLERANCE) + 64 * UNIT_ROUNDOFF
        value[later] = fine[place]
        bars = np.maximum(relative_bars * largest[place], SAFETY * farthest[place])
        error[later] = bars + SAFETY * TOLERANCE * FROM_ZERO * first
    return Approximation(value, error)


def _run(rate: Rate, size: int, times: Floats, tolerance: float, first: Floats) -> Floats:
    most = MOST_RATES + MORE_A_STATE * size
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # LSODA's; `run` reports the failure
        atol = tolerance * FROM_ZERO * first
        solver = scipy.integrate.LSODA(rate, 0.0, np.zeros(size), times[-1], rtol=tolerance, atol=atol)
        states, asked, done, message = [], times.tolist(), 0, None
        while solver.status == "running":  # as `solve_ivp`, which takes a fifth longer
            message = solver.step()
            if solver.nfev > most:
                raise NotIntegrated(f"{most} steps led to {solver.t:.4g} on its clock, not to {times[-1]:.4g}")
            if (reached := bisect_right(asked, solver.t)) > done:
                states.append(solver.dense_output()(times[done:reached]))
                done = reached
    found = np.hstack(states).T if states else np.zeros((0, size))
    if solver.status == "failed" or not np.isfinite(found).all():
        raise NotIntegrated(f"not integrated to {times[-1]:.4g} on its clock: {message}")
    return found
