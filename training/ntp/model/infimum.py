"""The infimum of a sample's loss where all margins of W_ov are A: log(1 + (V-1) exp(-A)), of V labels."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from marginaudit.training.ntp.model.edges import Floats

if TYPE_CHECKING:
    import flint


def infimum(V: int, A: ArrayLike) -> Floats:
    """In float64, shape of A.

    >>> float(infimum(1, 3.0)), float(round(infimum(4, 0.0) / np.log(4), 12))
    (0.0, 1.0)
    """
    return np.asarray(np.log1p((V - 1) * np.exp(-np.asarray(A, dtype=np.float64))))


def infimum_ball(V: int, A: "flint.arb") -> "flint.arb":
    """In ball arithmetic."""
    return ((V - 1) * (-A).exp()).log1p()
