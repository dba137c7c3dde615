"""Which of the product's rows, and which of their numbers, go with what the oracle found."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import flint

from tests.oracle.answer import Answer, Entry

ALLOWANCE = 1e-9
"""Sides that agree so well may be called equal."""

CLEAR = 1e-3
"""Where every entry has so much room, relative, a verdict ought to be found."""

TINY = 1e-300
"""Numbers below underflow in float64."""

ROOM = 0.01
"""So much less room, in logarithms, makes another step the worst."""

HEADLINE = ("measured", "bound", "slack", "worst_step")
"""What a row has from where its statement speaks alone."""


@dataclass(frozen=True)
class Disagreement:
    """What is wrong with a row: a verdict, a number, or only that nothing was decided."""

    kind: str
    words: str


def compare(row: Mapping[str, Any], answer: Answer, failing: Sequence[str]) -> list[Disagreement]:
    """All that is wrong with a row; ``failing`` are the statement's assumptions that the dataset does not meet."""
    verdict = row["verdict"]
    if verdict == "broken":
        return [Disagreement("broken", row["detail"])]
    if failing:
        return [] if verdict == "not-applicable" else [_wrong(f"{verdict}, and {', '.join(failing)} fails")]
    if answer.silent:
        return [] if verdict == "not-applicable" else [_wrong(f"{verdict}, and {answer.silent}")]
    if verdict == "not-applicable":
        return [] if answer.perhaps else [_wrong("not-applicable, and nothing is missing")]
    early = [name for name in HEADLINE if answer.unreached and row[name] is not None]
    if early:
        return [Disagreement("number", f"{', '.join(early)} from before the statement speaks")]
    if verdict == "inconclusive":
        return _undecided(answer)
    entries = list(answer.entries)
    if verdict == "violated" and answer.true:
        return [_wrong(f"violated from {row['first_violation']}, and the statement is proved")]
    if not entries:
        return _against_truth(verdict, answer)
    found = {"holds": _holds, "violated": _violated, "vacuous": _vacuous}[verdict](row, answer, entries)
    if answer.numbers:
        found += [Disagreement("number", words) for words in faults(row, answer)]
    return found


def _wrong(words: str) -> Disagreement:
    return Disagreement("verdict", words)


def _against_truth(verdict: str, answer: Answer) -> list[Disagreement]:
    if answer.true is None or answer.open_ended:
        return [Disagreement("unchecked", "violated, where nothing was computed")] if verdict == "violated" else []
    right = {"holds": True, "violated": False}.get(verdict)
    return [] if right == answer.true else [_wrong(f"{verdict}, and the statement is {str(answer.true).lower()}")]


def _holds(row: Mapping[str, Any], answer: Answer, entries: list[Entry]) -> list[Disagreement]:
    worst = max(entries, key=Entry.excess)
    found = []
    if worst.excess() > ALLOWANCE:
        found.append(_wrong(f"holds, and is false by {worst.excess():.3g}{where(worst)}: {sides(worst)}"))
    if all(entry.vacuous for entry in entries) and not answer.open_ended:
        found.append(_wrong("holds, and the bound is beyond reach at every entry"))
    return found


def _violated(row: Mapping[str, Any], answer: Answer, entries: list[Entry]) -> list[Disagreement]:
    false = [entry for entry in entries if not entry.true]
    known = max((entry.step for entry in entries if entry.step is not None), default=math.inf)
    if not false and row["first_violation"] is not None and row["first_violation"] > known:
        return [Disagreement("unchecked", f"violated from t = {row['first_violation']}, beyond what was computed")]
    if not false:
        worst = max(entries, key=Entry.excess)
        return [
            _wrong(
                f"violated from {row['first_violation']}, and true at every entry, e.g.{where(worst)}: {sides(worst)}"
            )
        ]
    first = row["first_violation"]
    if first is None:
        return [] if false[0].step is None else [Disagreement("number", "violated, without first_violation")]
    steps = [entry.step for entry in entries if entry.step is not None]
    there = [entry for entry in entries if entry.step == first]
    if steps and first <= max(steps) and not any(not entry.true for entry in there):
        return [_wrong(f"violated from t = {first}, and true there; the first false one is {where(false[0])}")]
    # an entry that is false by more than rounding may not be passed over
    earlier = [e for e in false if e.step is not None and e.step < first and e.excess() > CLEAR]
    if earlier:
        return [
            Disagreement(
                "number", f"first_violation {first}, and false already{where(earlier[0])}: {sides(earlier[0])}"
            )
        ]
    return []


def _vacuous(row: Mapping[str, Any], answer: Answer, entries: list[Entry]) -> list[Disagreement]:
    speaking = [entry for entry in entries if not entry.vacuous]
    if speaking:
        return [_wrong(f"vacuous, and the bound says something{where(speaking[0])}: {sides(speaking[0])}")]
    return _holds(row, Answer(open_ended=True), entries)


def _undecided(answer: Answer) -> list[Disagreement]:
    entries = list(answer.entries)
    false = [entry for entry in entries if entry.excess() > CLEAR]
    if false:
        return [Disagreement("undecided", f"inconclusive, and false{where(false[0])}: {sides(false[0])}")]
    if answer.perhaps or answer.open_ended or answer.patient:
        return []
    if answer.true is not None and not entries:
        return [Disagreement("undecided", f"inconclusive, and the statement is {str(answer.true).lower()}")]
    if not entries:
        return []
    worst = max(entries, key=Entry.excess)
    tight = [entry for entry in entries if entry.excess() > -CLEAR]
    return [] if tight else [Disagreement("undecided", f"inconclusive, and true by {-worst.excess():.3g} at least")]


# A row's numbers: at its worst step, their quotient, and whether that step is the worst


def faults(row: Mapping[str, Any], answer: Answer) -> list[str]:
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
        if near(entry.measured, measured, allowed * max(abs(measured), abs(bound))) and near(entry.bound, bound)
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
    large, small = (bound, measured) if (row["side"] == "upper") is (measured > 0) else (measured, bound)
    off = 0.0 if slack is None or abs(measured) < TINY else abs(slack * small - large)
    if off > (1e-6 + allowed) * abs(large) + TINY or (slack is not None and row["side"] is None):
        found.append(f"slack {slack!r} is not {large!r} over {small!r}")
    return found


def room(entry: Entry) -> float:
    """log of what should be the large over the small side; infinite where that has no meaning."""
    large, small = (entry.bound, entry.measured) if entry.side == "upper" else (entry.measured, entry.bound)
    if entry.side == "equal" or not (large > 0 and small > 0):
        return math.inf
    return float((large / small).log())


def near(true: flint.arb, shown: float, rounding: float = 0.0) -> bool:
    """Whether a number shown is the true one, to `ALLOWANCE` relative or ``rounding`` absolute."""
    size = max(abs(float(true)), abs(shown))
    if size < TINY or math.isinf(float(true)):
        return True
    # numbers that come from logarithms lose digits in proportion to them
    return abs(float(true) - shown) <= size * (ALLOWANCE + 1e-14 * abs(math.log(size))) + rounding


def where(entry: Entry) -> str:
    return "" if entry.step is None else f" at t = {entry.step}"


def sides(entry: Entry) -> str:
    relation = {"upper": "<=", "lower": ">=", "equal": "="}[entry.side]
    return f"{entry.measured.str(20, radius=False)} {relation} {entry.bound.str(20, radius=False)}"
