"""The clock of self-attention: Gamma(t) = eta_Z int_0^t gamma."""

import numpy as np
from numpy.typing import ArrayLike

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
