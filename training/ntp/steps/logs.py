"""Logarithms of sums and differences, where the numbers themselves would underflow."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Indices: TypeAlias = NDArray[np.int64]

NO_SECOND_TERM = 37.0
"""exp(-37) is below half the spacing of float64 at 1."""


def log_sum_exp(a: Floats, axis: int) -> Floats:
    """log sum exp along an axis; -inf entries count nothing, and all -inf gives -inf."""
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
