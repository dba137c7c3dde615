"""SGD of Lemma 3 on whole matrices in ball arithmetic."""

from collections.abc import Iterable, Iterator, Sequence
from math import ceil

import flint

from marginaudit.orders.arrays import Floats

BITS = 160
"""Precision, but for what SGD loses: `bits`."""


def features(P: Floats) -> flint.arb_mat:
    """F = [f_1 .. f_K] at Z = 0, f_n = c_n/|c_n|, with one row per token that occurs.

    ``P`` has the probabilities of the tokens, one row per class.
    """
    columns = []
    for row in P[:, (P > 0).any(axis=0)].tolist():
        entries = [flint.arb(p) for p in row]
        length = sum((entry * entry for entry in entries), flint.arb(0)).sqrt()
        columns.append([entry / length for entry in entries])
    return flint.arb_mat(columns).transpose()


def identity(size: int) -> flint.arb_mat:
    """Identity matrix."""
    return flint.arb_mat(size, size, [int(i == j) for i in range(size) for j in range(size)])


def softmax(logits: Sequence[flint.arb]) -> list[flint.arb]:
    """Softmax of a vector of balls."""
    powers = [x.exp() for x in logits]
    total = sum(powers, flint.arb(0))
    return [power / total for power in powers]


def dual(F: flint.arb_mat) -> flint.arb_mat:
    """F (I - E'), with I - E' = (I + E)^{-1} (Lemma 14) and F^T F = I + E."""
    inverse: flint.arb_mat = (F.transpose() * F).inv()
    return F * inverse


def bits(eta_Y: float) -> int:
    """Precision in bits for SGD: the first step leaves 1 - alpha_nn near exp(-eta_Y)."""
    return BITS + 8 * ceil(eta_Y)


def sgd(
    F: flint.arb_mat, sequence: Iterable[int], M: int, eta_Y: float
) -> Iterator[tuple[list[flint.arb], flint.arb_mat]]:
    """Yield, for each step from Y = 0, alpha of its class before the step and Y after it."""
    step, Y = dual(F) * flint.arb(eta_Y), flint.arb_mat(F.nrows(), M)
    for n in sequence:
        alpha = softmax((Y.transpose() * column(F, n)).entries())
        Y += column(step, n) * flint.arb_mat(1, M, [int(j == n) - share for j, share in enumerate(alpha)])
        yield alpha, Y


def column(matrix: flint.arb_mat, n: int) -> flint.arb_mat:
    """One column of a matrix."""
    return flint.arb_mat(matrix.nrows(), 1, [matrix[i, n] for i in range(matrix.nrows())])
