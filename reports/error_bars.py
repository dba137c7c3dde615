"""Numbers with error bars along an index: the only form in which a quantity enters a verdict."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from marginaudit.reports.verdict import Evidence

FORMULA_ROUNDING = 64 * np.finfo(float).eps
"""Relative rounding of a closed formula of a few dozen operations in float64."""


@dataclass(frozen=True)
class Series:
    """A measured quantity, or a bound, entry by entry.

    Attributes
    ----------
    value : (entries,) array of floats, or of Fractions (dtype object) where exact
    radius : (entries,) array
        Error bar: the true value lies in [value - radius, value + radius].
    step : (entries,) integer array or None
        The training step of each entry.
    label : tuple of str
        What each entry is about, where it is not only a step; empty, or one an entry.
    log : bool
        Whether value and radius are natural logarithms of the quantity.
    evidence : Evidence

    Raises
    ------
    ValueError
        An error bar is NaN, and its value is not.
    """

    value: NDArray[Any]
    radius: NDArray[Any]
    step: NDArray[np.int64] | None = None
    label: tuple[str, ...] = ()
    log: bool = False
    evidence: Evidence = Evidence.FLOAT64

    def __post_init__(self) -> None:
        unknown = np.isnan(self.radius.astype(float)) & ~np.isnan(self.value.astype(float))
        if unknown.any():
            raise ValueError(f"the error bar of entry {int(np.argmax(unknown))} is not a number")

    def __len__(self) -> int:
        return len(self.value)

    @property
    def lower(self) -> NDArray[Any]:
        """Smallest value inside the error bars."""
        return np.asarray(self.value - self.radius)

    @property
    def upper(self) -> NDArray[Any]:
        """Largest value inside the error bars."""
        return np.asarray(self.value + self.radius)

    def shown(self, entry: int) -> float | None:
        """The entry as a finite float on its natural scale, or None."""
        value = float(self.value[entry])
        with np.errstate(over="ignore"):
            natural = float(np.exp(value)) if self.log else value
        return natural if np.isfinite(natural) else None


def series(
    value: ArrayLike,
    *,
    radius: ArrayLike | None = None,
    step: NDArray[np.int64] | None = None,
    label: tuple[str, ...] = (),
    log: bool = False,
) -> Series:
    """A float64 series; without a radius, that of a closed formula's rounding.

    >>> series([1.0, 2.0], radius=0.5).upper.tolist()
    [1.5, 2.5]
    """
    values = np.atleast_1d(np.asarray(value, dtype=float))
    scale = np.maximum(np.abs(values), 1.0) if log else np.abs(values)
    bars = FORMULA_ROUNDING * scale if radius is None else np.asarray(radius, dtype=float)
    return Series(values, np.broadcast_to(bars, values.shape), step, label, log)


def exact_series(value: list[Any], *, label: tuple[str, ...] = ()) -> Series:
    """A series of Fractions or integers, without error bars."""
    values = np.empty(len(value), dtype=object)
    values[:] = value
    return Series(values, np.zeros(len(value), dtype=int).astype(object), None, label, False, Evidence.EXACT)
