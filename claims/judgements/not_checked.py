"""Statements that no audit can decide, on the record with the reason."""

from dataclasses import dataclass
from typing import Any

from marginaudit.claims.verdict import Finding, Verdict


@dataclass(frozen=True)
class NotChecked:
    """A statement that is not checked, such as a minimax bound over all algorithms.

    Attributes
    ----------
    because : str
        The reason, as the end of a sentence.

    Raises
    ------
    ValueError
        There is no reason.
    """

    because: str

    kind = "not checked"
    quantifier = "not checked"

    def __post_init__(self) -> None:
        if not str(self.because).strip():
            raise ValueError("NotChecked: got no reason, expected one in words")

    def judge(self, _: Any) -> Finding:
        """The verdict not-checked, with the reason."""
        return Finding(Verdict.NOT_CHECKED, detail=f"Not checked, because {self.because.strip().rstrip('.')}.")
