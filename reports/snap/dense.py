"""SGD with the modified gradient of Lemma 3 on whole matrices of balls."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import ceil

import flint

from marginaudit.reports.series import Series
from marginaudit.reports.snap.ball_arithmetic import BITS, dual, softmax
from marginaudit.reports.snap.run import ClassRun

DENSE_STEPS = 24
"""SGD steps on whole matrices."""

DENSE_CLASSES = 3

DENSE_TOKENS = 9
"""Of the vocabulary, at most, in whole matrices."""


@dataclass(frozen=True)
class Dense:
    """Entries of SGD on whole matrices, and of formulas for them; a column for each of M' tokens."""

    found: Series
    stated: Series


def bits(run: ClassRun) -> int:
    """Precision for SGD: the first step leaves 1 - alpha_nn at about exp(-eta_Y)."""
    return BITS + 8 * ceil(run.eta_Y)


def sgd(
    F: flint.arb_mat, sequence: Iterable[int], M: int, eta_Y: float
) -> Iterator[tuple[list[flint.arb], flint.arb_mat]]:
    """Of each step from Y = 0: its class's alpha before the step, and Y after it."""
    step, Y = dual(F) * flint.arb(eta_Y), flint.arb_mat(F.nrows(), M)
    for n in sequence:
        alpha = softmax((Y.transpose() * column(F, n)).entries())
        Y += column(step, n) * flint.arb_mat(1, M, [int(j == n) - share for j, share in enumerate(alpha)])
        yield alpha, Y


def column(matrix: flint.arb_mat, n: int) -> flint.arb_mat:
    """One column of a matrix."""
    return flint.arb_mat(matrix.nrows(), 1, [matrix[i, n] for i in range(matrix.nrows())])
