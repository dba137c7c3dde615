"""What changed from one audit to another."""

from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias

from marginaudit.reports.bound_constants.entry import differences
from marginaudit.reports.compare.reading import SHA256, Side
from marginaudit.reports.grid import NONE
from marginaudit.reports.plain import finite

DIGITS_OF_A_HASH = 12
"""So many digits tell files apart for a reader."""

Direction: TypeAlias = Literal["worse", "better", "added", "gone"]


@dataclass(frozen=True)
class Change:
    """One thing that two audits say otherwise of a statement on a dataset.

    Attributes
    ----------
    dataset, claim : str
    what : str
        ``verdict``, ``evidence``, or the name of a number.
    old, new : str, float or None
    direction : "worse", "better", "added" or "gone"
        The last two where one audit has no such row; a row that is gone is not worse.
    text : str
        In words, by what factor, and within what tolerance they would count as the same.
    """

    dataset: str
    claim: str
    what: str
    old: str | float | None
    new: str | float | None
    direction: Direction
    text: str


@dataclass(frozen=True)
class Comparison:
    """Two audits, and how they differ.

    Attributes
    ----------
    old, new : Side
    settings : list of (name, old, new)
        Versions, settings and files that are not the same.
    changes : list of Change
        Of what is worse first; within that in the order of the old audit.
    """

    old: Side
    new: Side
    settings: list[tuple[str, Any, Any]]
    changes: list[Change]

    @property
    def made_with(self) -> list[tuple[str, Any, Any]]:
        """The settings as a reader wants them: of a hash the beginning, and in words what an audit chose by itself."""
        return [(name, *(_in_words(side, name) for side in (self.old, self.new))) for name, _, _ in self.settings]

    @property
    def counts(self) -> dict[str, int]:
        """How many changes there are of each direction, and rows of which nothing changed."""
        found = Counter(change.direction for change in self.changes)
        changed = {(change.dataset, change.claim) for change in self.changes}
        directions: tuple[Direction, ...] = ("worse", "better", "added", "gone")
        return {direction: found[direction] for direction in directions} | {
            "same": len(self.old.entries.keys() & self.new.entries.keys() - changed)
        }

    def as_document(self) -> dict[str, Any]:
        """As `marginaudit compare --json` prints it."""
        return {
            "old": self.old.where,
            "new": self.new.where,
            "counts": self.counts,
            "settings": finite([{"name": name, "old": old, "new": new} for name, old, new in self.settings]),
            "changes": [asdict(change) for change in self.changes],
        }


def _in_words(side: Side, name: str) -> Any:
    value = side.settings.get(name)
    if value is None:
        return "default" if name in side.settings and not name.startswith(SHA256) else NONE
    return str(value)[:DIGITS_OF_A_HASH] if name.startswith(SHA256) else value


ORDER: tuple[Direction, ...] = ("worse", "gone", "added", "better")


def compare(old: Side, new: Side) -> Comparison:
    """What the new audit says otherwise, beyond the error bars of the old one."""
    names = dict.fromkeys([*old.settings, *new.settings])
    settings = [
        (name, old.settings.get(name), new.settings.get(name))
        for name in names
        if old.settings.get(name) != new.settings.get(name)
    ]
    changes = []
    for key in dict.fromkeys([*old.entries, *new.entries]):
        one, other = old.entries.get(key), new.entries.get(key)
        if one is None or other is None:
            was, now = (None if entry is None else entry.verdict.value for entry in (one, other))
            direction: Direction = "added" if one is None else "gone"
            changes.append(Change(*key, "row", was, now, direction, f"{direction}: {now if one is None else was}"))
            continue
        for found in differences(one, other):
            changes.append(
                Change(*key, found.part, found.old, found.new, "worse" if found.worse else "better", found.text)
            )
    return Comparison(old, new, settings, sorted(changes, key=lambda change: ORDER.index(change.direction)))
