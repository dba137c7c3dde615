"""An assumption, judged on a dataset: whether it holds, and its witness where it does not."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

Witness: TypeAlias = Mapping[str, Any] | None
"""What breaks an assumption, as JSON data; None where it holds. The key ``undecided`` says that it is left open."""


@dataclass(frozen=True)
class Assumption:
    """Whether an assumption holds on a dataset, and the witness against it (None where it holds)."""

    name: str
    holds: bool
    witness: Witness

    @property
    def undecided(self) -> bool:
        """Whether its error bars leave open if it holds; it does not count as holding."""
        return bool((self.witness or {}).get("undecided"))

    @property
    def in_words(self) -> str:
        """For a table: holds, fails or undecided."""
        return "holds" if self.holds else "undecided" if self.undecided else "fails"


def as_document(assumptions: Mapping[str, Assumption]) -> dict[str, Any]:
    """Each assumption by name: whether it holds, and its witness."""
    return {name: {"holds": found.holds, "witness": found.witness} for name, found in assumptions.items()}
