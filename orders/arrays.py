"""Array types and float64's rounding."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]

UNIT_ROUNDOFF = 2.0**-53


def read_only(array: Floats) -> Floats:
    """The same array, which can no longer be written to."""
    array.setflags(write=False)
    return array
