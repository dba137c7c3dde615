"""Gradient g = Y (e_n - alpha_n) backpropagated to self-attention (Theorem 1)."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from marginaudit.orders.arrays import UNIT_ROUNDOFF
from marginaudit.training.approximation import Approximation, of
from marginaudit.training.snap.limit.continuous import speed
from marginaudit.training.snap.limit.fluctuation import Fluctuation
from marginaudit.training.snap.limit.overlap import Overlap


@dataclass(frozen=True)
class Backpropagated:
    """g = gamma (iota_n f_n - sum over n' != n of beta_nn' f_n') for each class n (eq. 9).

    Attributes
    ----------
    gamma : Approximation, shape (..)
        Eq. 85.
    xi : Approximation, shape (.., classes)
        gamma times the sum over n' != n of beta_nn' f_n^T f_n'.
    overlap : Overlap
    products : Approximation, shape (.., classes, classes)
        Entry (n, k): zeta_k^T zeta_n (1+theta_k).
    grown : Approximation, shape (.., classes)
        1 + sigma.
    """

    gamma: Approximation
    xi: Approximation
    overlap: Overlap
    products: Approximation
    grown: Approximation

    @cached_property
    def beta(self) -> Approximation:
        """Eq. 88, corrected, shape (.., classes, classes); the diagonal is unused."""
        # entry (n, n'): coefficient of f_n' in the gradient of class n
        weights = (of(np.eye(self.overlap.K)) - self.overlap.E_prime) * self.products[..., np.newaxis, :]
        return -(weights.sum() * self.grown[..., np.newaxis])


def backpropagated(overlap: Overlap, at: Fluctuation) -> Backpropagated:
    """Gamma, xi and beta at a state of SGD with the modified gradient.

    Derived here; `printed_iota` and `printed_beta` are the formulas of the source.
    Y = F (I-E') (I+Theta) W-bar, and e_n - alpha_n is (M-1) share_n zeta_n. So g is (1+sigma_n) gamma F (I-E') v
    with v_k = zeta_k^T zeta_n (1+theta_k), where zeta_n^T zeta_n = q_1 and zeta_k^T zeta_n = q_0.
    For xi: f_n^T F (I-E') v = v_n, so xi_n = -(1+sigma_n) gamma times the sum of E'_nk v_k, without cancellation.

    Parameters
    ----------
    at : Fluctuation
        State, of shape (..).
    """
    gamma, products, grown = _state(at)
    return Backpropagated(gamma, _xi(overlap.E_prime, gamma, products, grown), overlap, products, grown)


def xi_along(E_prime: Approximation, at: Fluctuation) -> Approximation:
    """Xi of `backpropagated` for an E' per state, shape (states, classes, classes)."""
    return _xi(E_prime, *_state(at))


def _state(at: Fluctuation) -> tuple[Approximation, Approximation, Approximation]:
    """Gamma, v for each class, and 1 + sigma."""
    v = zeta_products(at.mean.M, at.theta.value.shape[-1]) * (at.theta + 1.0)[..., np.newaxis, :]
    return speed(at.mean), v, at.sigma + 1.0


def _xi(E_prime: Approximation, gamma: Approximation, v: Approximation, grown: Approximation) -> Approximation:
    return -((E_prime * v).sum() * grown * gamma[..., np.newaxis])


def zeta_products(M: int, K: int) -> Approximation:
    """zeta_n^T zeta_k of K next tokens: q_1 = M/(M-1) on the diagonal, q_0 = -M/(M-1)^2 off it."""
    products = np.full((K, K), -M / (M - 1.0) ** 2)
    np.fill_diagonal(products, M / (M - 1.0))
    return Approximation(products, 4 * UNIT_ROUNDOFF * np.abs(products))


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
        Entry (n, n'); the diagonal is unused.
    """
    return _beta(overlap, at, own=1.0)


def mended_beta(overlap: Overlap, at: Fluctuation) -> Approximation:
    """Eq. 88 with - q_0 (1+theta_n') in place of + q_0 (1+theta_n'); see `printed_beta`."""
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
