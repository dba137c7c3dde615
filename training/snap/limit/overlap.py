"""Overlaps of the classes: E = F^T F - I and E' = I - (I+E)^{-1}."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from marginaudit.orders.arrays import UNIT_ROUNDOFF, Floats
from marginaudit.orders.snap.overlap import TINY, frobenius
from marginaudit.training.approximation import Approximation

UNIT_COLUMNS = 1e-12
"""Largest deviation of a column's length from 1."""


@dataclass(frozen=True)
class Overlap:
    """Features of the classes and their overlaps.

    Attributes
    ----------
    F : (tokens, classes) array
        f_n, of unit length.
    E : (classes, classes) array
        f_n^T f_n' off the diagonal, which is 0.
    eigenvalues : (classes,) array
        Eigenvalues of E, ascending.
    entry_error : float
        Relative error bound of each entry of E, included in the error bar of E'.
    """

    F: Floats
    E: Floats
    eigenvalues: Floats
    entry_error: float = 0.0

    @property
    def K(self) -> int:
        """Number of classes."""
        return len(self.E)

    @property
    def largest(self) -> float:
        """|lambda_1|, the largest absolute eigenvalue of E."""
        return float(np.abs(self.eigenvalues).max())

    @property
    def least(self) -> float:
        """Lower bound of the least eigenvalue of I + E."""
        return float(1 + self.eigenvalues[0] - 4 * self.K * UNIT_ROUNDOFF * (1 + self.largest))

    @cached_property
    def E_prime(self) -> Approximation:
        """I - (I+E)^{-1} (Lemma 14), shape (classes, classes); the list of notation in appendix D has the other sign.

        It solves (I+E) E' = E, and its error is (I+E)^{-1} times the residual: in Frobenius norm, at most the residual
        over the least eigenvalue. An error dE of E changes E' by (I-E') dE (I-E') to first order; twice that covers the
        rest for small dE.
        """
        E, K = self.E, self.K
        gram = np.eye(K) + E
        E_prime = np.asarray(np.linalg.solve(gram, E), dtype=np.float64)
        left = frobenius(E - gram @ E_prime) + (K**2 * TINY if E.any() else 0.0)
        left += 2 * (K + 2) * UNIT_ROUNDOFF * frobenius(np.abs(E) + np.abs(gram) @ np.abs(E_prime))
        error = np.full_like(E, left / self.least)
        if self.entry_error:
            inverse = np.abs(np.eye(K) - E_prime)
            error = error + 2 * inverse @ (self.entry_error * E) @ inverse
        return Approximation(E_prime, error)

    @property
    def dual(self) -> Floats:
        """Transposed pseudo-inverse of F, F (I - E'), shape (tokens, classes)."""
        return self.F - self.F @ self.E_prime.value


def overlap(F: ArrayLike) -> Overlap:
    """Overlap of features f_n, the columns of F.

    Parameters
    ----------
    F : (tokens, classes) array
        With unit columns, up to `UNIT_COLUMNS`.

    Raises
    ------
    ValueError
        F is no matrix or has no column, a column is not of unit length, or the columns are linearly dependent.

    >>> found = overlap([[0.6, 0.6], [0.8, 0.0], [0.0, 0.8]])
    >>> found.E.round(12).tolist(), found.E_prime.value.round(12).tolist()
    ([[0.0, 0.36], [0.36, 0.0]], [[-0.148897058824, 0.413602941176], [0.413602941176, -0.148897058824]])
    """
    features = np.asarray(F, dtype=np.float64)
    if features.ndim != 2 or not features.shape[1]:
        raise ValueError(f"F: got shape {features.shape}, expected tokens x classes, at least one class")
    lengths = np.linalg.norm(features, axis=0)
    if len(off := np.flatnonzero(~(np.abs(lengths - 1) <= UNIT_COLUMNS))):
        raise ValueError(f"F: got length {lengths[off[0]]} of column {off[0]}, expected 1")
    E = np.asarray(features.T @ features, dtype=np.float64)
    np.fill_diagonal(E, 0.0)
    E = (E + E.T) / 2
    found = Overlap(features, E, np.asarray(np.linalg.eigvalsh(E), dtype=np.float64))
    if not found.least > 4 * found.K * UNIT_ROUNDOFF:
        raise ValueError("F: got linearly dependent columns, expected independent ones")
    return found
