"""Numbers with a bound on their error."""

from dataclasses import dataclass
from typing import Any, TypeAlias, Union

import numpy as np
from numpy.typing import NDArray

from marginaudit.orders.arrays import UNIT_ROUNDOFF, Floats

ABOVE = 1 + 16 * UNIT_ROUNDOFF
"""Factor that covers the rounding of a bound computed in a few operations."""

UNDERFLOW = 2e-323
"""Four times the least positive float64: exceeds the underflow in a product and in the terms of its error."""

Number: TypeAlias = Union["Approximation", Floats, float]


@dataclass(frozen=True, eq=False)
class Approximation:
    """An array with an error bound for each entry; plain numbers and arrays as operands are exact.

    Attributes
    ----------
    value, error : arrays of one shape

    >>> third = Approximation(np.array([1.0]), np.array([0.0])) / 3.0
    >>> f"{(third * third).error[0] / UNIT_ROUNDOFF:.6f}"
    '0.333333'
    """

    value: Floats
    error: Floats

    def __add__(self, other: Number) -> "Approximation":
        b = of(other)
        return with_rounding(self.value + b.value, self.error + b.error)

    def __sub__(self, other: Number) -> "Approximation":
        b = of(other)
        return with_rounding(self.value - b.value, self.error + b.error)

    def __neg__(self) -> "Approximation":
        return Approximation(-self.value, self.error)

    @np.errstate(over="ignore")  # values beyond float64 have an infinite bar
    def __mul__(self, other: Number) -> "Approximation":
        if not isinstance(other, Approximation):
            exact = np.asarray(other, dtype=np.float64)
            lost = UNDERFLOW * (self._not_zero & (exact != 0))
            return with_rounding(self.value * exact, _times(np.abs(exact), self.error) + lost)
        a, b = np.abs(self.value), np.abs(other.value)
        with np.errstate(invalid="ignore"):
            error = a * other.error + b * self.error + self.error * other.error
        if not np.isfinite(error).all():
            error = _times(a, other.error) + _times(b, self.error) + _times(self.error, other.error)
        return with_rounding(self.value * other.value, error + UNDERFLOW * (self._not_zero & other._not_zero))

    @np.errstate(over="ignore")
    def __truediv__(self, other: Number) -> "Approximation":
        """Quotient, with an infinite bar where the divisor may be 0."""
        if not isinstance(other, Approximation):
            exact = np.asarray(other, dtype=np.float64)
            if (size := np.abs(exact)).all() and not np.isnan(size).any():
                lost = UNDERFLOW * self._not_zero
                return with_rounding(self.value / exact, (self.error + lost) / size + lost)
        b = of(other)
        known, lost = np.abs(b.value) > b.error, UNDERFLOW * self._not_zero
        value = self.value / np.where(known | (b.value != 0), b.value, np.inf)
        off = self.error + _times(np.abs(value) + lost, b.error) + lost
        return with_rounding(
            value, np.where(known, off / np.where(known, np.abs(b.value) - b.error, 1.0) + lost, np.inf)
        )

    def __getitem__(self, index: Any) -> "Approximation":
        return Approximation(self.value[index], self.error[index])

    @property
    def _not_zero(self) -> NDArray[np.bool_]:
        """Mask of the values not known to be 0."""
        return np.asarray((self.value != 0) | (self.error > 0))

    def sum(self) -> "Approximation":
        """The sum over the last axis."""
        terms = self.value.shape[-1]
        above = 1 + 2 * (terms + 8) * UNIT_ROUNDOFF
        rounding = terms * UNIT_ROUNDOFF * np.abs(self.value).sum(axis=-1)
        return Approximation(self.value.sum(axis=-1), (self.error.sum(axis=-1) + rounding) * above)


def of(number: Number) -> Approximation:
    """Convert to an `Approximation`; plain numbers are exact."""
    if isinstance(number, Approximation):
        return number
    value = np.asarray(number, dtype=np.float64)
    return Approximation(value, np.zeros_like(value))


def stacked(rows: list[Approximation]) -> Approximation:
    """Stack approximations of one shape."""
    return Approximation(np.array([row.value for row in rows]), np.array([row.error for row in rows]))


def _times(size: Floats, bar: Floats) -> Floats:
    """Product with 0 * inf = 0: an infinite bar stands for a number of unknown size."""
    with np.errstate(invalid="ignore"):
        product = np.asarray(size * bar)
    if np.isfinite(product).all():
        return product
    either = (size == 0) | (bar == 0)
    return np.asarray(np.where(either, 0.0, size) * np.where(either, 0.0, bar))


def with_rounding(value: Floats, error: Floats) -> Approximation:
    """A value known to within an error before its last rounding."""
    return Approximation(value, np.asarray((error + UNIT_ROUNDOFF * np.abs(value)) * ABOVE))
