"""What one sweep of audits found otherwise than an earlier one, by dataset."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Literal, NamedTuple, TypeAlias

from marginaudit.reports.bound_constants.entry import VERDICTS, differences
from marginaudit.reports.bound_constants.swept import Swept

Direction: TypeAlias = Literal["worse", "gone", "new", "better"]

DIRECTIONS: tuple[Direction, ...] = ("worse", "gone", "new", "better")
"""The gravest first."""

NEED_REASON = DIRECTIONS[:2]
"""What is kept with a reason alone."""

NUMBERS = tuple(f"{name} {part}" for name in ("slack", "constant") for part in ("worst", "worst but 5%", "median"))


class Move(NamedTuple):
    """What one sweep says otherwise.

    Attributes
    ----------
    direction : one of `DIRECTIONS`
    dataset, claim : str
        "" where it is about all of them.
    text : str
        What was and what is.
    """

    direction: Direction
    dataset: str
    claim: str
    text: str

    def __str__(self) -> str:
        place = " on ".join(filter(None, (self.claim, self.dataset)))
        return f"{self.direction}: {place}{self.text and ': '}{self.text}"


def moves(old: Swept, new: Swept, tolerance: float | None) -> list[Move]:
    """All that the new sweep finds otherwise beyond the old one's tolerances, the gravest first."""
    found = [
        *(Move("gone", name, "", new.failed.get(name, "")) for name in old.runs if name not in new.runs),
        *(Move("gone", "", claim, "") for claim in old.claims if claim not in new.claims),
        *(Move("new", name, "", "") for name in new.runs if name not in old.runs),
        *(Move("new", "", claim, "") for claim in new.claims if claim not in old.claims),
    ]
    before, now = old.entries(tolerance), new.entries(tolerance)
    for dataset, claim in before:
        if (dataset, claim) in now:
            for change in differences(before[dataset, claim], now[dataset, claim]):
                found.append(Move("worse" if change.worse else "better", dataset, claim, change.text))
    return sorted(found, key=lambda move: DIRECTIONS.index(move.direction))


def merged(old: Swept, new: Swept, moved: Sequence[Move]) -> Swept:
    """The sweep to keep from now on: the new one, but for what is the same within its tolerance.

    That stays as it was, so that many updates do not add up to a large change.
    """
    if old.keep != new.keep:
        return new
    other = {(move.dataset, move.claim) for move in moved}
    runs = {
        dataset: found
        if dataset not in old.runs
        else {
            name: found[name] if (dataset, name.partition(":")[0]) in other else old.runs[dataset][name]
            for name in new.keep
        }
        for dataset, found in new.runs.items()
    }
    return replace(new, runs=runs)


def summary(swept: Swept) -> dict[str, dict[str, Any]]:
    """Of each statement what it has of: how often each verdict was found, worst, worst but 5 % and median number."""
    return {row["claim"]: dict(filter(_there, row.items())) for row in swept.statements}


def _there(item: tuple[str, Any]) -> bool:
    name, value = item
    return name != "claim" and value is not None and not (name in VERDICTS and value == 0)


def summary_moves(old: Swept, new: Swept) -> Iterator[str]:
    """How verdicts and numbers of each statement moved, over all datasets, in words."""
    before, now = summary(old), summary(new)
    for claim in before:
        if claim in now:
            lines = [
                f"{name} {before[claim].get(name, 'none')} -> {now[claim].get(name, 'none')}"
                for name in (*VERDICTS, *NUMBERS)
                if before[claim].get(name) != now[claim].get(name)
            ]
            if lines:
                yield f"{claim} over all: {', '.join(lines)}"
