"""Batch-1 SGD as printed, on whole M x M matrices: nothing here knows of h, of classes of tokens or of counts."""

from collections.abc import Sequence
from typing import Any

import mpmath
import numpy as np


def features(seed: int, tokens: int, K: int, own: float = 3.0) -> Any:
    """Random nonnegative unit columns with weak overlaps: each class has a token of its own."""
    rng = np.random.default_rng(seed)
    F = rng.random((tokens, K)) * (rng.random((tokens, K)) < 0.6)
    F[np.arange(K), np.arange(K)] += own
    return F / np.linalg.norm(F, axis=0)


def counts_of(sequence: Any, at: Sequence[int], K: int) -> Any:
    """Counts of each of K classes in the first t entries, shape (records, classes)."""
    return np.array([np.bincount(sequence[:t], minlength=K) for t in at])


def softmax(logits: Any) -> Any:
    powers = np.exp(logits - logits.max())
    return powers / powers.sum()


def padded(F: Any, M: int) -> Any:
    """F with rows of zeros up to M tokens."""
    return np.vstack([F, np.zeros((M - len(F), F.shape[1]))])


def sgd(F: Any, sequence: Any, M: int, eta: float, modified: bool) -> Any:
    """Y, shape (M, M), after each step: eq. 3's gradient with f_n for LN(X^T b), or the one of Lemma 3."""
    F = padded(F, M)
    K = F.shape[1]
    Y = np.zeros((M, M))
    states = [Y.copy()]
    E_prime = np.eye(K) - np.linalg.inv(F.T @ F)
    for n in sequence:
        error = np.eye(M)[n] - softmax(Y.T @ F[:, n])
        direction = F[:, n] - F @ E_prime[:, n] if modified else F[:, n]
        Y = Y + eta * np.outer(direction, error)
        states.append(Y.copy())
    return np.array(states)


def gradient(Y: Any, F: Any, n: int) -> Any:
    """Y (e_n - alpha_n), back-propagated to the features of class n."""
    M = len(Y)
    return Y @ (np.eye(M)[n] - softmax(Y.T @ padded(F, M)[:, n]))


def precise_sgd(F: Any, sequence: Any, M: int, eta: float, modified: bool) -> Any:
    """`sgd`, entry by entry in 60 digits; only the last Y, a list of rows."""
    with mpmath.workdps(60):
        F = [[mpmath.mpf(float(x)) for x in row] for row in padded(F, M)]
        K, eta = len(F[0]), mpmath.mpf(eta)
        gram = mpmath.matrix(K, K)
        for i in range(K):
            for j in range(K):
                gram[i, j] = 1 if i == j else mpmath.fsum(row[i] * row[j] for row in F)
        inverse = gram**-1
        Y = [[mpmath.mpf(0)] * M for _ in range(M)]
        for n in sequence:
            logits = [mpmath.fsum(Y[i][j] * F[i][n] for i in range(M)) for j in range(M)]
            powers = [mpmath.exp(x) for x in logits]
            total = mpmath.fsum(powers)
            error = [(j == n) - powers[j] / total for j in range(M)]
            for i in range(M):
                direction = mpmath.fsum(F[i][k] * inverse[k, n] for k in range(K)) if modified else F[i][n]
                for j in range(M):
                    Y[i][j] += eta * direction * error[j]
        return Y
