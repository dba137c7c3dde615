"""Comparison of two audits."""

from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any

from marginaudit.claims.values.json_data import finite
from marginaudit.claims.values.numbers import NONE
from marginaudit.claims.verdict import Verdict
from marginaudit.orders import InputError
from marginaudit.reports.compare.reading import SHA256, ComparedAudit
from marginaudit.reports.compare.worse import Change, ChangeDirection, changes
from marginaudit.reports.page.small import small_page

DIGITS_OF_A_HASH = 12
"""Digits of a hash in the output."""

ORDER = ("worse", "gone", "added", "better")

FAILING = (Verdict.VIOLATED, Verdict.BROKEN)
"""Verdicts with which an added row counts as worse."""


@dataclass(frozen=True)
class AuditComparison:
    """Differences between two audits.

    Attributes
    ----------
    settings : list of (name, old, new)
        Differing versions, settings and files.
    changes : list of Change
        Sorted by direction, worse first, then in the order of the old audit.
    """

    old: ComparedAudit
    new: ComparedAudit
    settings: list[tuple[str, Any, Any]]
    changes: list[Change]

    @property
    def made_with(self) -> list[tuple[str, Any, Any]]:
        """Differing settings for display: hashes shortened, None as ``default``."""
        return [(name, *(_in_words(side, name) for side in (self.old, self.new))) for name, _, _ in self.settings]

    @property
    def counts(self) -> dict[str, int]:
        """Number of changes in each direction, and of unchanged rows."""
        found = Counter(change.direction for change in self.changes)
        changed = {(change.dataset, change.claim) for change in self.changes}
        same = len(self.old.rows.keys() & self.new.rows.keys() - changed)
        return {direction: found[direction] for direction in ("worse", "better", "added", "gone")} | {"same": same}

    @property
    def compared(self) -> int:
        """Number of common rows."""
        return len(self.old.rows.keys() & self.new.rows.keys())

    def require_rows(self) -> None:
        """Refuse audits without a common row.

        Raises
        ------
        InputError
        """
        if not self.compared:
            got, expected = f"no claim on a dataset that {self.old.where} has too", "two audits of something in common"
            raise InputError(self.new.where, got=got, expected=expected)

    def as_document(self) -> dict[str, Any]:
        """JSON document of `marginaudit compare`."""
        return {
            "old": self.old.where,
            "new": self.new.where,
            "counts": self.counts,
            "settings": finite([{"name": name, "old": old, "new": new} for name, old, new in self.settings]),
            "changes": [asdict(change) for change in self.changes],
        }


def _in_words(side: ComparedAudit, name: str) -> Any:
    value = side.settings.get(name)
    if value is None:
        return "default" if name in side.settings and not name.startswith(SHA256) else NONE
    return str(value)[:DIGITS_OF_A_HASH] if name.startswith(SHA256) else value


def compare(old: ComparedAudit, new: ComparedAudit) -> AuditComparison:
    """Compare two audits."""
    names = dict.fromkeys([*old.settings, *new.settings])
    settings = [
        (name, old.settings.get(name), new.settings.get(name))
        for name in names
        if old.settings.get(name) != new.settings.get(name)
    ]
    found = []
    for key in dict.fromkeys([*old.rows, *new.rows]):
        one, other = old.rows.get(key), new.rows.get(key)
        if one is not None and other is not None:
            found += changes(one, other)
        elif one is not None:
            found.append(Change(*key, "row", one.verdict.value, None, "gone", f"gone: {one.verdict}"))
        elif other is not None:
            direction: ChangeDirection = "worse" if other.verdict in FAILING and other.premise == "met" else "added"
            found.append(Change(*key, "row", None, other.verdict.value, direction, f"added: {other.verdict}"))
    return AuditComparison(old, new, settings, sorted(found, key=lambda change: ORDER.index(change.direction)))


def page(found: AuditComparison) -> str:
    """Self-contained HTML page of a comparison."""
    old, new = found.old.where, found.new.where
    return small_page("marginaudit.reports.compare", "compare.html", old=old, new=new, found=found, counts=found.counts)
