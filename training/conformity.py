"""Comparison of a recorded run with a paper's algorithm: record by record, and the first that departs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from marginaudit.orders.arrays import Floats

AGREES = 0.01
"""A record this close to the algorithm's, as a share of its step, is taken for it whatever rounding may explain."""

CLEAR = 10
"""Factor by which a departure exceeds its bar where a cause is named: nearer, many others would fit too."""

COARSER = {"half precision (bfloat16)": 8, "half precision (float16), or TF32": 11, "float32": 24}
"""Binary digits of the precisions in which a program may compute what it then adds to weights of more digits."""

SLIGHT = 1e-3
"""A relative change of the step size that is a slip of another kind."""

LIKE_NOISE, NOISES, FEWEST = 0.5, (0.5, 8.0), 4
"""Errors of lower precision: the mean cosine between those of different steps, at most; how often they are what
rounding each entry once makes, at least and at most; and the steps that show it, at least."""


def unlike(errors: Sequence[Floats]) -> bool:
    """Whether errors of several steps have different directions, as noise has."""
    flat = [error.ravel() for error in errors]
    n, sizes = len(flat), [float(np.linalg.norm(error)) for error in flat]
    if n < FEWEST or not all(0 < size < np.inf for size in sizes):
        return False
    total = sum(error / size for error, size in zip(flat, sizes, strict=True))
    return (float(np.linalg.norm(total)) ** 2 - n) / (n * (n - 1)) <= LIKE_NOISE


def scheduled(sizes: Sequence[float]) -> bool:
    """Whether step sizes change, and no more than rise and fall once, as a schedule's do."""
    if len(sizes) < FEWEST:
        return False
    change = max(sizes) - min(sizes)
    return change > SLIGHT * max(sizes) and float(np.abs(np.diff(sizes)).sum()) <= 2.5 * change


def rounded_once(errors: Sequence[Floats], changes: Sequence[Floats], digits: int) -> bool:
    """Whether errors are about as large as rounding each entry of the changes to so many digits makes them."""
    once = []
    for change in changes:
        fraction, exponent = np.frexp(change)
        once.append(float(np.linalg.norm(np.ldexp(np.rint(np.ldexp(fraction, digits)), exponent - digits) - change)))
    sizes = [float(np.linalg.norm(error)) for error in errors]
    least, most = NOISES
    return bool(least <= np.median(np.divide(sizes, once)) <= most)


@dataclass(frozen=True)
class Departure:
    """The first record that departs.

    Attributes
    ----------
    stage : int or str
        The stage, or which weights.
    step : int
    error, bar : float
        The distance from the algorithm's weights, in the Frobenius norm, and how much of it rounding explains; where it
        explains any direction, the same of the step's length.
    token : str
        Where it is largest.
    cause : str or None
        Under which these steps and the next ones conform.
    value : float or None
        The number in it.
    explained : str
        What explains the bar.
    """

    stage: int | str
    step: int
    error: float
    bar: float
    token: str
    cause: str | None
    value: float | None
    explained: str = "rounding"


@dataclass(frozen=True)
class Compared:
    """One stage, record by record up to the first that departs.

    Attributes
    ----------
    stage : int or str
    lr : float
    records : int
    decided : int
        Those at which rounding does not explain everything, or that agree with the algorithm to 1 %.
    departs_at : Departure or None
        The first.
    start : "zero" or "given"
        Whether the first record is zero at step 0, or a step from it.
    goes_on : bool
        Whether the next records are compared although the first one departs.
    later : Departure or None
        The first departure after it.
    note : str
        What the file's precision did to steps that are not decided; "" for nothing known.
    """

    stage: int | str
    lr: float
    records: int
    decided: int
    departs_at: Departure | None
    start: Literal["zero", "given"] = "zero"
    goes_on: bool = False
    later: Departure | None = None
    note: str = ""

    @property
    def premise_met(self) -> bool:
        """Whether every record is decided to be the algorithm's."""
        return self.departs_at is None and self.decided == self.records

    def rule(self, algorithm: str) -> str | None:
        """The rule of the steps after the first record: the algorithm's name, or a cause; None if unknown."""
        last = self.later if self.goes_on else self.departs_at
        if last is not None:
            return last.cause
        return algorithm if self.decided == self.records or self.decided > 1 else None
