"""An assumption checked on a dataset: whether it holds, and a witness if not."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

Witness: TypeAlias = Mapping[str, Any] | None
"""Witness against an assumption, as JSON data; None if it holds. The key ``undecided`` marks an open question."""


@dataclass(frozen=True)
class Assumption:
    """Whether an assumption holds on a dataset, and the witness against it (None if it holds)."""

    name: str
    holds: bool
    witness: Witness

    @property
    def undecided(self) -> bool:
        """Whether error bars leave it open; it then does not count as holding."""
        return bool((self.witness or {}).get("undecided"))

    @property
    def in_words(self) -> str:
        """Table entry: holds, fails or undecided."""
        return "holds" if self.holds else "undecided" if self.undecided else "fails"


def as_document(assumptions: Mapping[str, Assumption]) -> dict[str, Any]:
    """JSON data: whether each assumption holds, and its witness, by name."""
    return {name: {"holds": found.holds, "witness": found.witness} for name, found in assumptions.items()}
