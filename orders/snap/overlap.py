"""The overlap matrix E = F^T F - I of the classes' attention and its eigenvalues, with error bars."""

from dataclasses import dataclass

import numpy as np

from marginaudit.orders.arrays import UNIT_ROUNDOFF, Floats, gamma, read_only

TINY = float(np.finfo(np.float64).smallest_normal)
"""Bound on the underflow in a product."""

LAST_ROUNDINGS = 1 + 2.0**-20
"""Factor for the rounding in an error bar's formula: K^2 roundings in a norm of a K x K matrix, K below 10^4."""


@dataclass(frozen=True, eq=False)
class AttentionOverlap:
    """F, E and its eigenvalues in float64, with error bounds against the exact attention.

    Source: arXiv 2305.16380, Assumption 2.

    Attributes
    ----------
    F : (tokens, classes) array
        Column n is f_n = c_n/|c_n|.
    E : (classes, classes) array
        Symmetric, its diagonal 0 exactly.
    relative_error : float
        Relative error bound of each entry of E, up to `TINY` times the tokens of a class.
    norm_error : float
        Bound on the spectral norm of the error of E.
    eigenvalues : (classes,) array
        Of E, ascending.
    eigenvalue_error : float
        Bound on the error of each eigenvalue.
    """

    F: Floats
    E: Floats
    relative_error: float
    norm_error: float
    eigenvalues: Floats
    eigenvalue_error: float

    @property
    def K(self) -> int:
        """Number of classes."""
        return len(self.E)

    @property
    def largest(self) -> float:
        """|lambda_1|, the largest absolute value of an eigenvalue."""
        return float(np.max(np.abs(self.eigenvalues)))

    @property
    def independent(self) -> bool:
        """Whether I + E is regular beyond the error of its eigenvalues, so that E' exists (Lemma 14)."""
        return bool(1 + self.eigenvalues[0] - self.eigenvalue_error - UNIT_ROUNDOFF > 0)


def overlap_of(attention: Floats) -> AttentionOverlap:
    """The overlap of classes with the given attention, shape (classes, tokens), rows of sum 1.

    E: a dot product of n numbers >= 0, each a number over a norm, has at most 2 n + 4 roundings: n in the product, n/2
    + 2 in each factor. Two more cover products of these and underflow in the norms.

    >>> overlap = overlap_of(np.array([[0.6, 0.8, 0.0], [0.6, 0.0, 0.8]]) / 1.4)
    >>> overlap.eigenvalues.round(12), overlap.eigenvalue_error < 1e-14
    (array([-0.36,  0.36]), True)
    """
    K, n = len(attention), int(np.max(np.count_nonzero(attention, axis=1)))
    rows = attention / np.linalg.norm(attention, axis=1, keepdims=True)
    lower = np.tril(rows @ rows.T, -1)
    E = lower + lower.T
    relative_error, size = gamma(2 * n + 6), frobenius(E)
    norm_error = float((relative_error * size + K * n * TINY) * LAST_ROUNDINGS)

    eigenvalues, _, error = eigenpairs(E)
    eigenvalue_error = error + norm_error
    return AttentionOverlap(
        F=read_only(rows.T),
        E=read_only(E),
        relative_error=relative_error,
        norm_error=norm_error,
        eigenvalues=read_only(eigenvalues),
        eigenvalue_error=eigenvalue_error,
    )


def eigenpairs(A: Floats) -> tuple[Floats, Floats, float]:
    """Eigenvalues of a symmetric matrix, ascending, its eigenvectors, and an error bound for each eigenvalue.

    With the computed eigenvectors V, eigenvalues L, G = V^T V - I and R = A V - V L, the symmetric matrix
    V^T A V = L + G L + V^T R has eigenvalues within |G| |L| + |V| |R| of L (Weyl), and each is that of A times a factor
    within |G| of 1 (Ostrowski). No property of the eigensolver is used.

    >>> values, vectors, error = eigenpairs(np.array([[0.0, 0.36], [0.36, 0.0]]))
    >>> values.round(12), error < 1e-14
    (array([-0.36,  0.36]), True)
    """
    K, size = len(A), frobenius(A)
    eigenvalues, V = np.linalg.eigh(A)
    most = np.max(np.abs(eigenvalues))
    G = np.linalg.norm(V.T @ V - np.eye(K)) + gamma(K + 1) * (np.linalg.norm(V) ** 2 + np.sqrt(K))
    R = frobenius(A @ V - V * eigenvalues) + gamma(K + 2) * np.linalg.norm(V) * (size + most)
    return eigenvalues, V, float((G * (most + size) + (1 + G) * R) * LAST_ROUNDINGS + (K**2 * TINY if size else 0.0))


def frobenius(A: Floats) -> float:
    """The Frobenius norm, safe where squares of entries overflow or underflow.

    >>> frobenius(np.full((2, 2), 1e-200))
    2e-200
    """
    largest = float(np.abs(A).max())
    return largest * float(np.linalg.norm(A / largest)) if largest else 0.0
