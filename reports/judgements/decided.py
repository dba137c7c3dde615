"""Statements that a procedure decides."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from marginaudit.reports.verdict import Finding


@dataclass(frozen=True)
class Decided:
    """A statement whose verdict a function finds, because it is no comparison along the steps.

    Attributes
    ----------
    decide : from a run to the finding
    kind : str
        In words, for the reader of a report.
    """

    decide: "Callable[[Any], Finding]"
    kind: str

    def judge(self, run: Any) -> Finding:
        """The verdict on a run."""
        return self.decide(run)
