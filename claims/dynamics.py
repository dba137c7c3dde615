"""Series of a user's own dynamics, with their error bars."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from marginaudit.claims.claim import NotFollowed
from marginaudit.claims.series import FORMULA_ROUNDING, Series, certified, exact_series, series
from marginaudit.claims.values.error_text import error_place, error_text
from marginaudit.claims.verdict import Evidence
from marginaudit.orders.arrays import Floats
from marginaudit.training.iterates import iterated, with_time
from marginaudit.training.log_time import NotIntegrated
from marginaudit.training.slow_flow import followed


def iterate(
    step: Callable[..., Any],
    start: Any,
    at: int | Iterable[int],
    *,
    measure: Callable[..., Any] | None = None,
) -> Series:
    """Iterate a step, and return a number of the states at chosen steps with its error bar.

    The evidence of the series says what the bar is: ``exact`` for Fractions or integers, as long as the step stays in
    them, ``certified`` for an enclosure in flint's balls, ``float64`` for a bar measured by running the step in 128 and
    in 256 bits. A start in float64 is enclosed if at most 2048 bits suffice and no comparison is undecided. A start in
    `flint.arb` may have radii.

    Parameters
    ----------
    step : function of the state, or of the state and the number of steps done
        Written with Python's operators and NumPy's functions. It returns the next state. Floats in it are the float64
        numbers that they are: write ``x / 3``, not ``1 / 3 * x``.
    start : number or array
    at : integers from 0 on, or the last of about 20 a decade
    measure : function of the state, or of the state and the number of steps, to a number; by default the state itself

    Raises
    ------
    ValueError
        The step or the measure does not take numbers in more digits (`math.exp`, SciPy's functions, arrays of float64),
        remembers an earlier run, or changes the shape of the state.

    >>> from fractions import Fraction
    >>> found = iterate(lambda x: x - x / 4, Fraction(1), [1, 2])
    >>> found.value.tolist(), found.evidence.value
    ([Fraction(3, 4), Fraction(9, 16)], 'exact')
    >>> iterate(lambda x: x - np.tanh(x) / 4, 1.0, 900).evidence.value
    'certified'
    """
    try:
        found = iterated(step, start, at, measure)
    except TypeError as error:
        raise _not_rerun("iterate", error) from error
    if any(len(values) != 1 for values in found.value):
        expected = "measure=, from a state to a number"
        raise ValueError(f"iterate: got states of {len(found.value[0])} numbers, expected {expected}")
    numbers, steps = [value for (value,) in found.value], np.array(found.step, dtype=float)
    if found.kind == "exact":
        return Series(exact_series(numbers).value, 0, steps, evidence=Evidence.EXACT)
    if found.kind == "rigorous":
        return certified(numbers, step=steps)
    return series(numbers, radius=found.error, step=steps)


def slow_flow(
    f: Callable[[Any], Any],
    start: Any,
    at: int | Iterable[int],
    *,
    eta: float,
    measure: Callable[..., Any] | None = None,
    true_steps: int = 10_000,
) -> Series:
    """Follow w_(k+1) = w_k + eta f(w_k) to steps such as 1e18, by true steps and then by the flow w' = f(w).

    The bar bounds the distance from the true steps: `marginaudit.training.slow_flow` derives it. It is of the order
    eta/2 times |f| where the flow begins, so more ``true_steps`` make it smaller. The evidence is ``float64``.

    Parameters
    ----------
    f : function of the state, as the step of `iterate`
        It should slow down; where it does not, the solver ends early or the bar is large.
    start : number or array
    at : integers from 1 on, or the last of about 20 a decade
    eta : float
        Step size.
    measure : function of the state, or of the state and the number of steps, to a number; by default the state itself
        The bar carries over by its differences: each coordinate is moved by the bar of the state.
    true_steps : int
        Steps before the flow begins.

    Raises
    ------
    ValueError
        As for `iterate`.
    NotFollowed
        The solver of the flow fails.

    >>> found = slow_flow(lambda w: np.exp(-w), 0.0, [10**18], eta=1.0)
    >>> bool(abs(found.value[0] - 18 * np.log(10)) < found.radius[0] < 1e-8)
    True
    """
    try:
        flow = followed(f, start, eta, at, true_steps)
    except TypeError as error:
        raise _not_rerun("slow_flow", error) from error
    except NotIntegrated as reason:
        raise NotFollowed(str(reason)) from reason
    shape, number = np.shape(start), with_time(measure or (lambda w: w))

    def measured(state: Floats, t: float) -> float:
        found = np.asarray(number(state.reshape(shape) if shape else state[0], t), dtype=float)
        if found.size != 1:
            raise ValueError(f"slow_flow: got {found.size} numbers of a state, expected measure=, from it to a number")
        return float(found.item())

    values: list[float] = []
    bars: list[float] = []
    for t, state, bar in zip(flow.step.tolist(), flow.state, flow.error, strict=True):
        value = measured(state, t)
        moves = bar * np.eye(len(state)) if np.isfinite(bar) else []
        moved = [max(abs(measured(state + move * sign, t) - value) for sign in (1, -1)) for move in moves]
        values.append(value)
        bars.append(float(np.linalg.norm(moved)) + FORMULA_ROUNDING * abs(value) if np.isfinite(bar) else np.inf)
    return series(values, radius=bars, step=flow.step)


def _not_rerun(name: str, error: TypeError) -> ValueError:
    instead = "write np.exp for math.exp; SciPy's functions and arrays of float64 have only float64"
    text = f"{error_text(error)} ({error_place(error)})"
    return ValueError(f"{name}: the code does not run in more digits: {text}; {instead}")
