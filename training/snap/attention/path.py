"""Eq. 10 integrated: the logits z of every query, and B_n = eta_Z int xi_n of every class."""

from dataclasses import dataclass

import numpy as np
import scipy  # its subpackages load when first used
from numpy.typing import ArrayLike

from marginaudit.orders.arrays import UNIT_ROUNDOFF, Floats
from marginaudit.orders.snap import SequenceClasses
from marginaudit.training.snap.attention.logits import Logits
from marginaudit.training.snap.limit import Approximation, overlap

TOLERANCE, COARSER = 1e-13, 1e-11
"""Relative local errors of the run that is kept, and of the one that its error bar is taken from."""

FROM_ZERO = 1e-6
"""Absolute local errors, as parts of relative ones at the first turn asked for."""

LEAST, MOST = 1e-100, 1e50
"""Gamma of the first and the last time asked for: within, the solver keeps its digits."""


class NotIntegrated(ArithmeticError):  # noqa: N818  (no error of the caller)
    """What is asked for is beyond the solver."""


@dataclass(frozen=True)
class Path:
    """z and B along eq. 10.

    Attributes
    ----------
    logits : Logits
        What z is over.
    z : Approximation, shape (times, pairs)
    B : Approximation, shape (times, classes)
    """

    logits: Logits
    z: Approximation
    B: Approximation


def follow(data: SequenceClasses, turns: ArrayLike) -> Path:
    """Eq. 10 from z = 0, where Gamma(t) = eta_Z int gamma reaches ``turns``; see `turned`.

    dz_m/dGamma = sum over the query's classes n of diag(f_n) sum over n' != n of beta_nn' (f_n f_n^T - I) f_n', and
    dB_n/dGamma = sum of beta_nn' f_n^T f_n'. F, E and beta are those of z on its way, as Theorem 1 and eq. 13 write
    them; theta and sigma are 0, which is what the mean counts t/K of the classes give. Beta is the one that the
    gradient has, eq. 88 with its sign mended. On this clock no rate stands in the equation.

    LSODA (Adams' and backward differentiation formulas, whichever the stiffness asks for) to `TOLERANCE`. The error
    bar is the distance from a run to `COARSER`, the largest so far, and rounding, that of the turns too.

    Parameters
    ----------
    data : SequenceClasses
    turns : (times,) array
        Gamma, not negative and not decreasing.

    Raises
    ------
    ValueError
        The classes' attention is linearly dependent: there is no E'.
    NotIntegrated
        A turn other than 0 is beyond `LEAST` or `MOST`, or the solver gave up.

    >>> data = SequenceClasses.from_weights("two", 5000, [("m", "q", {"a": 1, "c": 1}), ("n", "q", {"b": 1, "c": 1})])
    >>> path = follow(data, [1.0, 100.0])
    >>> path.z.value.round(6).tolist(), path.B.value[:, 0].round(6).tolist()
    ([[0.117153, -0.234306, 0.117153], [0.576312, -1.152625, 0.576312]], [0.201297, 0.73773])
    """
    at = np.asarray(turns, dtype=np.float64)
    logits = Logits(data)
    overlap(logits.attended(np.zeros(len(logits.names))).T)
    fine, coarse = (_integrated(logits, at, tolerance) for tolerance in (TOLERANCE, COARSER))
    apart = np.maximum.accumulate(np.abs(fine - coarse), axis=0)
    found = Approximation(fine, apart + 64 * UNIT_ROUNDOFF * np.abs(fine))
    pairs = len(logits.names)
    return Path(logits, found[:, :pairs], found[:, pairs:])


def _integrated(logits: Logits, at: Floats, tolerance: float) -> Floats:
    """z and B at each turn, shape (times, pairs + classes)."""
    data, pairs = logits.data, len(logits.names)
    found = np.zeros((len(at), pairs + data.K))
    later = at > 0
    if not later.any():
        return found
    q_0, q_1 = -data.M / (data.M - 1.0) ** 2, data.M / (data.M - 1.0)
    own = np.arange(data.K)

    def turn(_: float, state: Floats) -> Floats:
        f = logits.attended(state[:pairs])
        E = f @ f.T
        E[own, own] = 0.0
        E_prime = np.linalg.solve(np.eye(data.K) + E, E)
        beta = (q_1 - q_0) * E_prime - q_0 * (1 - E_prime.sum(axis=1))
        beta[own, own] = 0.0
        xi = (beta * E).sum(axis=1)
        moved = logits.of_query @ (f * (f * xi[:, np.newaxis] - beta @ f))
        return np.concatenate([moved[logits.pairs], xi])

    asked = np.unique(at[later])
    if asked[0] < LEAST or asked[-1] > MOST:
        raise NotIntegrated(f"Gamma from {asked[0]:.3g} to {asked[-1]:.3g} is not within {LEAST:g} to {MOST:g}")
    run = scipy.integrate.solve_ivp(
        turn,
        (0.0, asked[-1]),
        np.zeros(pairs + data.K),
        method="LSODA",
        t_eval=asked,
        rtol=tolerance,
        atol=tolerance * FROM_ZERO * asked[0],
    )
    if not run.success or not np.isfinite(run.y).all():
        raise NotIntegrated(f"eq. 10 was not integrated to Gamma = {asked[-1]:.4g}: {run.message}")
    found[later] = run.y.T[np.searchsorted(asked, at[later])]
    return found
