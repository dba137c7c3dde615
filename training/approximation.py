"""Numbers with a bound on their error."""

from dataclasses import dataclass
from typing import Any, TypeAlias, Union

import numpy as np
from numpy.typing import NDArray

from marginaudit.orders.arrays import UNIT_ROUNDOFF, Floats

ABOVE = 1 + 16 * UNIT_ROUNDOFF
"""Factor that covers the rounding of a bound computed in a few operations."""

UNDERFLOW = 2e-323
"""Four times the least positive float64: more than what underflow takes from a product and from its error's terms."""

Number: TypeAlias = Union["Approximation", Floats, float]


@dataclass(frozen=True, eq=False)
class Approximation:
    """An array and a bound on the distance of each value from the true one; other operands are exact.

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
        return _rounded(self.value + b.value, self.error + b.error)

    def __sub__(self, other: Number) -> "Approximation":
        b = of(other)
        return _rounded(self.value - b.value, self.error + b.error)

    def __neg__(self) -> "Approximation":
        return Approximation(-self.value, self.error)

    def __mul__(self, other: Number) -> "Approximation":
        b = of(other)
        error = np.abs(self.value) * b.error + np.abs(b.value) * self.error + self.error * b.error
        return _rounded(self.value * b.value, error + UNDERFLOW * (self._not_zero & b._not_zero))

    def __truediv__(self, other: Number) -> "Approximation":
        b = of(other)
        value, lost = self.value / b.value, UNDERFLOW * self._not_zero
        return _rounded(value, (self.error + np.abs(value) * b.error + lost) / (np.abs(b.value) - b.error) + lost)

    def __getitem__(self, index: Any) -> "Approximation":
        return Approximation(self.value[index], self.error[index])

    @property
    def _not_zero(self) -> NDArray[np.bool_]:
        """Where it is not known to be 0."""
        return np.asarray((self.value != 0) | (self.error > 0))

    def sum(self) -> "Approximation":
        """The sum over the last axis."""
        terms = self.value.shape[-1]
        above = 1 + 2 * (terms + 8) * UNIT_ROUNDOFF
        rounding = terms * UNIT_ROUNDOFF * np.abs(self.value).sum(axis=-1)
        return Approximation(self.value.sum(axis=-1), (self.error.sum(axis=-1) + rounding) * above)


def of(number: Number) -> Approximation:
    """The number; one that is not an `Approximation` is exact."""
    if isinstance(number, Approximation):
        return number
    value = np.asarray(number, dtype=np.float64)
    return Approximation(value, np.zeros_like(value))


def _rounded(value: Floats, error: Floats) -> Approximation:
    return Approximation(value, np.asarray((error + UNIT_ROUNDOFF * np.abs(value)) * ABOVE))
