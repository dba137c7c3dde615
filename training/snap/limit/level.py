"""Growth level of one row of W, and its softmax."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from marginaudit.orders.arrays import UNIT_ROUNDOFF, Floats
from marginaudit.training.approximation import Approximation, with_rounding

LARGEST_RATE = 500.0
"""Largest eta_Y: the first step leads to M h* = eta_Y, and float64 has to hold M exp(eta_Y)."""

LARGEST_GOAL = float(np.finfo(np.float64).max) / 8
"""exp(M h) + (M-1) M h at most: Newton's step makes sums and rounds powers of about that size."""


@dataclass(frozen=True)
class Level:
    """Row w_n = (M-1) h zeta_n of W (Lemma 5), for h(t) or h*(s) at many times.

    Attributes
    ----------
    M : int
        Tokens in the vocabulary.
    logit : Approximation, shape (times,)
        M h, the margin of the next token's logit over every other token's.
    share : Approximation, shape (times,)
        1/(M - 1 + exp(M h)), the softmax share alpha_nj of every other token j (eq. 32). The rate h' is eta_Y times the
        share (eq. 44), and e_n - alpha_n is (M - 1) zeta_n times the share.
    """

    M: int
    logit: Approximation
    share: Approximation

    @classmethod
    def of_sum(cls, M: int, high: Floats, low: Floats, error: Floats) -> "Level":
        """Level at M h = high + low, known up to ``error``; ``low`` is small.

        exp(M h) is computed as exp(high) exp(low), so its relative error is ``error`` and a few roundings for any size
        of M h: 2 units for each exp, one for the product. In the share, this error is weighted by the part of exp(M h)
        in M - 1 + exp(M h); the sum and the quotient add one rounding each. The excess over these sums covers their
        products and the rounding of the bounds.
        """
        logit = high + low
        power = np.exp(high) * np.exp(low)
        total = M - 1 + power
        share = 1 / total
        return cls(
            M,
            with_rounding(logit, error),
            Approximation(share, share * (power / total * (np.expm1(error) + 6 * UNIT_ROUNDOFF) + 3 * UNIT_ROUNDOFF)),
        )

    @property
    def h(self) -> Approximation:
        """h, shape (times,)."""
        return self.logit / float(self.M)


def require_setting(M: int, eta_Y: float) -> None:
    """Validate M and eta_Y.

    Raises
    ------
    ValueError
        M is below 2, or eta_Y is not a positive number up to `LARGEST_RATE`.
    """
    if M < 2:
        raise ValueError(f"M: got {M}, expected at least 2 tokens")
    if not 0 < eta_Y <= LARGEST_RATE:
        raise ValueError(f"eta_Y: got {eta_Y}, expected a positive number up to {LARGEST_RATE:g}")


def require_times(t: ArrayLike, M: int, eta_Y: float) -> Floats:
    """Validate times and convert them to float64.

    Raises
    ------
    ValueError
        A time is negative or NaN, or M eta_Y t is beyond `LARGEST_GOAL`.
    """
    require_setting(M, eta_Y)
    times = np.asarray(t, dtype=np.float64)
    if not (times >= 0).all():
        raise ValueError(f"t: got {times[~(times >= 0)].flat[0]}, expected times from 0 on")
    if times.size and not M * eta_Y * float(times.max()) <= LARGEST_GOAL:
        raise ValueError(
            f"t: got {times.max()}, expected M eta_Y t up to {LARGEST_GOAL:.3g}, below the largest float64"
        )
    return times
