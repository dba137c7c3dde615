"""A tensor of a weight file."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from marginaudit.orders.arrays import Floats


@dataclass(frozen=True, eq=False)
class Tensor:
    """A tensor of a file.

    Attributes
    ----------
    shape : tuple of int
    dtype : str
        Name of NumPy's type, or "bfloat16".
    stored : callable
        Returns the array in this type; of bfloat16 the bits as uint16.
    """

    shape: tuple[int, ...]
    dtype: str
    stored: Callable[[], NDArray[Any]]

    def __setstate__(self, state: object) -> NoReturn:
        """Refuse a state, which a checkpoint's pickle might set."""
        raise TypeError("a tensor has no state")

    def __str__(self) -> str:
        return "x".join(map(str, self.shape)) or "a number"


def decoded(stored: NDArray[Any], dtype: str) -> Floats:
    """Values of a tensor, or of a part of it, in float64, which represents all types exactly."""
    if dtype == "bfloat16":
        return (stored.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    return stored.astype(np.float64)
