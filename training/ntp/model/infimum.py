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


def log_infimum_ball(V: int, A: "flint.arb") -> "flint.arb":
    """log of it in ball arithmetic, however large A is; V is at least 2.

    >>> import flint
    >>> f"{float(log_infimum_ball(4, flint.arb(1e100))):.10g}"
    '-1e+100'
    """
    import flint

    return log_softplus(flint.arb(V - 1).log() - A)


def log_softplus(x: "flint.arb") -> "flint.arb":
    """log log(1 + exp(x)) in ball arithmetic, also where exp(x) leaves its range.

    log(1 + exp(x)) is x + log(1 + exp(-x)), and for exp(x) <= 1 it lies between exp(x - exp(x)) and exp(x).
    """
    import flint

    if x < -flint.ctx.prec:
        return x + flint.arb(0, x.exp().abs_upper())
    if x > 0:
        return (x + (-x).exp().log1p()).log()
    return x.exp().log1p().log()
