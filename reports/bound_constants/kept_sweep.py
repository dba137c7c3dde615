"""What is kept of a sweep, and of the times that it was kept before."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from marginaudit.reports.bound_constants.moves import DIRECTIONS, Move, merged, summary
from marginaudit.reports.bound_constants.swept import Swept


@dataclass(frozen=True)
class KeptSweep:
    """A sweep with what is to be compared by.

    Attributes
    ----------
    swept : Swept
    tolerance : float or None
        The test's own.
    history : tuple of mappings
        Of each time that it was kept, oldest first: ``date``, ``versions``, ``audits``, the ``reason`` if there was
        one, how many ``moved`` by direction, and the `summary` of the ``statements`` of which it is another one.
    """

    swept: Swept
    tolerance: float | None
    history: tuple[Mapping[str, Any], ...] = ()

    def as_document(self) -> dict[str, Any]:
        """As the file has it."""
        return {
            "settings": dict(self.swept.settings),
            "tolerance": self.tolerance,
            "keep": list(self.swept.keep),
            "datasets": {dataset: list(found.values()) for dataset, found in self.swept.runs.items()},
            "history": [dict(step) for step in self.history],
        }

    def other_terms(self, new: Swept, tolerance: float | None) -> list[str]:
        """What the two were not made by alike, in words."""
        names = dict.fromkeys([*self.swept.settings, *new.settings])
        pairs: dict[str, tuple[object, object]] = {
            name: (self.swept.settings.get(name), new.settings.get(name)) for name in names
        }
        pairs["tolerance"] = (self.tolerance, tolerance)
        return [
            f"{name}: the file has {was!r}, the {'test' if name == 'tolerance' else 'sweep'} {now!r}"
            for name, (was, now) in pairs.items()
            if was != now
        ]

    def updated(
        self, new: Swept, tolerance: float | None, moved: Sequence[Move], date: str, reason: str | None
    ) -> "KeptSweep":
        """What to keep from now on, with another step of history."""
        swept = merged(self.swept, new, moved)
        before = summary(self.swept)
        step: dict[str, Any] = {"date": date, "versions": new.versions, "audits": len(new.runs)}
        if reason is not None:
            step["reason"] = reason
        counts = {direction: sum(move.direction == direction for move in moved) for direction in DIRECTIONS}
        step["moved"] = {direction: count for direction, count in counts.items() if count}
        step["statements"] = {claim: row for claim, row in summary(swept).items() if row != before.get(claim)}
        return KeptSweep(swept, tolerance, (*self.history, step))


def first_kept(swept: Swept, tolerance: float | None, date: str) -> KeptSweep:
    """What to keep where nothing was."""
    return KeptSweep(replace(swept, keep=(), runs={}), tolerance).updated(swept, tolerance, (), date, None)


def kept_from_document(document: Any) -> KeptSweep:
    """What a file has.

    Raises
    ------
    KeyError, TypeError, ValueError, AttributeError
        It is none.
    """
    keep = tuple(document["keep"])
    runs = {dataset: dict(zip(keep, found, strict=True)) for dataset, found in document["datasets"].items()}
    history = tuple(dict(step) for step in document["history"])
    versions = history[-1]["versions"] if history else ""
    kept = KeptSweep(Swept(dict(document["settings"]), keep, runs, {}, versions), document["tolerance"], history)
    kept.swept.entries(kept.tolerance)
    return kept
