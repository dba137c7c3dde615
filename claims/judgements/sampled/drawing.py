"""Seeded samples, and verdicts from a confidence interval."""

from collections.abc import Callable
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from marginaudit.claims.series import real
from marginaudit.claims.values.reportable import unreportable
from marginaudit.claims.verdict import Verdict

Sampler: TypeAlias = Callable[[Any, np.random.Generator, int], NDArray[Any]]
"""From a run or an instance, a random generator and n, to n independent samples along the first axis."""

N = 10_000
"""Default number of samples."""

CONFIDENCE = 0.99
"""Default confidence."""


def require_sampling(n: int, confidence: float) -> None:
    """Refuse a number of samples or a confidence out of range.

    Raises
    ------
    ValueError
    """
    if type(n) is not int or n < 1:
        raise ValueError(f"got {n!r} samples, expected a whole number from 1")
    if not 0 < confidence < 1:
        raise ValueError(f"got the confidence {confidence!r}, expected a number between 0 and 1")


def drawn(sample: Sampler, given: Any, n: int, seed: int) -> NDArray[Any]:
    """The samples: shape (n,), or (n, steps) of whole trajectories.

    Raises
    ------
    ValueError
        The sampler returned another number of samples, or NaN.
    """
    found = np.asarray(sample(given, np.random.default_rng(seed), n))
    if found.ndim not in (1, 2) or len(found) != n:
        raise unreportable(found, "sample", f"an array of {n} samples, or of {n} rows, got shape {found.shape}")
    if found.dtype != bool:
        found = real(found)
        if np.isnan(found).any():
            raise ValueError("sample: got nan, expected numbers")
    return found


def verdict(low: float, high: float, bound: float, side: Literal["upper", "lower"]) -> Verdict:
    """Verdict on value <= bound, or >=, for a value in [low, high].

    >>> verdict(0.2, 0.4, 0.5, "upper").value, verdict(0.2, 0.4, 0.3, "upper").value
    ('holds', 'inconclusive')
    """
    if side == "lower":
        low, high, bound = -high, -low, -bound
    if high <= bound:
        return Verdict.HOLDS
    return Verdict.VIOLATED if low > bound else Verdict.INCONCLUSIVE
