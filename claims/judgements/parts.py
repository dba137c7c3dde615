"""Statements decided by a function, and conjunctions."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from marginaudit.claims.claim import BeyondTheRun, Judgement, undecided
from marginaudit.claims.verdict import Curve, Evidence, Finding, Verdict, weakest


@dataclass(frozen=True)
class Decided:
    """Statement judged by a function instead of a comparison along steps.

    Attributes
    ----------
    decide : callable, run -> finding
    kind : str
        Name of the kind of statement for reports.
    late : bool
        Whether a decision needs a long run.
    """

    decide: "Callable[[Any], Finding]"
    kind: str
    late: bool = False

    def judge(self, run: Any) -> Finding:
        """Verdict on a run."""
        return self.decide(run)


@dataclass(frozen=True)
class Parts:
    """Conjunction of parts, with the worst part's verdict; see `joined`.

    Attributes
    ----------
    parts : mapping from a part's name in reports to its judgement
    note : callable, run -> additional note, or ""
    """

    parts: Mapping[str, Judgement]
    note: "Callable[[Any], str]" = field(default=lambda _: "")

    kind = "several parts"

    def judge(self, run: Any) -> Finding:
        """Verdict on a run."""
        return joined({name: _judged(part, run) for name, part in self.parts.items()}, self.note(run))


def _judged(part: Judgement, run: Any) -> Finding:
    """Verdict on a part; inconclusive if the run lacks its steps."""
    try:
        return part.judge(run)
    except BeyondTheRun as reason:
        return undecided(reason, part, run)


def joint_confidence(parts: Iterable[Finding]) -> dict[str, Any]:
    """Confidence that the intervals of all sampled parts cover, their fewest samples, and the first seed."""
    found = [part for part in parts if part.evidence is Evidence.SAMPLED]
    if not found:
        return {}
    error = sum(1 - (part.confidence or 0.0) for part in found)
    samples = min(part.samples or 0 for part in found)
    return {"confidence": max(0.0, 1 - error), "samples": samples, "seed": found[0].seed}


def joined(parts: Mapping[str, Finding], note: str = "", curve: Curve | None = None) -> Finding:
    """Finding on a conjunction: the worst part's verdict, and the details of all.

    Inapplicable parts are ignored if another applies. The numbers are those of the first part with that verdict that
    has numbers within its range. The evidence is the weakest of the failing parts, else of all parts; the errors of
    sampled ones add up. Without ``curve`` a failing part's curve is used.
    """
    badness = list(Verdict)
    applicable = {name: found for name, found in parts.items() if found.verdict is not Verdict.NOT_APPLICABLE} or parts
    worst = min((found.verdict for found in applicable.values()), key=badness.index)
    chosen = {name: found for name, found in applicable.items() if found.verdict is worst}
    name = next((name for name, found in chosen.items() if not found.beyond_the_run), next(iter(chosen)))
    resting = chosen if worst is Verdict.VIOLATED else applicable
    if curve is None and worst is Verdict.VIOLATED and (fails := chosen[name].curve) is not None:
        curve = replace(fails, part=", ".join(filter(None, (name, fails.part))))
    return replace(
        chosen[name],
        evidence=weakest(*(found.evidence for found in resting.values())),
        **joint_confidence(resting.values()),
        detail=" ".join(
            [*(f"{name}: {found.verdict}. {found.detail}" for name, found in applicable.items()), note]
        ).rstrip(),
        curve=curve,
        left_out=", ".join(dict.fromkeys(found.left_out for found in applicable.values() if found.left_out)),
    )
