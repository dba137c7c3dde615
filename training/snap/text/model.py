"""One-layer transformer of eqs. 1 and 2, with embedding and three matrices, and its gradients."""

from typing import NamedTuple

import numpy as np
import scipy  # its subpackages load when first used

from marginaudit.orders.arrays import Floats, Integers


class Parameters(NamedTuple):
    """Trained parameters.

    Attributes
    ----------
    U : (M, d) array
        One row per token.
    W_Q, W_K, W_V : (d, d) arrays
    """

    U: Floats
    W_Q: Floats
    W_K: Floats
    W_V: Floats


def initial(M: int, d: int, rng: np.random.Generator) -> Parameters:
    """Initial parameters, normal with variance 1/d, so that embeddings are nearly orthonormal."""
    U, *matrices = (rng.normal(size=(rows, d)) / np.sqrt(d) for rows in (M, d, d, d))
    return Parameters(U, *matrices)


def attention(at: Parameters, windows: Integers) -> Floats:
    """Attention b of each window, shape (windows, T - 1).

    Parameters
    ----------
    windows : (windows, T) array
        Tokens; the last one of a window is its query, which is not attended to.

    Source: arXiv 2305.16380, eq. 1.
    """
    asked = at.U[windows[:, -1]] @ at.W_Q @ at.W_K.T
    scores = np.einsum("btd,bd->bt", at.U[windows[:, :-1]], asked) / np.sqrt(at.U.shape[1])
    return np.asarray(scipy.special.softmax(scores, axis=1))


def gradients(at: Parameters, windows: Integers, following: Integers) -> tuple[float, Parameters]:
    """Mean cross-entropy of the tokens following the windows, and its derivatives.

    With u = sum_t b_t u_(x_t) and u' = u/|u|, the logits are U W_V u'.

    Source: arXiv 2305.16380, eqs. 1 and 2; the paper normalizes X^T b, and notes that practice normalizes u.
    """
    U, W_Q, W_K, W_V = at
    many, root = len(windows), np.sqrt(U.shape[1])
    context, query = windows[:, :-1], windows[:, -1]
    E, q, b = U[context], U[query], attention(at, windows)
    asked, keys = q @ W_Q, E @ W_K
    u = np.einsum("bt,btd->bd", b, E)
    norm = np.linalg.norm(u, axis=1, keepdims=True)
    u_hat = u / norm
    v = u_hat @ W_V.T
    logits = v @ U.T
    loss = float((scipy.special.logsumexp(logits, axis=1) - logits[np.arange(many), following]).mean())

    g = scipy.special.softmax(logits, axis=1)
    g[np.arange(many), following] -= 1
    g /= many
    of_v = g @ U
    of_u_hat = of_v @ W_V
    of_u = (of_u_hat - (of_u_hat * u_hat).sum(axis=1, keepdims=True) * u_hat) / norm
    of_b = np.einsum("btd,bd->bt", E, of_u)
    of_scores = b * (of_b - (b * of_b).sum(axis=1, keepdims=True)) / root
    of_keys = of_scores[:, :, np.newaxis] * asked[:, np.newaxis]
    of_asked = np.einsum("bt,btd->bd", of_scores, keys)
    of_E = b[:, :, np.newaxis] * of_u[:, np.newaxis] + of_keys @ W_K.T

    of_U = g.T @ v
    np.add.at(of_U, context, of_E)
    np.add.at(of_U, query, of_asked @ W_Q.T)
    return loss, Parameters(of_U, q.T @ of_asked, np.einsum("bti,btj->ij", E, of_keys), of_v.T @ u_hat)
