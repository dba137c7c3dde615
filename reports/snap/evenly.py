"""A few of many entries, where looking at all would take too long."""

import numpy as np
from numpy.typing import NDArray


def evenly(count: int, most: int) -> NDArray[np.int64]:
    """So many positions among ``count``, evenly apart, the first and the last among them; all where they are no more.

    >>> evenly(11, 3).tolist(), evenly(2, 3).tolist(), evenly(0, 3).tolist()
    ([0, 5, 10], [0, 1], [])
    """
    return np.unique(np.rint(np.linspace(0, count - 1, min(count, most))).astype(np.int64))
