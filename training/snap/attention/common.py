"""Eq. 13: what is left of eq. 10 for a single common token, one query and normalizations that stay what they are."""

from dataclasses import dataclass

import numpy as np
import scipy  # its subpackages load when first used
from numpy.typing import ArrayLike

from marginaudit.orders.arrays import UNIT_ROUNDOFF, Floats
from marginaudit.training.snap.attention.path import COARSER, FROM_ZERO, TOLERANCE, NotIntegrated
from marginaudit.training.snap.limit import Approximation, gamma


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

    Integrated as it stands, on the clock ln(1 + eta_Y t/K); no integral of gamma is used. Method and error bar are
    those of `follow`.

    Source: arXiv 2305.16380, eqs. 13, 118 and 119.

    Parameters
    ----------
    t : (times,) array
        Batch-1 steps, not negative and not decreasing.
    C0 : float
        rho_0^4/K.
    K, M, eta_Y, eta_Z : see `turned`

    Raises
    ------
    NotIntegrated
        The solver gave up.

    >>> path = follow_common([100.0, 1e18], C0=50.0, K=2, M=1000, eta_Y=0.5, eta_Z=0.05)
    >>> path.z.value.round(9).tolist()
    [-0.138755839, -0.730960504]
    """
    at = np.asarray(t, dtype=np.float64)
    fine, coarse = (_integrated(at, C0, K, M, eta_Y, eta_Z, tolerance) for tolerance in (TOLERANCE, COARSER))
    apart = np.maximum.accumulate(np.abs(fine - coarse), axis=0)
    found = Approximation(fine, apart + 64 * UNIT_ROUNDOFF * np.abs(fine))
    return CommonPath(found[:, 0], found[:, 1])


def _integrated(at: Floats, C0: float, K: int, M: int, eta_Y: float, eta_Z: float, tolerance: float) -> Floats:
    """z and B at each time, shape (times, 2)."""
    found = np.zeros((len(at), 2))
    later = at > 0
    if not later.any():
        return found
    unit = K / eta_Y

    def step(clock: float, state: Floats) -> Floats:
        elapsed = unit * np.expm1(clock)
        speed = eta_Z * float(gamma(elapsed, K, M, eta_Y).value) * (elapsed + unit)
        fall = speed / C0 * np.exp(4 * state[0])
        return np.array([-fall, fall])

    asked = np.unique(np.log1p(at[later] / unit))
    first = float(step(asked[0], np.zeros(2))[1] * asked[0])
    run = scipy.integrate.solve_ivp(
        step,
        (0.0, asked[-1]),
        np.zeros(2),
        method="LSODA",
        t_eval=asked,
        rtol=tolerance,
        atol=tolerance * FROM_ZERO * min(1.0, first),
    )
    if not run.success or not np.isfinite(run.y).all():
        raise NotIntegrated(f"eq. 13 was not integrated to t = {at[-1]:.4g}: {run.message}")
    found[later] = run.y.T[np.searchsorted(asked, np.log1p(at[later] / unit))]
    return found
