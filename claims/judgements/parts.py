"""Statements that a procedure decides, and conjunctions of several parts."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from marginaudit.claims.claim import BeyondTheRun, Judgement, undecided
from marginaudit.claims.verdict import Curve, Finding, Verdict, weakest


@dataclass(frozen=True)
class Decided:
    """A statement judged by a function, as it is no comparison along the steps.

    Attributes
    ----------
    decide : from a run to the finding
    kind : str
        In words, for the reader of a report.
    late : bool
        Whether it takes a long run to decide it.
    """

    decide: "Callable[[Any], Finding]"
    kind: str
    late: bool = False

    def judge(self, run: Any) -> Finding:
        """The verdict on a run."""
        return self.decide(run)


@dataclass(frozen=True)
class Parts:
    """All parts are true. The verdict is that of the worst one, see `joined`.

    Attributes
    ----------
    parts : mapping from a part's name, for the reader, to its judgement
    note : from a run to what else the reader is to know, "" for nothing
    """

    parts: Mapping[str, Judgement]
    note: "Callable[[Any], str]" = field(default=lambda _: "")

    kind = "several parts"

    def judge(self, run: Any) -> Finding:
        """The verdict on a run."""
        return joined({name: _judged(part, run) for name, part in self.parts.items()}, self.note(run))


def _judged(part: Judgement, run: Any) -> Finding:
    """The verdict on a part: inconclusive where it is about steps that the run lacks."""
    try:
        return part.judge(run)
    except BeyondTheRun as reason:
        return undecided(reason, part, run)


def joined(parts: Mapping[str, Finding], note: str = "", curve: Curve | None = None) -> Finding:
    """The verdict on a statement of several parts: that of the worst one, with the findings of all.

    A part that says nothing about this dataset does not count beside one that does. Of several parts with that
    verdict the first that has numbers where it speaks gives them. The evidence is that of the least sure part on which
    the verdict rests: of those that fail, else of all. Without ``curve`` that of a part is shown where the part fails.
    """
    badness = list(Verdict)
    speaking = {name: found for name, found in parts.items() if found.verdict is not Verdict.NOT_APPLICABLE} or parts
    worst = min((found.verdict for found in speaking.values()), key=badness.index)
    chosen = {name: found for name, found in speaking.items() if found.verdict is worst}
    name = next((name for name, found in chosen.items() if not found.beyond_the_run), next(iter(chosen)))
    resting = chosen if worst is Verdict.VIOLATED else speaking
    if curve is None and worst is Verdict.VIOLATED and (fails := chosen[name].curve) is not None:
        curve = replace(fails, part=", ".join(filter(None, (name, fails.part))))
    return replace(
        chosen[name],
        evidence=weakest(*(found.evidence for found in resting.values())),
        detail=" ".join(
            [*(f"{name}: {found.verdict}. {found.detail}" for name, found in speaking.items()), note]
        ).rstrip(),
        curve=curve,
        left_out=", ".join(dict.fromkeys(found.left_out for found in speaking.values() if found.left_out)),
    )
