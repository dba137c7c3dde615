"""Recorded steps."""

from collections.abc import Iterable
from operator import index

import numpy as np

PER_DECADE = 20

NEIGHBOURS = 9 / 8
"""Largest ratio of neighbours among `PER_DECADE` steps a decade; between steps farther apart anything may happen."""


def log_spaced(steps: int) -> tuple[int, ...]:
    """0, every small step, about 20 a decade, and the last.

    >>> log_spaced(12)
    (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12)
    >>> log_spaced(0)
    (0,)

    Raises
    ------
    ValueError
        A negative number of steps.
    """
    if steps < 0:
        raise ValueError(f"steps: got {steps}, expected at least 0")
    count = int(np.ceil(PER_DECADE * np.log10(max(steps, 1)))) + 1
    spaced = np.rint(np.geomspace(1, max(steps, 1), count)).astype(np.int64).tolist()
    return tuple(sorted({0, steps, *(t for t in spaced if t <= steps)}))


def recorded_steps(at: Iterable[int] | None, steps1: int, steps2: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Recorded steps of both stages: those of ``at`` up to each stage's length, or log-spaced ones.

    >>> recorded_steps([5, 1, 1], steps1=3, steps2=9)
    ((1,), (1, 5))

    Raises
    ------
    ValueError
        A step is negative or beyond both stages.
    """
    if at is None:
        return log_spaced(steps1), log_spaced(steps2)
    asked = sorted({index(t) for t in at})
    for t in asked:
        if not 0 <= t <= max(steps1, steps2):
            raise ValueError(f"at: got step {t}, expected steps from 0 to {max(steps1, steps2)}")
    return tuple(t for t in asked if t <= steps1), tuple(t for t in asked if t <= steps2)
