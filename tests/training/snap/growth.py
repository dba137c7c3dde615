"""h, h* and what they are compared with, in high precision: roots of equations and the recursion as printed."""

from collections.abc import Iterable, Sequence
from typing import Any

import mpmath

from marginaudit.training.approximation import Approximation

DIGITS = 60


def precise_logit(t: Any, M: Any, eta: Any) -> Any:
    """M h(t), the root of eq. 45, by Newton steps that are checked to have converged."""
    with mpmath.workdps(DIGITS):
        a = mpmath.mpf(M) * mpmath.mpf(eta) * mpmath.mpf(t)
        if a == 0:
            return a
        # eq. 45 minus 1, so that small roots keep their digits; convex, so that Newton steps from above stay above
        x = min(a / M, mpmath.log1p(a))
        for _ in range(100):
            change = (mpmath.expm1(x) + (M - 1) * x - a) / (mpmath.exp(x) + M - 1)
            x -= change
            if abs(change) <= abs(x) * mpmath.mpf(10) ** (10 - DIGITS):
                return x
        raise AssertionError("no root")


def precise_star(steps: int, M: Any, eta: Any) -> list[Any]:
    """M h*(s) for s = 0 to steps, eq. 33."""
    with mpmath.workdps(DIGITS):
        h, c = [mpmath.mpf(0)], mpmath.mpf(eta)
        for _ in range(steps):
            h.append(h[-1] + c / (M - 1 + mpmath.exp(M * h[-1])))
        return [M * x for x in h]


def zeros(M: int) -> tuple[Any, Any]:
    """x_0 < 1 < x_1 of e^x = (M-1) x."""
    return -mpmath.lambertw(-mpmath.mpf(1) / (M - 1), 0).real, -mpmath.lambertw(-mpmath.mpf(1) / (M - 1), -1).real


def lags(x: Sequence[Any], M: int, eta: float) -> list[Any]:
    """By Lemma 6, of x = M h*(s) for s = 0, 1, .."""
    return [(mpmath.expm1(value) + (M - 1) * value) / (M * mpmath.mpf(eta)) - s for s, value in enumerate(x)]


def within(approximation: Approximation, truths: Iterable[Any]) -> float:
    """The largest error over its bar; bars of 0 are right only where the error is."""
    with mpmath.workdps(DIGITS):
        worst = 0.0
        for value, error, truth in zip(approximation.value.flat, approximation.error.flat, truths, strict=True):
            off = abs(mpmath.mpf(float(value)) - truth)
            worst = max(worst, float(off / mpmath.mpf(float(error))) if error else (0.0 if off == 0 else float("inf")))
        return worst
