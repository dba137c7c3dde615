"""Zeros of exp(x) - (M-1) x, the ends of a row's slow growth (Lemma 8), and the ends of scan and snap."""

import numpy as np

from marginaudit.orders.arrays import Floats

STEPS_TO_ZERO = 60
"""Newton's steps, more than are needed for ln(M-1) from 1.09 on."""


def log_others(log_M: Floats) -> Floats:
    """ln(M-1)."""
    return np.asarray(log_M + np.log1p(-np.exp(-log_M)))


def smaller_zero(log_M: Floats) -> Floats:
    """Zero x_0 < 1, from ln M up to 700; M must be at least e + 1.

    Newton's method on the convex x - ln x - ln(M-1), from the side of monotone convergence.

    >>> f"{float(smaller_zero(np.log([1000.0]))[0]):.12g}"
    '0.0010020045112'
    """
    return _newton(np.exp(-log_others(log_M)), log_M)


def larger_zero(log_M: Floats) -> Floats:
    """Zero x_1 = (1+omega_1) ln M > 1, from any ln M; see `smaller_zero`.

    >>> f"{float(larger_zero(np.log([1000.0]))[0]):.12g}"
    '9.11688271695'
    """
    return _newton(2 * log_others(log_M) + 1, log_M)


def _newton(x: Floats, log_M: Floats) -> Floats:
    for _ in range(STEPS_TO_ZERO):
        x = x - (x - np.log(x) - log_others(log_M)) / (1 - 1 / x)
    return x


def omega_1(log_M: Floats) -> Floats:
    """omega_1, with the larger zero (1 + omega_1) ln M."""
    return np.asarray(larger_zero(log_M) / log_M - 1)


def omega_0(log_M: Floats) -> Floats:
    """omega_0, with the smaller zero M^(omega_0 - 1) (eq. 50)."""
    return np.asarray((smaller_zero(log_M) - np.log1p(-np.exp(-log_M))) / log_M)


def scan_end(K: int, M: int, eta_Y: float) -> float:
    """t_0' = K ln M/eta_Y (Theorem 4)."""
    return float(K * np.log(M) / eta_Y)


def snap_start(K: int, M: int, eta_Y: float) -> float:
    """t_0 = 2 (1+omega_1) K ln M/eta_Y (Theorem 4).

    Raises
    ------
    ValueError
        M is below 4, and exp(x) - (M-1) x has no zero.

    >>> f"{snap_start(K=2, M=5000, eta_Y=0.5):.6g}"
    '87.2507'
    """
    if M < 4:
        raise ValueError(f"M: got {M}, expected at least 4 tokens")
    return float(2 * K / eta_Y * larger_zero(np.log([float(M)]))[0])
