"""iota and beta letter by letter as eqs. 86 and 88 print them, to be audited, and beta with its sign mended."""

import numpy as np

from marginaudit.training.snap.limit.approximation import Approximation
from marginaudit.training.snap.limit.backpropagated import zeta_products
from marginaudit.training.snap.limit.fluctuation import Fluctuation
from marginaudit.training.snap.limit.overlap import Overlap


def printed_iota(overlap: Overlap, at: Fluctuation) -> Approximation:
    """Eq. 86: (1+sigma) [q_1 (1+theta_n) (1 - E'_nn) - q_0 sum over k != n of (1+theta_k) E'_kn].

    Returns
    -------
    Approximation, shape (.., classes)
    """
    q_1, q_0 = _products(at)
    grown, others = at.theta + 1.0, 1.0 - np.eye(overlap.K)
    diagonal = overlap.E_prime[np.arange(overlap.K), np.arange(overlap.K)]
    rest = (overlap.E_prime * others * grown[..., np.newaxis, :]).sum()
    return (at.sigma + 1.0) * (q_1 * grown * (-diagonal + 1.0) - q_0 * rest)


def printed_beta(overlap: Overlap, at: Fluctuation) -> Approximation:
    """Eq. 88: (1+sigma) [q_1 (1+theta_n) E'_nn' + q_0 ((1+theta_n') + sum over k != n of (1+theta_k) E'_kn')].

    Returns
    -------
    Approximation, shape (.., classes, classes)
        Entry (n, n'); the diagonal means nothing.
    """
    return _beta(overlap, at, own=1.0)


def mended_beta(overlap: Overlap, at: Fluctuation) -> Approximation:
    """Eq. 88 with - q_0 (1+theta_n') where it has + q_0 (1+theta_n'); see `printed_beta`."""
    return _beta(overlap, at, own=-1.0)


def _beta(overlap: Overlap, at: Fluctuation, own: float) -> Approximation:
    q_1, q_0 = _products(at)
    grown, others = at.theta + 1.0, 1.0 - np.eye(overlap.K)
    without_n = grown[..., np.newaxis, np.newaxis, :] * others[:, np.newaxis, :]
    rest = (overlap.E_prime * without_n).sum()
    bracket = q_1 * grown[..., np.newaxis] * overlap.E_prime + q_0 * (grown[..., np.newaxis, :] * own + rest)
    return (at.sigma + 1.0)[..., np.newaxis] * bracket


def _products(at: Fluctuation) -> tuple[Approximation, Approximation]:
    products = zeta_products(at.mean.M, 2)
    return products[0, 0], products[0, 1]
