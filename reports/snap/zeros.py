"""The two zeros of exp(x) = (M-1) x, x = M h (Lemma 8), and vocabularies along which statements are swept."""

import numpy as np

from marginaudit.orders.arrays import Floats
from marginaudit.reports.snap.run import ClassRun

VOCABULARIES = np.unique([round(10 ** (decade / 2)) for decade in range(6, 32)]).astype(np.int64)
"""The M along which statements are swept, each a float64: 1000 to 3.16e15, two a decade."""

EDGE = 1e-6
"""Relative distance from a zero at which the two sides are told apart."""

STEPS_TO_ZERO = 60
"""Newton's steps, more than are needed for ln(M-1) from 1.09 on."""


def others(log_M: Floats) -> Floats:
    """ln(M-1)."""
    return np.asarray(log_M + np.log1p(-np.exp(-log_M)))


def smaller_zero(log_M: Floats) -> Floats:
    """The zero x_0 < 1 of exp(x) - (M-1) x, from ln M up to 700; there is none below M = e + 1.

    Newton's steps on the convex x - ln x - ln(M-1), from the side on which they stay.

    >>> f"{float(smaller_zero(np.log([1000.0]))[0]):.12g}"
    '0.0010020045112'
    """
    return _newton(np.exp(-others(log_M)), log_M)


def larger_zero(log_M: Floats) -> Floats:
    """The zero x_1 > 1, from any ln M: see `smaller_zero`.

    >>> f"{float(larger_zero(np.log([1000.0]))[0]):.12g}"
    '9.11688271695'
    """
    return _newton(2 * others(log_M) + 1, log_M)


def _newton(x: Floats, log_M: Floats) -> Floats:
    for _ in range(STEPS_TO_ZERO):
        x = x - (x - np.log(x) - others(log_M)) / (1 - 1 / x)
    return x


def omega_1(log_M: Floats) -> Floats:
    """The larger zero is (1 + omega_1) ln M."""
    return np.asarray(larger_zero(log_M) / log_M - 1)


def omega_0(log_M: Floats) -> Floats:
    """The smaller zero is M^(omega_0 - 1): eq. 50."""
    return np.asarray((smaller_zero(log_M) - np.log1p(-np.exp(-log_M))) / log_M)


HAS_ZEROS = "M >= 4"


def no_zeros(run: ClassRun) -> str | None:
    """Why exp(x) = (M-1) x has no zeros, or None: they need M - 1 >= e."""
    return None if run.M >= 4 else "M is below 4"
