"""The textbook form: the two losses and their gradients in embedding space, for any weights and any data.

Plain float64 (or complex128) arithmetic. Along a trajectory the differences P - e_y and
diag(phi) - phi phi^T lose their digits; Algorithm 1 itself runs on the equal forms of
:mod:`marginaudit.training.ov` and :mod:`marginaudit.training.kq`.

All functions take complex weights too and are analytic in them, so that the derivative along D is
Im f(W + i h D) / h, exact to rounding for tiny h.
"""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from marginaudit.orders import Dataset, Sample

Array: TypeAlias = NDArray[Any]


def stage1_loss(dataset: Dataset, W_ov: Array) -> Any:
    """L0 = sum over x in V of -log softmax(W_ov x)_{n(x)}, each token once.

    Parameters
    ----------
    dataset : Dataset
    W_ov : (labels, dimension) array

    Raises
    ------
    CollocationError
        n is not a function on the whole vocabulary.

    Source: arXiv 2409.17335, section 3, stage 1 of Algorithm 1.
    """
    E, n = dataset.embeddings, _next_tokens(dataset)
    return sum(-_log_softmax(W_ov @ E[x])[n[x]] for x in range(dataset.V))


def stage1_loss_gradient(dataset: Dataset, W_ov: Array) -> Array:
    """Eq. 5 as printed: sum over x of (P(x) - e_{n(x)}) x^T, shape (labels, dimension).

    Raises
    ------
    CollocationError
        n is not a function on the whole vocabulary.

    Source: arXiv 2409.17335, eq. 5.
    """
    E, n, basis = dataset.embeddings, _next_tokens(dataset), np.eye(dataset.V)
    terms = [np.outer(np.exp(_log_softmax(W_ov @ E[x])) - basis[n[x]], E[x]) for x in range(dataset.V)]
    return np.asarray(sum(terms))


def stage2_loss(dataset: Dataset, W_ov: Array, W_kq: Array) -> Any:
    """Eq. 1: Loss = sum over n of pi_n (-log P_{y_n}).

    Parameters
    ----------
    dataset : Dataset
    W_ov : (labels, dimension) array
    W_kq : (dimension, dimension) array

    Source: arXiv 2409.17335, eq. 1.
    """
    return sum(
        -pi * _log_softmax(W_ov @ X @ _attention(X, W_kq))[dataset.index[sample.next]]
        for sample, pi, X in _weighted(dataset)
    )


def loss_gradient(dataset: Dataset, W_ov: Array, W_kq: Array) -> Array:
    """Eq. 6 as printed: sum_n pi_n X_n (diag(phi) - phi phi^T) X_n^T W_ov^T (P - e_y) q^T.

    Returns
    -------
    (dimension, dimension) array

    Source: arXiv 2409.17335, eq. 6.
    """
    total, basis = np.zeros(W_kq.shape, dtype=np.result_type(W_ov, W_kq, float)), np.eye(dataset.V)
    for sample, pi, X in _weighted(dataset):
        phi = _attention(X, W_kq)
        P = np.exp(_log_softmax(W_ov @ X @ phi))
        jacobian = np.diag(phi) - np.outer(phi, phi)
        surplus = P - basis[dataset.index[sample.next]]
        total += pi * np.outer(X @ jacobian @ X.T @ W_ov.T @ surplus, X[:, -1])
    return total


def sample_probabilities(dataset: Dataset, W_ov: Array, W_kq: Array) -> Array:
    """P = softmax(W_ov X phi(X^T W_kq q)) of every sample, shape (samples, labels)."""
    return np.array([np.exp(_log_softmax(W_ov @ X @ _attention(X, W_kq))) for _, _, X in _weighted(dataset)])


def _weighted(dataset: Dataset) -> list[tuple[Sample, float, Array]]:
    """Sample, frequency and X (columns: the embeddings of its positions)."""
    return [
        (sample, float(pi), dataset.embeddings[[dataset.index[x] for x in sample.tokens]].T)
        for sample, pi in zip(dataset.samples, dataset.frequencies, strict=True)
    ]


def _attention(X: Array, W_kq: Array) -> Array:
    return np.asarray(np.exp(_log_softmax(X.T @ W_kq @ X[:, -1])))


def _log_softmax(z: Array) -> Array:
    """Analytic in z: the shift is a constant, whatever it is."""
    shifted = z - np.max(z.real)
    return np.asarray(shifted - np.log(np.exp(shifted).sum()))


def _next_tokens(dataset: Dataset) -> list[int]:
    n = dataset.collocation.require_function()
    return [dataset.index[n[x]] for x in dataset.vocabulary]
