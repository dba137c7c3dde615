"""The speed control coefficient gamma(t)."""

import numpy as np
from numpy.typing import ArrayLike

from marginaudit.orders.arrays import Floats
from marginaudit.training.approximation import Approximation
from marginaudit.training.snap.limit.continuous import continuous, solve
from marginaudit.training.snap.limit.level import Level


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
        Not negative.
    K, M : int
        Classes, tokens in the vocabulary.
    eta_Y : float

    Raises
    ------
    ValueError
        K is below 1, or see `require_times`.

    >>> [f"{x:.10g}" for x in gamma([0, 100, 1e18], K=2, M=1000, eta_Y=0.5).value]
    ['0', '0.587737352', '1.874964143e-16']
    """
    return speed(continuous(np.asarray(t, dtype=np.float64) / _require_classes(K), M, eta_Y))


def gamma_value(t: float, K: int, M: int, eta_Y: float) -> float:
    """`gamma` without its error bar, to the last bit, for a solver that asks ten thousands of times."""
    high, low, _ = solve(np.asarray(t / K, dtype=np.float64), M, eta_Y)
    share = 1 / (M - 1 + np.exp(high) * np.exp(low))
    return float((high + low) / float(M) * share * (M - 1.0) * (M - 1.0))


def gamma_of_whole_steps(t: ArrayLike, K: int, M: int, eta_Y: float) -> Approximation:
    """gamma(t) of eq. 85: `speed` at h(ceil(t/K)); see `gamma`.

    >>> float(gamma_of_whole_steps([3], K=2, M=1000, eta_Y=0.5).value[0] / gamma([4], K=2, M=1000, eta_Y=0.5).value[0])
    1.0
    """
    return speed(continuous(whole_steps(t, K), M, eta_Y))


def whole_steps(t: ArrayLike, K: int) -> Floats:
    """N-bar = ceil(t/K), the mean number of steps on one of K uniform classes, as whole float64 numbers."""
    return np.asarray(-np.floor_divide(-np.asarray(t, dtype=np.float64), _require_classes(K)))


def _require_classes(K: int) -> int:
    if K < 1:
        raise ValueError(f"K: got {K}, expected at least 1 class")
    return K
