"""What the oracle knows of a statement: entries to compare, or its truth where it is about no single step."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal

import flint

EQUAL = 2.0**-180
"""Sides that differ by less, relative, are equal: an attained bound."""


@dataclass(frozen=True)
class Entry:
    """measured <= bound, >= bound or = bound, at a step or about something else.

    Attributes
    ----------
    step : int or None
    measured, bound : balls
        On the natural scale.
    side : which of the three
    reach : what the quantity can reach at all; a bound beyond it says nothing
    """

    step: int | None
    measured: flint.arb
    bound: flint.arb
    side: Literal["upper", "lower", "equal"] = "upper"
    reach: flint.arb | None = None

    def excess(self) -> float:
        """By what part of the larger side the entry fails; at most 0 where it is true."""
        difference = self.measured - self.bound
        if self.side == "lower":
            difference = -difference
        if self.side == "equal":
            difference = abs(difference)
        larger = max(abs(self.measured).mid(), abs(self.bound).mid())
        if larger == 0 or abs(difference).mid() <= EQUAL * larger:
            return 0.0
        return float((difference / larger).mid())

    @property
    def true(self) -> bool:
        return self.excess() <= 0

    @property
    def vacuous(self) -> bool:
        if self.reach is None or self.side == "equal":
            return False
        return bool((self.bound >= self.reach) if self.side == "upper" else (self.bound <= self.reach))


@dataclass(frozen=True)
class Answer:
    """The truth of a statement on an experiment, as far as it is known.

    Attributes
    ----------
    silent : why the statement says nothing here, or ""
    perhaps : why it may be taken to say nothing here, or ""
        A statement about steps of which none is recorded.
    true : bool or None
        As a whole, where no entries decide it; None where what was computed does not tell.
    parts : entries by part
    open_ended : bool
        It also speaks of what lies beyond the entries, so that they may refute it and cannot prove it.
    unreached : bool
        It speaks only of what lies beyond the run.
    """

    silent: str = ""
    perhaps: str = ""
    true: bool | None = None
    parts: dict[str, list[Entry]] = field(default_factory=dict)
    open_ended: bool = False
    unreached: bool = False
    patient: bool = False
    numbers: bool = True

    @property
    def entries(self) -> Iterator[Entry]:
        for part in self.parts.values():
            yield from part


def unrecorded(steps: Iterable[int], first: int) -> str:
    """Why a statement about steps from ``first`` on may be taken to say nothing, or ""."""
    return "" if any(t >= first for t in steps) else "no recorded step"
