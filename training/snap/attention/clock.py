"""The clock of self-attention: Gamma(t) = eta_Z int_0^t gamma, and the times between which it scans and snaps."""

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import lambertw

from marginaudit.training.snap.limit import Approximation, continuous


def turned(t: ArrayLike, K: int, M: int, eta_Y: float, eta_Z: float) -> Approximation:
    """Gamma(t) = eta_Z int_0^t gamma = (eta_Z/eta_Y) K (M-1)^2 h^2(t/K)/2, as h' = eta_Y/(M-1+exp(M h)).

    gamma is Lemma 9's, of h(t/K); eq. 85 has h(ceil(t/K)).

    Source: arXiv 2305.16380, eq. 128.

    Parameters
    ----------
    t : array of any shape
        Batch-1 steps, not negative.
    K, M : int
        Classes, tokens in the vocabulary.
    eta_Y, eta_Z : float

    Raises
    ------
    ValueError
        See `continuous`.

    >>> [f"{x:.10g}" for x in turned([0, 100, 1e18], K=2, M=1000, eta_Y=0.5, eta_Z=0.05).value]
    ['0', '9.274770874', '220.1582549']
    """
    rows = continuous(np.asarray(t, dtype=np.float64) / K, M, eta_Y).h * (M - 1.0)
    return rows * rows * (eta_Z / eta_Y * K / 2)


def scan_end(K: int, M: int, eta_Y: float) -> float:
    """t_0' = K ln M/eta_Y (Theorem 4)."""
    return float(K * np.log(M) / eta_Y)


def snap_start(K: int, M: int, eta_Y: float) -> float:
    """t_0 = 2 (1+omega_1) K ln M/eta_Y, (1+omega_1) ln M the larger zero of exp(x) - (M-1) x (Theorem 4, Lemma 8).

    Raises
    ------
    ValueError
        M is below 4: there is no zero.

    >>> f"{snap_start(K=2, M=5000, eta_Y=0.5):.6g}"
    '87.2507'
    """
    if M < 4:
        raise ValueError(f"M: got {M}, expected at least 4 tokens")
    return float(-2 * K / eta_Y * np.real(lambertw(-1 / (M - 1.0), k=-1)))
