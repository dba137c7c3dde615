"""Convert the values returned by a claim's code to plain JSON."""

import math
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, TypeAlias

import numpy as np

FARTHEST_STEP = 10**100
"""Largest whole step in a report."""

Number: TypeAlias = float | None

Step: TypeAlias = int | float | None
"""A position on a clock, an integer if whole."""


class Unreportable(ValueError):  # noqa: N818  (describes the finding)
    """A claim's code returned a value that a report cannot hold; the message names it."""


def unreportable(value: object, name: str, expected: str) -> Unreportable:
    """The error for a value of an unexpected kind."""
    kind = "None" if value is None else f"a value of type {type(value).__name__}"
    return Unreportable(f"returned {kind}{f' as {name}' if name else ''}, expected {expected}")


def plain_number(name: str, value: object) -> Number:
    """Convert to a Python number, not NaN."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, Real):
        raise unreportable(value, name, "a number")
    try:
        number = float(value)
    except OverflowError:
        raise Unreportable(f"returned a number too large for float64 as {name}") from None
    if math.isnan(number):
        raise Unreportable(f"returned NaN as {name}")
    return number


def plain_step(name: str, value: object) -> Step:
    """Convert a position on a clock: an integer if whole."""
    if not isinstance(value, bool) and isinstance(value, Integral):
        if abs(int(value)) > FARTHEST_STEP:
            raise Unreportable(f"returned a whole number of more than {len(str(FARTHEST_STEP)) - 1} digits as {name}")
        return int(value)
    number = plain_number(name, value)
    if number is not None and math.isinf(number):
        raise Unreportable(f"returned an infinite position as {name}")
    whole = number is not None and number.is_integer() and abs(number) <= FARTHEST_STEP
    return int(number) if number is not None and whole else number


def plain_steps(name: str, steps: Any) -> list[Any]:
    """Convert the positions of a curve."""
    values = list(steps)
    whole = set(map(type, values)) == {int} and max(map(abs, values)) <= FARTHEST_STEP  # common, and curves are long
    return values if whole else [plain_step(name, value) for value in values]


def plain_column(name: str, column: Any) -> list[float]:
    """Convert the values of a curve, NaN if missing."""
    try:
        values = np.array(column, dtype=float)
    except (TypeError, ValueError, OverflowError) as error:
        raise Unreportable(f"returned {name} that is no column of numbers: {error}") from None
    if values.ndim != 1:
        raise unreportable(column, name, "a column of numbers")
    plain: list[float] = values.tolist()
    return plain


READERS: dict[Any, Callable[[str, object], Step]] = {Number: plain_number, Step: plain_step}
"""Converter to plain data by a field's type."""
