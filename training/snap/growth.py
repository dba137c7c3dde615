"""When rows have grown: the zero that separates slow from fast growth, and the ends of scan and snap."""

import numpy as np
import scipy  # its subpackages load when first used


def larger_zero(M: float) -> float:
    """(1+omega_1) ln M, the larger zero of exp(x) - (M-1) x (Lemma 8).

    Raises
    ------
    ValueError
        M is below 4: there is no zero.

    >>> f"{larger_zero(1000):.12g}"
    '9.11688271695'
    """
    if M < 4:
        raise ValueError(f"M: got {M}, expected at least 4 tokens")
    return float(-np.real(scipy.special.lambertw(-1 / (M - 1.0), k=-1)))


def scan_end(K: int, M: int, eta_Y: float) -> float:
    """t_0' = K ln M/eta_Y (Theorem 4)."""
    return float(K * np.log(M) / eta_Y)


def snap_start(K: int, M: int, eta_Y: float) -> float:
    """t_0 = 2 (1+omega_1) K ln M/eta_Y (Theorem 4); see `larger_zero`.

    >>> f"{snap_start(K=2, M=5000, eta_Y=0.5):.6g}"
    '87.2507'
    """
    return 2 * K / eta_Y * larger_zero(M)
