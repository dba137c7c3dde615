"""Departures of a recorded run from a paper's algorithm, and tests for patterns in them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Literal

import numpy as np

from marginaudit.orders.arrays import Floats

AGREES = 0.01
"""Distance, as a share of the step, up to which a record agrees with the algorithm whatever its error bar."""

CLEAR = 10
"""Least ratio of a departure to its bar for naming a cause; below it, several would fit."""

BFLOAT16, FLOAT16, FLOAT32 = 8, 11, 24
"""Binary digits of the precisions in which a program may compute what it then adds to weights of more digits."""

COARSER = {
    (BFLOAT16,): "half precision (bfloat16)",
    (FLOAT16,): "half precision (float16), or TF32",
    (BFLOAT16, FLOAT16): "half precision (bfloat16, float16 or TF32)",
    (FLOAT32,): "float32",
}
"""Names of the precisions that explain the same errors."""

SLIGHT = 1e-3
"""Relative change of the step size up to which it counts as constant."""

LIKE_NOISE, NOISES, FEWEST = 0.5, (0.5, 8.0), 4
"""Thresholds for errors of lower precision: largest mean cosine between steps; range of their size in units of one
rounding per entry, from a cast gradient to one computed in this precision; least number of steps."""


def unlike(errors: Sequence[Floats]) -> bool:
    """Whether the errors of several steps point in different directions, like noise."""
    flat = [error.ravel() for error in errors]
    n, sizes = len(flat), [float(np.linalg.norm(error)) for error in flat]
    if n < FEWEST or not all(0 < size < np.inf for size in sizes):
        return False
    total = sum(error / size for error, size in zip(flat, sizes, strict=True))
    return (float(np.linalg.norm(total)) ** 2 - n) / (n * (n - 1)) <= LIKE_NOISE


def scheduled(sizes: Sequence[float]) -> bool:
    """Whether step sizes vary like those of a schedule, with at most one rise and one fall."""
    if len(sizes) < FEWEST:
        return False
    change = max(sizes) - min(sizes)
    return change > SLIGHT * max(sizes) and float(np.abs(np.diff(sizes)).sum()) <= 2.5 * change


def lower_precision(
    errors: Sequence[Floats],
    changes: Sequence[Floats],
    steps: Sequence[int],
    u: float,
    explains: Callable[[float], bool],
) -> tuple[str, float | None] | None:
    """Precision whose rounding explains the errors, with its unit roundoff; without it if several precisions do.

    Parameters
    ----------
    errors, changes : arrays
        Of the weights between two records each.
    steps : ints
        Number of steps between the two records.
    u : float
        The file's unit roundoff.
    explains : callable
        Whether rounding by a unit roundoff explains all errors.
    """
    if not unlike(errors):
        return None
    digits = [each for each in (BFLOAT16, FLOAT16, FLOAT32) if u < 2.0**-each]
    found = [each for each in digits if _like_rounding(errors, changes, steps, each) and explains(2.0**-each)]
    words = COARSER.get(tuple(found))
    return None if words is None else (words, 2.0 ** -found[0] if len(found) == 1 else None)


def _like_rounding(errors: Sequence[Floats], changes: Sequence[Floats], steps: Sequence[int], digits: int) -> bool:
    """Whether errors have the size of rounding to ``digits`` digits, accumulated over steps like noise."""
    once = []
    for change, taken in zip(changes, steps, strict=True):
        fraction, exponent = np.frexp(change)
        rounded = np.ldexp(np.rint(np.ldexp(fraction, digits)), exponent - digits)
        once.append(float(np.linalg.norm(rounded - change)) / sqrt(taken))
    sizes = [float(np.linalg.norm(error)) for error in errors]
    least, most = NOISES
    return bool(least <= np.median(np.divide(sizes, once)) <= most)


@dataclass(frozen=True)
class Departure:
    """The first record that departs.

    Attributes
    ----------
    stage : int or str
        Number of the stage, or name of the weights.
    error, bar : float
        Distance from the algorithm's weights in the Frobenius norm, and its error bar; if the bar covers every
        direction, both are of the step's length.
    token : str
        Token of the largest deviation.
    cause : str or None
        Update rule that explains this step and the next ones.
    value : float or None
        Number in the cause.
    explained : str
        Source of the error bar.
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
class StageComparison:
    """Comparison of one stage with the algorithm, up to the first departure.

    Attributes
    ----------
    decided : int
        Number of records with a bar below the step's length, or that agree with the algorithm to 1 %.
    departs_at : Departure or None
        The first departure.
    start : "zero" or "given"
        "zero" if the first record is zero at step 0 or follows from it, else "given".
    goes_on : bool
        Whether the comparison goes on after the first record departs.
    later : Departure or None
        The first departure among the next records.
    note : str
        Effect of the file's precision on undecided steps; "" if unknown.
    declared : str
        What the file declares of its training, if the comparison goes on with that; else "".
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
    declared: str = ""

    @property
    def premise_met(self) -> bool:
        """Whether every record is decided and agrees with the algorithm."""
        return self.departs_at is None and self.decided == self.records

    def rule(self, algorithm: str) -> str | None:
        """Rule of the steps after the first record: the algorithm's name, or a cause; None if unknown."""
        last = self.later if self.goes_on else self.departs_at
        if last is not None:
            found = last.cause
        else:
            found = algorithm if self.decided == self.records or self.decided > 1 else None
        return f"{found}; {self.declared}" if found and self.declared else found
