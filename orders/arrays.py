"""Array types and rounding bounds of float64."""

from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]
Number = TypeVar("Number", bound=np.generic)

UNIT_ROUNDOFF = 2.0**-53


def gamma(operations: int) -> float:
    """Relative error bound of a float64 sum of products in any order, with this many roundings per term."""
    return operations * UNIT_ROUNDOFF / (1 - operations * UNIT_ROUNDOFF)


def read_only(array: NDArray[Number]) -> NDArray[Number]:
    """The array, made read-only."""
    array.setflags(write=False)
    return array
