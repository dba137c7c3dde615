"""Array types and float64's rounding."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]

UNIT_ROUNDOFF = 2.0**-53


def gamma(operations: int) -> float:
    """Relative error bound of a sum of products in float64, in any order, with this many roundings a term."""
    return operations * UNIT_ROUNDOFF / (1 - operations * UNIT_ROUNDOFF)


def read_only(array: Floats) -> Floats:
    """The same array, which can no longer be written to."""
    array.setflags(write=False)
    return array
