"""Where a row's numbers are from, as its position and its words say."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

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
