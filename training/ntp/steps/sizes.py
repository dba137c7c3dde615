"""Norms of arrays as far down as float64 goes, and how far the forms of a step on the reduced model reach."""

import numpy as np
from numpy.typing import NDArray

TINY = float(np.finfo(np.float64).tiny)
"""Smaller numbers have fewer digits, or are 0."""

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


ONE_HOT = 2.0**-56
"""Attention on other tokens below this, also A times it, changes no gradient in float64."""

LEAST_MARGIN = -3.0
"""Where a token leads the optimal one by more, h_j cancels, and `CommonMargin` takes over."""

FAR_BEHIND = 2.0**-40
"""Attention below this part of the largest may have a relative rounding error as many times larger."""

LOST = 1e-3
"""Where the rounding of attention, times A, may be off by more of each term, nothing is known of the next step."""
