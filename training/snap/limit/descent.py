"""Batch-1 SGD on Y with fixed features, as printed in eq. 7; many seeds in one call."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from marginaudit.orders.arrays import UNIT_ROUNDOFF, Floats
from marginaudit.orders.jit import compiled
from marginaudit.training.snap.limit.level import require_setting
from marginaudit.training.snap.limit.overlap import Overlap

LIPSCHITZ = 0.5
"""The largest eigenvalue that the Hessian of cross-entropy, diag(p) - p p^T, can have."""


@dataclass(frozen=True)
class DescentOfY:
    """States Y = F A of runs on many sequences of classes.

    Attributes
    ----------
    step : (records,) array
    A : (seeds, records, classes, classes + 1) array
        Row n sums eta_Y (e_n - alpha_n) over the steps of class n. Column j < K belongs to next token j, the last one
        to every other token.
    W : array of that shape
        F^T Y = (I+E) A.
    error : (seeds, records) array
        Bound on the rounding error of Y in Frobenius norm, hence of each logit f_n^T Y e_j; W has one more rounding.
        Inf if unknown.
    """

    step: NDArray[np.int64]
    A: Floats
    W: Floats
    error: Floats


@compiled
def take(
    sequence: NDArray[np.int64], at: NDArray[np.int64], eta_Y: float, E: Floats, others: float, A: Floats, error: Floats
) -> None:
    """Take the steps on one sequence up to the last of the increasing steps ``at``.

    Parameters
    ----------
    sequence : (steps,) array
    at : (records,) array
    E : (classes, classes) array
    others : float
        Number of tokens other than next tokens.
    A : (records, classes, classes + 1) array, error : (records,) array
        Receive the states.
    """
    K = len(E)
    now, logits, off = np.zeros((K, K + 1)), np.zeros(K + 1), 0.0
    lipschitz = max(1.0, eta_Y * LIPSCHITZ - 1)
    step = 0
    for record in range(len(at)):
        while step < at[record]:
            n = sequence[step]
            largest, size = -np.inf, 0.0
            for j in range(K + 1):
                logit = now[n, j]
                absolute = abs(logit)
                for k in range(K):
                    logit += E[n, k] * now[k, j]
                    absolute += E[n, k] * abs(now[k, j])
                logits[j] = logit
                largest = max(largest, logit)
                size = max(size, absolute)
            total = rest = 0.0
            for j in range(K + 1):
                logits[j] = np.exp(logits[j] - largest)
                mass = logits[j] * (others if j == K else 1.0)
                total += mass
                if j != n:
                    rest += mass
            # rounding: logits, their difference and exp, both sums, the quotient
            relative = (2 * (K + 4) * size + 2 * K + 12) * UNIT_ROUNDOFF
            moved = rounded = 0.0
            for j in range(K + 1):
                weight = others if j == K else 1.0
                change = eta_Y * rest / total if j == n else -eta_Y * logits[j] / total
                moved += weight * change * change
                now[n, j] += change
                rounded += weight * now[n, j] * now[n, j]
            off = (lipschitz * off + relative * np.sqrt(moved) + UNIT_ROUNDOFF * np.sqrt(rounded)) * (
                1 + (4 * K + 16) * UNIT_ROUNDOFF
            )
            step += 1
        A[record] = now
        error[record] = off


def descend(overlap: Overlap, sequences: NDArray[np.int64], at: Sequence[int], M: int, eta_Y: float) -> DescentOfY:
    """Y <- Y + eta_Y f_n (e_n - alpha_n)^T from zero, alpha_n = softmax(Y^T f_n) over M tokens (eq. 7).

    Y stays F A, and the columns of all tokens other than next tokens stay equal, so A has K + 1 columns. Through E,
    alpha_n depends on the order of the other classes' steps. The counts N_n determine the state only with the modified
    gradient of Lemma 3, for which w_n = (M-1) h*(N_n) zeta_n in any order: see `fluctuation`.

    The error bar. A step on class n is a step of gradient descent on a convex function of Y whose Hessian has
    eigenvalues from 0 to `LIPSCHITZ`: it multiplies distances of Y by at most 1 for eta_Y <= 4, else by eta_Y/2 - 1.
    Each step adds the rounding of alpha_n and of the sum, in the norm of Y; for one row this is the norm of the row, as
    ||f_n|| = 1.

    Parameters
    ----------
    overlap : Overlap
        E >= 0, as f_n >= 0.
    sequences : (seeds, steps) array
        Class of each step.
    at : sequence of int
        Recorded steps.
    M : int
        Tokens in the vocabulary; at least K and the number of rows of F.

    Raises
    ------
    ValueError
        M is too small, or a recorded step lies beyond the sequences.

    >>> from marginaudit.training.snap.limit.overlap import overlap
    >>> run = descend(overlap(np.eye(4)[:, :2]), np.array([[0, 0]]), at=[1, 2], M=4, eta_Y=0.5)
    >>> run.A[0, :, 0].round(12).tolist()
    [[0.375, -0.125, -0.125], [0.697669377804, -0.232556459268, -0.232556459268]]
    """
    require_setting(M, eta_Y)
    tokens = max(overlap.K, len(overlap.F))
    if tokens > M:
        raise ValueError(f"M: got {M}, expected at least {tokens}, the tokens of the features")
    steps = np.unique(np.asarray(at, dtype=np.int64))
    if len(steps) and not 0 <= steps[0] <= steps[-1] <= sequences.shape[1]:
        raise ValueError(f"at: got {list(at)}, expected steps from 0 to {sequences.shape[1]}")
    A = np.empty((len(sequences), len(steps), overlap.K, overlap.K + 1))
    error = np.empty(A.shape[:2])
    for seed, sequence in enumerate(sequences):
        with np.errstate(over="ignore"):  # an error bar may become inf
            take(sequence, steps, eta_Y, overlap.E, float(M - overlap.K), A[seed], error[seed])
    return DescentOfY(steps, A, A + overlap.E @ A, error)
