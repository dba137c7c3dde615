"""Relative gains of a class's distinct tokens: ratios of probabilities and powers of z that float64 has."""

import numpy as np

from marginaudit.reports.claim import BeyondTheRun
from marginaudit.reports.snap.run import ClassRun
from marginaudit.training.snap.limit import Approximation

MOST_PAIRS = 60
"""Pairs of distinct tokens that are compared, at most, evenly through them."""

LARGEST_Z, LARGEST_RATIO = 100.0, 1e50
"""Up to here exp(2 z) of two tokens is a float64, times the square of the ratio of their probabilities."""


def squared_ratio(run: ClassRun, n: int, l: str, other: str) -> float:  # noqa: E741
    """(P(l|n)/P(l'|n))^2.

    Raises
    ------
    BeyondTheRun
        The ratio is beyond `LARGEST_RATIO`.
    """
    P = run.dataset.classes[n].probabilities
    if P[l] > LARGEST_RATIO * P[other]:
        raise BeyondTheRun(f"P({l}|n)/P({other}|n) is beyond {LARGEST_RATIO:g}, whose square float64 has no room for")
    return float((P[l] / P[other]) ** 2)


def require_powers(z: Approximation) -> None:
    """Refuse a z of whose powers float64 has no products.

    Raises
    ------
    BeyondTheRun
    """
    if not np.abs(z.value).max(initial=0.0) + z.error.max(initial=0.0) < LARGEST_Z:
        raise BeyondTheRun(f"z leaves the numbers up to {LARGEST_Z:g}, of whose powers float64 has products")
