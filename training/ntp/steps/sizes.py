"""How large arrays are, as far down as float64 goes."""

import numpy as np
from numpy.typing import NDArray

TINY = float(np.finfo(np.float64).tiny)
"""What is less has fewer digits, or is 0."""

SQUARES_ARE_NORMAL = 1e-140
"""Squares of entries that count beside one of this size have all their digits; up to its inverse none overflows."""


def norm(array: NDArray[np.float64]) -> float:
    """The Frobenius norm, also where the squares of the entries underflow or overflow.

    >>> norm(np.array([3e-200, -4e-200])), norm(np.array([0.0, -4e200]))
    (5e-200, 4e+200)
    """
    largest = float(np.abs(array).max(initial=0.0))
    if SQUARES_ARE_NORMAL <= largest <= 1 / SQUARES_ARE_NORMAL or largest == 0 or np.isinf(largest):
        return float(np.linalg.norm(array))
    return largest * float(np.linalg.norm(array / largest))


def longest(embeddings: NDArray[np.float64]) -> float:
    """The largest norm of a row, also where the squares of its entries underflow.

    >>> longest(np.array([[3e-200, -4e-200], [0.0, 1e-200]]))
    5e-200
    """
    largest = float(np.abs(embeddings).max(initial=0.0))
    scale = 1.0 if largest >= SQUARES_ARE_NORMAL or largest == 0 else largest
    return scale * float(np.linalg.norm(embeddings / scale, axis=1).max(initial=0.0))
