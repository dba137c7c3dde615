"""Overlaps of the classes: E = F^T F - I and E' = I - (I+E)^{-1}."""

from dataclasses import dataclass

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
    E_prime : Approximation, shape (classes, classes)
        I - (I+E)^{-1} (Lemma 14) of this array E; the list of notation in appendix D has the other sign.
    eigenvalues : (classes,) array
        Eigenvalues of E, ascending.
    """

    F: Floats
    E: Floats
    E_prime: Approximation
    eigenvalues: Floats

    @property
    def K(self) -> int:
        """Number of classes."""
        return len(self.E)

    @property
    def largest(self) -> float:
        """|lambda_1|, the largest absolute eigenvalue of E."""
        return float(np.abs(self.eigenvalues).max())

    @property
    def dual(self) -> Floats:
        """Transposed pseudo-inverse of F, F (I - E'), shape (tokens, classes)."""
        return self.F - self.F @ self.E_prime.value


def overlap(F: ArrayLike) -> Overlap:
    """Overlap of features f_n, the columns of F.

    E' solves (I+E) E' = E, and its error is (I+E)^{-1} times the residual: in Frobenius norm, at most the residual over
    the least eigenvalue 1 + lambda.

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
    for n, length in enumerate(lengths):
        if not abs(length - 1) <= UNIT_COLUMNS:
            raise ValueError(f"F: got length {length} of column {n}, expected 1")
    E = np.asarray(features.T @ features, dtype=np.float64)
    np.fill_diagonal(E, 0.0)
    E = (E + E.T) / 2
    K = len(E)
    eigenvalues = np.asarray(np.linalg.eigvalsh(E), dtype=np.float64)
    least = 1 + eigenvalues[0] - 4 * K * UNIT_ROUNDOFF * (1 + np.abs(eigenvalues).max())
    if not least > 4 * K * UNIT_ROUNDOFF:
        raise ValueError("F: got linearly dependent columns, expected independent ones")
    gram = np.eye(K) + E
    E_prime = np.asarray(np.linalg.solve(gram, E), dtype=np.float64)
    left = frobenius(E - gram @ E_prime) + (K**2 * TINY if E.any() else 0.0)
    left += 2 * (K + 2) * UNIT_ROUNDOFF * frobenius(np.abs(E) + np.abs(gram) @ np.abs(E_prime))
    return Overlap(features, E, Approximation(E_prime, np.full_like(E, left / least)), eigenvalues)
