"""The two sides of a statement at one place."""

import math
from dataclasses import dataclass
from typing import Literal

from flint import arb

EQUAL = 2.0**-180
"""Sides that differ by less, relative, are equal: an attained bound."""

NEAR = 0.01
"""Of a limit: the distance, relative, below which it counts as reached."""

TINY = 1e-290
"""Numbers below lose digits to underflow in float64."""

KNOWN = 1e-6
"""Sides that are known less well, relative, are not compared."""

DIGITS = 1e-11
"""Relative error of a number that is shown, beside its error bar."""


@dataclass(frozen=True)
class Sides:
    """Measured <= bound, >= bound, = bound, or tends to bound.

    ``scale`` is what error bars are relative to where that is more than both sides: a matrix's largest entry, say.
    """

    relation: Literal["upper", "lower", "equal", "limit"]
    measured: arb
    bound: arb
    scale: float = 0.0

    @property
    def known(self) -> bool:
        return all(x.is_finite() and x.rad() <= KNOWN * abs(x.mid()) for x in (self.measured, self.bound))

    def excess(self) -> tuple[float, float]:
        """By what part of the larger side it fails, at least and at most; up to 0 where it is true."""
        difference = self.measured - self.bound
        if self.relation == "lower":
            difference = -difference
        if self.relation in ("equal", "limit"):
            difference = abs(difference)
        larger = max(abs(self.measured).mid(), abs(self.bound).mid())
        if larger == 0 or abs(difference) <= EQUAL * larger:
            return 0.0, 0.0
        part = difference / larger - (NEAR if self.relation == "limit" else 0)
        return float(part.lower()), float(part.upper())

    def fit(self, measured: float, bound: float, bar: float) -> bool:
        """Whether numbers shown are these, with an error bar relative to the larger one, or to the scale."""
        rounding = max(abs(measured), abs(bound), self.scale) * bar
        return near(self.measured, measured, rounding) and near(self.bound, bound, rounding)

    def __str__(self) -> str:
        sign = {"upper": "<=", "lower": ">=", "equal": "=", "limit": "->"}[self.relation]
        return f"{self.measured.str(20, radius=False)} {sign} {self.bound.str(20, radius=False)}"


def near(true: arb, shown: float, rounding: float) -> bool:
    size = max(abs(float(true)), abs(shown))
    if size < TINY:
        return True
    off = abs(true - shown).lower()
    # what comes from logarithms loses digits in proportion to them
    return math.isfinite(size) and bool(off <= size * (DIGITS + 1e-14 * abs(math.log(size))) + rounding)
