"""Continuous growth h(t) in closed form (Lemma 6), and speed control coefficient gamma(t)."""

from functools import lru_cache

import numpy as np
import scipy  # its subpackages load when first used
from numpy.typing import ArrayLike

from marginaudit.orders.arrays import UNIT_ROUNDOFF, Floats
from marginaudit.training.approximation import Approximation
from marginaudit.training.snap.limit.level import Level, require_times


def continuous(t: ArrayLike, M: int, eta_Y: float) -> Level:
    """Solution of h' = eta_Y/(M - 1 + exp(M h)), h(0) = 0, at any times.

    x = M h is the root of p(x) = expm1(x) + (M-1) x = M eta_Y t =: a (eq. 45). With omega the Wright function,
    omega(z) + log omega(z) = z, and z = (a + 1)/(M-1) - log(M-1), it is log omega(z) + log(M-1) up to a few 1e-15.
    One Newton step reaches the root, and the start is capped by a / M >= x, so that small x keep their digits.

    The error bar, in units u of roundoff. The error of p is 2 u of expm1, u of (M-1) x, u of their sum and 2 u of a,
    together at most 5 u a; one u more allows for a rounded time. Divided by p' = M - 1 + exp(x) this is the error of
    the Newton correction d, as the subtraction of nearly equal numbers is exact or has a smaller rounding error still.
    As p'' <= p', the truncation error of Newton's method is below d^2/2 exp(d).

    Parameters
    ----------
    t : array of any shape
        Nonnegative. Time 1 is one step on this class.
    M : int
        Tokens in the vocabulary.

    Raises
    ------
    ValueError
        See `require_times`.

    >>> level = continuous([0, 1e-20, 100.0, 1e18], M=1000, eta_Y=0.5)
    >>> [f"{x:.12g}" for x in level.logit.value]
    ['0', '5e-21', '10.5822649138', '47.6611397723']
    """
    return Level.of_sum(M, *solve(require_times(t, M, eta_Y), M, eta_Y))


def solve(t: Floats, M: int, eta_Y: float) -> tuple[Floats, Floats, Floats]:
    """x = M h of `continuous` as a sum of two float64, and its error bound."""
    a = M * eta_Y * t
    others = M - 1.0
    z = a / others + (1 / others - np.log(others))
    start = np.clip(np.log(scipy.special.wrightomega(z)) + np.log(others), 0.0, a / M)
    slope = others + np.exp(start)
    correction = (np.expm1(start) + others * start - a) / slope
    return start, -correction, 6 * UNIT_ROUNDOFF * a / slope + correction**2 * np.exp(np.abs(correction))


def speed(level: Level) -> Approximation:
    """(M-1)^2 h/(M - 1 + exp(M h)) at a level, shape (times,)."""
    others = level.M - 1.0
    return level.h * level.share * others * others


def gamma(t: ArrayLike, K: int, M: int, eta_Y: float) -> Approximation:
    """gamma(t) of Lemma 9: `speed` at h(t/K), for t batch-1 steps on K uniform classes.

    The bar of h allows for the rounding of t/K.

    Parameters
    ----------
    t : (times,) array
        Nonnegative.
    K, M : int
        Classes, tokens in the vocabulary.

    Raises
    ------
    ValueError
        K is below 1, or see `require_times`.

    >>> [f"{x:.10g}" for x in gamma([0, 100, 1e18], K=2, M=1000, eta_Y=0.5).value]
    ['0', '0.587737352', '1.874964143e-16']
    """
    return speed(continuous(np.asarray(t, dtype=np.float64) / _require_classes(K), M, eta_Y))


def gamma_value(t: float, K: int, M: int, eta_Y: float) -> float:
    """`gamma` without error bar, bit-identical, for a solver that calls it tens of thousands of times.

    The steps of `solve` on scalars, which take a third of the time of arrays of one entry.
    """
    a, others, log = M * eta_Y * float(t / K), float(M - 1), _log(M - 1)
    start = float(np.log(scipy.special.wrightomega(a / others + (1 / others - log)))) + log
    start = min(max(start, 0.0), a / M)
    power = float(np.exp(start))
    low = -((float(np.expm1(start)) + others * start - a) / (others + power))
    share = 1 / (others + power * float(np.exp(low)))
    return (start + low) / M * share * others * others


@lru_cache(maxsize=16)
def _log(number: int) -> float:
    return float(np.log(np.float64(number)))


def whole_steps(t: ArrayLike, K: int) -> Floats:
    """N-bar = ceil(t/K), the mean number of steps on each of K uniform classes, as whole float64 numbers."""
    return np.asarray(-np.floor_divide(-np.asarray(t, dtype=np.float64), _require_classes(K)))


def _require_classes(K: int) -> int:
    if K < 1:
        raise ValueError(f"K: got {K}, expected at least 1 class")
    return K
