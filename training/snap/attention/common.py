"""Eq. 13: eq. 10 for a single common token, one query and constant normalizations."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from marginaudit.orders.arrays import Floats
from marginaudit.training.approximation import Approximation
from marginaudit.training.snap.attention.solver import solved
from marginaudit.training.snap.limit.continuous import gamma_value


@dataclass(frozen=True)
class CommonPath:
    """z of the common token and B of every class along eq. 13.

    Attributes
    ----------
    z, B : Approximation, shape (times,)
    """

    z: Approximation
    B: Approximation


def follow_common(t: ArrayLike, C0: float, K: int, M: int, eta_Y: float, eta_Z: float) -> CommonPath:
    """z-dot = -C0^{-1} eta_Z gamma e^{4z} and B-dot = C0^{-1} eta_Z gamma e^{4z} from 0, with gamma(t) of Lemma 9.

    Direct integration on the clock ln(1 + eta_Y t/K), without an integral of gamma. See `solved` for the method and
    the error bar.

    Source: arXiv 2305.16380, eqs. 13, 118 and 119.

    Parameters
    ----------
    t : (times,) array
        Batch-1 steps, nonnegative and nondecreasing.
    C0 : float
        rho_0^4/K.
    K, M, eta_Y, eta_Z : see `turned`

    Raises
    ------
    NotIntegrated
        See `solved`.

    >>> path = follow_common([100.0, 1e18], C0=50.0, K=2, M=1000, eta_Y=0.5, eta_Z=0.05)
    >>> path.z.value.round(9).tolist()
    [-0.138755839, -0.730960504]
    """
    at = np.asarray(t, dtype=np.float64)
    unit = K / eta_Y

    @lru_cache(maxsize=1)  # the solver evaluates several states at each time
    def speed(clock: float) -> float:
        elapsed = unit * float(np.expm1(clock))
        return eta_Z * gamma_value(elapsed, K, M, eta_Y) * (elapsed + unit) / C0

    def step(clock: float, state: Floats) -> Floats:
        fall = speed(clock) * float(np.exp(4 * state.item(0)))
        return np.array([-fall, fall])

    clock = np.log1p(at / unit)
    first = clock[clock > 0][:1].max(initial=0.0)
    found = solved(step, 2, clock, min(1.0, float(step(first, np.zeros(2))[1] * first)))
    return CommonPath(found[:, 0], found[:, 1])
