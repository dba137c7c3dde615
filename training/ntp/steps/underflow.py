"""Norms and logarithms of sums, free of underflow; thresholds of the forms of a step on the reduced model."""

import math

import numpy as np

from marginaudit.training.ntp.model.edges import Floats, Indices

TINY = float(np.finfo(np.float64).tiny)
"""Smallest normal float64."""

SQUARES_ARE_NORMAL = 1e-140
"""Norm from which the squares of relevant entries keep all digits; up to its inverse none overflows."""


def norm(array: Floats) -> float:
    """The Frobenius norm, also where the squares of the entries underflow or overflow.

    >>> norm(np.array([3e-200, -4e-200])), norm(np.array([0.0, -4e200]))
    (5e-200, 4e+200)
    """
    flat = array.ravel(order="K")
    found = math.sqrt(np.vdot(flat, flat))  # `vdot` overflows without a warning
    if 1e10 * SQUARES_ARE_NORMAL <= found <= 1 / SQUARES_ARE_NORMAL:  # so is the largest of fewer than 1e20 entries
        return found
    largest = float(np.abs(array).max(initial=0.0))
    if SQUARES_ARE_NORMAL <= largest <= 1 / SQUARES_ARE_NORMAL or largest == 0 or np.isinf(largest):
        return float(np.linalg.norm(array))
    return largest * float(np.linalg.norm(array / largest))


def longest(embeddings: Floats) -> float:
    """The largest norm of a row, also where the squares of its entries underflow.

    >>> longest(np.array([[3e-200, -4e-200], [0.0, 1e-200]]))
    5e-200
    """
    largest = float(np.abs(embeddings).max(initial=0.0))
    scale = 1.0 if largest >= SQUARES_ARE_NORMAL or largest == 0 else largest
    return scale * float(np.linalg.norm(embeddings / scale, axis=1).max(initial=0.0))


ONE_HOT = 2.0**-56
"""Attention on other tokens below which, times A too, no gradient changes in float64."""

LEAST_MARGIN = -3.0
"""Largest lead of a token over the optimal one; beyond it h_j cancels, and `CommonMargin` takes over."""

FAR_BEHIND = 2.0**-40
"""Share of the largest attention below which relative rounding errors may be inversely larger."""

LOST = 1e-3
"""Largest relative rounding of attention, times A, for a known next step."""

NO_SECOND_TERM = 37.0
"""exp(-37) is below half the spacing of float64 at 1."""


def log_sum_exp(a: Floats, axis: int) -> Floats:
    """log sum exp along an axis; -inf if all entries are -inf."""
    top = a.max(axis=axis, keepdims=True, initial=-np.inf)
    top = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        return np.asarray(np.squeeze(top, axis) + np.log(np.exp(a - top).sum(axis=axis)))


def segment_log_sum_exp(a: Floats, first: Indices, owner: Indices) -> Floats:
    """log sum exp over consecutive, non-empty segments; ``first`` is where each begins, ``owner`` its number.

    The last axis is summed over.
    """
    if len(first) == a.shape[-1]:
        return a
    top = np.maximum.reduceat(a, first, axis=-1)
    top = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        return np.asarray(top + np.log(np.add.reduceat(np.exp(a - top[..., owner]), first, axis=-1)))


def log_softplus(x: Floats) -> Floats:
    """log log(1 + e^x), the logarithm of a cross-entropy whose odds against the label are e^x.

    >>> log_softplus(np.array([-1000.0, 1000.0])).tolist()
    [-1000.0, 6.907755278982137]
    """
    small = x < -NO_SECOND_TERM
    return np.asarray(np.where(small, x, np.log(np.logaddexp(0.0, np.where(small, 0.0, x)))))


def log_expm1(log_z: Floats) -> Floats:
    """log(e^z - 1) from log z, for z > 0 of any size.

    >>> log_expm1(np.array([-1000.0, 10.0])).tolist()
    [-1000.0, 22026.465794806718]
    """
    z = np.exp(log_z)
    middle = (z > 1e-8) & (z < NO_SECOND_TERM)
    ends = np.where(z < 1, log_z + z / 2, z)
    return np.asarray(np.where(middle, np.log(np.expm1(np.where(middle, z, 1.0))), ends))
