"""SGD on Y = F A in ball arithmetic: softmax and products of matrices, without formulas for h*, zeta or overlaps.

F enters only through I + E, a float64 array; `matrices` uses F itself.

The columns of Y and W = F^T Y of all tokens other than next tokens are equal, so each matrix has K + 1 columns: column
j < K belongs to next token j, the last one to the other M - K tokens.
"""

import math

import flint
import numpy as np
from flint import arb, arb_mat
from numpy.typing import NDArray

from marginaudit.orders.balls import ball_around
from marginaudit.training.approximation import Approximation
from marginaudit.training.snap.limit.overlap import Overlap

BITS = 128


def inverse_gram(overlap: Overlap) -> arb_mat:
    """(I+E)^{-1}, shape (classes, classes): in row n, coefficients of the pseudo-inverse of F^T in f_1 .. f_K."""
    return arb_mat([row.tolist()[0] for row in gram_rows(overlap)]).inv()


def gram_rows(overlap: Overlap) -> list[arb_mat]:
    """Rows of I + E: each f_n^T (f_1 .. f_K)."""
    K = overlap.K
    return [arb_mat([[ball_around(1.0 if n == k else overlap.E[n, k]) for k in range(K)]]) for n in range(K)]


def rows_of(growth: list[arb], M: int) -> arb_mat:
    """Rows h_n (M e_n - 1) of W, shape (classes, classes + 1)."""
    K = len(growth)
    return arb_mat([[growth[n] * ((M - 1) if j == n else -1) for j in range(K + 1)] for n in range(K)])


def errors(row: list[arb], n: int, M: int) -> list[arb]:
    """e_n - alpha_n in K + 1 columns, alpha_n the softmax of a row over M tokens; 1 - alpha_nn as the others' sum."""
    K = len(row) - 1
    powers = [(x - row[n]).exp() for x in row]
    powers[K] *= M - K
    total = sum(powers[1:], powers[0])
    rest = sum((powers[j] for j in range(K + 1) if j != n), arb(0))
    found = [rest / total if j == n else -powers[j] / total for j in range(K + 1)]
    if M > K:
        found[K] /= M - K
    return found


def gradients(overlap: Overlap, h: Approximation, M: int) -> arb_mat:
    """Coefficients of Y (e_n - alpha_n) in f_1 .. f_K, one column per class n, from the h of SGD's rows.

    Y = F (I+E)^{-1} W, as F^T Y = W and the columns of Y lie in the span of F.
    """
    K = overlap.K
    W = rows_of(enclosures(h), M)
    sums = [[x * (M - K if j == K else 1) for j, x in enumerate(errors(W.tolist()[n], n, M))] for n in range(K)]
    return inverse_gram(overlap) * (W * arb_mat(sums).transpose())


def bits_a_step(overlap: Overlap, eta_Y: float) -> float:
    """Most bits lost in a step of `descended`: I+E widens the logits, eta_Y (I+E)^{-1} the change."""
    one = np.eye(overlap.K)
    condition = np.linalg.norm(one + overlap.E, np.inf) * np.linalg.norm(one - overlap.E_prime.value, np.inf)
    return math.log2(2 + 4 * eta_Y * float(condition))


def descended(overlap: Overlap, sequence: NDArray[np.int64], M: int, eta_Y: float) -> arb_mat:
    """A with Y = F A after the steps Y <- Y + eta_Y (f_n - F E' e_n)(e_n - alpha_n)^T from zero (eq. 26).

    Shape (classes, classes + 1).
    """
    K = overlap.K
    bits = BITS + math.ceil(len(sequence) * bits_a_step(overlap, eta_Y))
    with flint.ctx.workprec(bits):
        inverse = inverse_gram(overlap)
        rows = gram_rows(overlap)
        moved = [arb_mat([[ball_around(eta_Y) * inverse[k, n]] for k in range(K)]) for n in range(K)]
        A = arb_mat(K, K + 1)
        for n in sequence.tolist():
            [logits] = (rows[n] * A).tolist()
            A += moved[n] * arb_mat([errors(logits, n, M)])
        return A


def residual_rows(overlap: Overlap, A: arb_mat, M: int) -> arb_mat:
    """e_n - alpha_n at Y = F A, one row per class; see `errors`."""
    return arb_mat([errors((f * A).tolist()[0], n, M) for n, f in enumerate(gram_rows(overlap))])


def enclosures(approximation: Approximation) -> list[arb]:
    """Balls enclosing a vector or a number."""
    return [
        ball_around(v, e) for v, e in zip(np.ravel(approximation.value), np.ravel(approximation.error), strict=True)
    ]
