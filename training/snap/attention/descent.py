"""Batch-1 SGD of both layers on long sequences, the origin of eq. 10; many seeds in one call."""

from collections.abc import Sequence

import numpy as np

from marginaudit.orders.arrays import Floats, Integers
from marginaudit.orders.snap import SequenceClasses
from marginaudit.training.snap.attention.logits import Logits


def descend_both(
    data: SequenceClasses, sequences: Integers, at: Sequence[int], eta_Y: float, eta_Z: float, *, modified: bool
) -> Floats:
    """z after the recorded steps, shape (seeds, records, pairs), from Y = 0 and Z = 0.

    A step on class n, with g = Y (e_n - alpha_n): z of its query moves by eta_Z diag(f_n) (I - f_n f_n^T) g (eq. 4 in
    the limit of Lemma 2), Y by eta_Y f_n (e_n - alpha_n)^T (eq. 7), or by the modified gradient of Lemma 3, with
    f_n - F E' e_n in place of f_n. F is computed from the current z. The columns of tokens other than next tokens stay
    equal, so Y has K + 1 columns.

    Parameters
    ----------
    sequences : (seeds, steps) array
        Class of each step.
    at : sequence of int
        Recorded steps, increasing.

    >>> data = SequenceClasses.from_weights("two", 50, [("m", "q", {"a": 1, "c": 1}), ("n", "q", {"b": 1, "c": 1})])
    >>> descend_both(data, np.array([[0, 1, 0]]), [3], 0.5, 0.1, modified=True).round(9).tolist()
    [[[0.008387072, -0.008720406, 0.000333333]]]
    """
    logits, K = Logits(data), data.K
    seed = np.arange(len(sequences))
    Y = np.zeros((len(sequences), len(data.contextual), K + 1))
    z = np.zeros((len(sequences), len(logits.names)))
    copies = np.append(np.ones(K), data.M - K)
    found, recorded = np.empty((len(sequences), len(at), z.shape[1])), list(at)
    for step in range(max(recorded, default=0) + 1):
        if step in recorded:
            found[:, recorded.index(step)] = z
        if step == max(recorded, default=0):
            break
        n = sequences[:, step]
        F = logits.attended(z)
        f = F[seed, n]
        scores = np.einsum("slj,sl->sj", Y, f)
        powers = np.exp(scores - scores.max(axis=1, keepdims=True))
        error = -powers / (powers * copies).sum(axis=1, keepdims=True)
        error[seed, n] = 0.0
        error[seed, n] = -(error * copies).sum(axis=1)
        g = np.einsum("slj,sj->sl", Y, error * copies)
        direction = f
        if modified:
            gram = F @ F.transpose(0, 2, 1)
            direction = np.einsum("snl,sn->sl", F, np.linalg.inv(gram)[seed, n])
        pulled = f * (g - f * (f * g).sum(axis=1, keepdims=True))
        query, token = logits.pairs
        z = z + eta_Z * np.where(query == data.asked[n][:, np.newaxis], pulled[:, token], 0.0)
        Y = Y + eta_Y * direction[:, :, np.newaxis] * error[:, np.newaxis, :]
    return found
