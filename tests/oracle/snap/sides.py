"""Where a row's numbers are from, as its position and its words say, and the two sides of a statement at one place."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from flint import arb

from tests.oracle.answer import EQUAL

NEAR = 0.01
"""Of a limit: the distance, relative, below which it counts as reached."""

TINY = 1e-290
"""Numbers below lose digits to underflow in float64."""

KNOWN = 1e-6
"""Sides that are known less well, relative, are not compared."""

DIGITS = 1e-11
"""Relative error of a number that is shown, beside its error bar."""

LEAST_ROOM = re.compile(r"Least room at (.*?), against the (?:upper|lower) bound")
LARGEST = re.compile(r"relative difference \S+ \((.*?)\), rounding allowance")
BAR = re.compile(r"(?:relative error bars|rounding allowance) ([0-9.e+-]+?)\.?(?:\s|$)")
POSITION = re.compile(r"(?:^|, )(?:t|s|M h|N|N_n|ln M|M) = \S+$")


@dataclass(frozen=True)
class Place:
    """The position on the clock, the label of an entry without it ("" where the words name none), and its error bar."""

    position: int | float | None
    label: str
    bar: float = 0.0

    @property
    def t(self) -> Fraction:
        if self.position is None:
            raise ValueError("no position")
        return Fraction(self.position)


def place(row: Mapping[str, Any]) -> Place:
    """Of the part that the numbers are from: the first with the row's verdict."""
    detail = row["detail"]
    start = detail.find(f": {row['verdict']}. ")
    told = detail[start:] if row["kind"] == "several parts" and start >= 0 else detail
    room, largest = told.find("Least room"), LARGEST.search(told)
    first = largest is None or 0 <= room < largest.start()  # a later part's words are not this part's
    found = LEAST_ROOM.match(told[room:]) if first else largest
    label = found[1] if found else ""
    bar = BAR.search(told)
    if row["worst_step"] is not None:
        label = POSITION.sub("", label)
    return Place(row["worst_step"], label, float(bar[1]) if bar else 0.0)


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
