"""The two losses and their gradients in textbook form, for any weights and any data, and the infimum of stage 2's.

Plain float64 (or complex128) arithmetic. Along a trajectory the differences P - e_y and
diag(phi) - phi phi^T lose their digits; Algorithm 1 itself runs on the equal forms of
:mod:`marginaudit.training.ntp.steps.ov_loss` and :mod:`marginaudit.training.ntp.steps.kq_loss`.

Losses and gradients take complex weights too and are analytic in them, so that the derivative along D is
Im f(W + i h D) / h, exact to rounding for tiny h.
"""

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from marginaudit.orders.ntp import Dataset
from marginaudit.training.ntp.model.edges import Floats, Indices

if TYPE_CHECKING:
    import flint


Array: TypeAlias = NDArray[Any]


def stage1_loss(dataset: Dataset, W_ov: Array, tokens: Indices | None = None) -> Any:
    """L0 = sum over x in V of -log softmax(W_ov x)_{n(x)}, each token once.

    Parameters
    ----------
    W_ov : (labels, dimension) array
    tokens : integer array or None
        Tokens to sum over; all by default.

    Raises
    ------
    CollocationError
        n is not a function on the whole vocabulary.

    Source: arXiv 2409.17335, section 3, stage 1 of Algorithm 1.
    """
    X, answer = _stage1_terms(dataset, tokens)
    return -_log_softmax(W_ov @ X)[answer, np.arange(len(answer))].sum()


def stage1_loss_gradient(dataset: Dataset, W_ov: Array, tokens: Indices | None = None) -> Array:
    """Eq. 5 as printed: sum over x of (P(x) - e_{n(x)}) x^T, shape (labels, dimension).

    Parameters
    ----------
    dataset, W_ov, tokens :
        As for `stage1_loss`.

    Raises
    ------
    CollocationError
        n is not a function on the whole vocabulary.

    Source: arXiv 2409.17335, eq. 5.
    """
    X, answer = _stage1_terms(dataset, tokens)
    surplus = np.exp(_log_softmax(W_ov @ X))
    surplus[answer, np.arange(len(answer))] -= 1
    return np.asarray(surplus @ X.T)


def stage2_loss(dataset: Dataset, W_ov: Array, W_kq: Array) -> Any:
    """Eq. 1: Loss = sum over n of pi_n (-log P_{y_n}).

    Parameters
    ----------
    W_ov : (labels, dimension) array
    W_kq : (dimension, dimension) array

    Source: arXiv 2409.17335, eq. 1.
    """
    _, _, log_P = _forward(dataset, W_ov, W_kq)
    return -(log_P[_answers(dataset)] @ dataset.frequencies)


def loss_gradient(dataset: Dataset, W_ov: Array, W_kq: Array) -> Array:
    """Eq. 6 as printed: sum_n pi_n X_n (diag(phi) - phi phi^T) X_n^T W_ov^T (P - e_y) q^T.

    Returns
    -------
    (dimension, dimension) array

    Source: arXiv 2409.17335, eq. 6.
    """
    X, phi, log_P = _forward(dataset, W_ov, W_kq)
    surplus = np.exp(log_P)
    surplus[_answers(dataset)] -= 1
    pulled = [x.T @ back for x, back in zip(X, (W_ov.T @ surplus).T, strict=True)]
    terms = [
        pi * (x @ (weight * (back - weight @ back)))  # (diag(phi) - phi phi^T) back, without the matrix
        for pi, x, weight, back in zip(dataset.frequencies.tolist(), X, phi, pulled, strict=True)
    ]
    return np.asarray(np.transpose(terms) @ np.array([x[:, -1] for x in X]))


def _forward(dataset: Dataset, W_ov: Array, W_kq: Array) -> tuple[list[Array], list[Array], Array]:
    """X (columns are the embeddings of positions) and phi of every sample, and log P, shape (labels, samples)."""
    X = [dataset.embeddings[[dataset.index[x] for x in sample.tokens]].T for sample in dataset.samples]
    toward = W_kq @ np.transpose([x[:, -1] for x in X])
    phi = [np.exp(_log_softmax(x.T @ column)) for x, column in zip(X, toward.T, strict=True)]
    mixed = np.transpose([x @ weight for x, weight in zip(X, phi, strict=True)])
    return X, phi, _log_softmax(W_ov @ mixed)


def _answers(dataset: Dataset) -> tuple[list[int], Indices]:
    """Index (y_n, n) of every sample's label in an array of shape (labels, samples)."""
    return [dataset.index[sample.next] for sample in dataset.samples], np.arange(dataset.N)


def _stage1_terms(dataset: Dataset, tokens: Indices | None) -> tuple[Array, Indices]:
    """The embeddings of the tokens as columns, and n of each."""
    n = dataset.collocation.require_function()
    answer = np.array([dataset.index[n[x]] for x in dataset.vocabulary])
    chosen = np.arange(dataset.V) if tokens is None else tokens
    return dataset.embeddings[chosen].T, answer[chosen]


def _log_softmax(z: Array) -> Array:
    """log softmax along the first axis, analytic in z: the shift is a constant."""
    shifted = z - np.max(z.real, axis=0)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=0)))


def infimum(V: int, A: ArrayLike) -> Floats:
    """Infimum of a sample's loss where all margins of W_ov are A: log(1 + (V-1) exp(-A)), shape of A.

    >>> float(infimum(1, 3.0)), float(round(infimum(4, 0.0) / np.log(4), 12))
    (0.0, 1.0)
    """
    return np.asarray(np.log1p((V - 1) * np.exp(-np.asarray(A, dtype=np.float64))))


def infimum_ball(V: int, A: "flint.arb") -> "flint.arb":
    """`infimum` in ball arithmetic."""
    return ((V - 1) * (-A).exp()).log1p()


def log_infimum_ball(V: int, A: "flint.arb") -> "flint.arb":
    """log of `infimum` in ball arithmetic, however large A is; V is at least 2.

    >>> import flint
    >>> f"{float(log_infimum_ball(4, flint.arb(1e100))):.10g}"
    '-1e+100'
    """
    import flint

    return log_softplus(flint.arb(V - 1).log() - A)


def log_softplus(x: "flint.arb") -> "flint.arb":
    """log log(1 + exp(x)) in ball arithmetic, also where exp(x) leaves its range.

    log(1 + exp(x)) is x + log(1 + exp(-x)), and for exp(x) <= 1 it lies between exp(x - exp(x)) and exp(x).
    """
    import flint

    if x < -flint.ctx.prec:
        return x + flint.arb(0, x.exp().abs_upper())
    if x > 0:
        return (x + (-x).exp().log1p()).log()
    return x.exp().log1p().log()
