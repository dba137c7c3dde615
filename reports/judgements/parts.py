"""Statements of several parts, each with a judgement of its own."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

from marginaudit.reports.verdict import Evidence, Finding, Verdict

WORST_FIRST = (
    Verdict.VIOLATED,
    Verdict.BROKEN,
    Verdict.INCONCLUSIVE,
    Verdict.HOLDS,
    Verdict.VACUOUS,
    Verdict.NOT_APPLICABLE,
)
"""A part that says nothing of a run, or nothing that could fail, takes nothing from parts that hold."""

SUREST_FIRST = (Evidence.EXACT, Evidence.CERTIFIED, Evidence.FLOAT64)


class Judging(Protocol):
    """A judgement."""

    def judge(self, run: Any) -> Finding:
        """The verdict on a run."""


@dataclass(frozen=True)
class Parts:
    """All parts are true. Verdict and numbers are those of the worst part, the first of them; the detail is of all.

    Attributes
    ----------
    parts : mapping from a part's name, for the reader, to its judgement
    """

    parts: Mapping[str, Judging]

    kind = "several parts"

    def judge(self, run: Any) -> Finding:
        """The verdict on a run: what holds is as sure as its least sure part."""
        found = {name: part.judge(run) for name, part in self.parts.items()}
        worst = min(found.values(), key=lambda finding: WORST_FIRST.index(finding.verdict))
        evidence = worst.evidence
        if worst.verdict is Verdict.HOLDS:
            held = [finding.evidence for finding in found.values() if finding.verdict is Verdict.HOLDS]
            evidence = max(held, key=SUREST_FIRST.index)
        detail = " ".join(f"{name}: {finding.verdict}. {finding.detail}".rstrip() for name, finding in found.items())
        return replace(worst, evidence=evidence, detail=detail)
