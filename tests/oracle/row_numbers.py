"""A row's numbers: measured and bound at its worst step, their quotient, and whether that step is the worst."""

import math
import re
from collections.abc import Mapping
from typing import Any

import flint

from tests.oracle.answer import Answer, Entry

TINY = 1e-300
"""Numbers below underflow in float64."""

ROOM = 0.01
"""So much less room, in logarithms, makes another step the worst."""


def faults(row: Mapping[str, Any], answer: Answer, allowance: float) -> list[str]:
    """What is wrong with the numbers, in words; nothing is said of steps that the oracle has no entry for."""
    step, measured, bound, slack = (row[name] for name in ("worst_step", "measured", "bound", "slack"))
    there = [(entry, part) for part in answer.parts.values() for entry in part if entry.step == step]
    if measured is None or bound is None or not there:
        return []
    bars = re.findall(r"relative error bars ([0-9.e+-]+?)\.?(?:\s|$)", row["detail"])
    # relative to the larger side
    allowed = max([1e-12, *(2 * float(bar) for bar in bars)])
    fits = [
        (entry, part)
        for entry, part in there
        if near(entry.measured, measured, allowance, allowed * max(abs(measured), abs(bound)))
        and near(entry.bound, bound, allowance)
    ]
    if not fits:
        true = "; ".join(sides(entry) for entry, _ in there)
        return [f"measured {measured!r}, bound {bound!r} at t = {step}, and it is {true}"]
    found = []
    # of a statement of several parts, the numbers are one part's: any that they fit
    least = [(entry, min([one for one in part if not one.vacuous] or part, key=room)) for entry, part in fits]
    # where 0 is shown all room is alike, and what is true may be the oracle's own rounding of 0; where an error bar
    # hides what was measured, any step within it may show the least
    allowed_room = ROOM + allowed + math.log1p(row["repeats_within"] or 0.0)
    worst = (
        abs(measured) < TINY
        or "error bars hide it" in row["detail"]
        or "The error bar hides what was measured" in row["detail"]
        or any(math.isinf(room(entry)) or room(entry) <= room(tightest) + allowed_room for entry, tightest in least)
    )
    if not worst:
        entry, tightest = least[0]
        found.append(f"worst step {step} with room {room(entry):.4g}, and{where(tightest)} has {room(tightest):.4g}")
    off = 0.0 if slack is None or abs(measured) < TINY else abs(slack * measured - bound)
    if off > (1e-6 + allowed) * abs(bound) + TINY:
        found.append(f"slack {slack!r} is not {bound!r} over {measured!r}")
    return found


def room(entry: Entry) -> float:
    """log of what should be the large over the small side; infinite where that has no meaning."""
    large, small = (entry.bound, entry.measured) if entry.side == "upper" else (entry.measured, entry.bound)
    if entry.side == "equal" or not (large > 0 and small > 0):
        return math.inf
    return float((large / small).log())


def near(true: flint.arb, shown: float, allowed: float, rounding: float = 0.0) -> bool:
    """Whether a number shown is the true one, to ``allowed`` relative or ``rounding`` absolute."""
    size = max(abs(float(true)), abs(shown))
    if size < TINY or math.isinf(float(true)):
        return True
    # numbers that come from logarithms lose digits in proportion to them
    return abs(float(true) - shown) <= size * (allowed + 1e-14 * abs(math.log(size))) + rounding


def where(entry: Entry) -> str:
    return "" if entry.step is None else f" at t = {entry.step}"


def sides(entry: Entry) -> str:
    relation = {"upper": "<=", "lower": ">=", "equal": "="}[entry.side]
    return f"{entry.measured.str(20, radius=False)} {relation} {entry.bound.str(20, radius=False)}"
