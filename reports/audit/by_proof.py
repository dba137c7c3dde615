"""What is proved decides a verdict, for every t; what was measured stays beside it, as a check on the proof."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from marginaudit.reports.claim import BeyondTheRun, Claim
from marginaudit.reports.implication import Implication
from marginaudit.reports.paper import Paper
from marginaudit.reports.run import BaseRun
from marginaudit.reports.standing import Status
from marginaudit.reports.verdict import Evidence, Finding, Verdict

FINAL = {Verdict.BROKEN, Verdict.NOT_APPLICABLE}
"""Verdicts that no proof changes: the statement says nothing of the dataset, or nothing was measured."""


def judged(paper: Paper, claim: Claim, run: BaseRun[Any]) -> Finding:
    """The verdict of a paper's own claim on a run: what is measured, and what is proved."""
    return by_proof(paper, claim, run, claim.judge(run))


def by_proof(paper: Paper, claim: Claim, run: BaseRun[Any], measured: Finding) -> Finding:
    """The finding with what follows from proved statements.

    A verdict that follows has the evidence ``proved``, and one that error bars hid is decided. A measurement that
    violates what is proved makes the row ``broken``: the proof, its conditions or the measurement are wrong. Where
    nothing follows and the evidence is float64, the detail says why.
    """
    if not paper.has(claim) or measured.verdict in FINAL:
        return measured
    reasons = []
    for implication in implications(paper, claim):
        reason = _unmet(paper, claim, implication, run)
        if reason is not None:
            reasons.append(reason)
        elif implication.verdict is Verdict.HOLDS:
            return _holding(claim, run, implication, measured)
        elif measured.verdict is Verdict.VIOLATED:
            return _refuted(implication, measured)
    if measured.evidence is not Evidence.FLOAT64:
        return measured
    return replace(measured, detail=f"{measured.detail} {_why_not(claim, measured, reasons)}".strip())


def implications(paper: Paper, claim: Claim) -> Iterator[Implication]:
    """What may decide the claim: its own proof, then the paper's implications."""
    if claim.standing.status is Status.PROVED:
        yield Implication(sources=(claim.id,), target=claim.id, proof=claim.standing.proof or "")
    yield from (implication for implication in paper.implications if implication.target == claim.id)


def _unmet(paper: Paper, claim: Claim, implication: Implication, run: BaseRun[Any]) -> str | None:
    """Why the implication says nothing of the run, or None; what is only tolerated of an assumption is not proved."""
    known = {one.id: one for one in paper.claims}
    assumed = tuple(dict.fromkeys(name for one in (claim.id, *implication.sources) for name in known[one].assumptions))
    for name in assumed:
        if not run.assumption(name).holds:
            return f"assumption {name} of what it would follow from fails"
    return run.reservation(assumed).rstrip(".") or implication.unmet(run)


def _holding(claim: Claim, run: BaseRun[Any], implication: Implication, measured: Finding) -> Finding:
    follows = _follows(claim, implication)
    if measured.verdict is Verdict.VIOLATED:
        detail = f"THE MEASUREMENT VIOLATES WHAT IS PROVED, so one of the two is wrong. {follows} {measured.detail}"
        return replace(measured, verdict=Verdict.BROKEN, detail=detail)
    if measured.verdict is Verdict.INCONCLUSIVE:
        if not _speaks(claim, run):
            return measured
        detail = f"{follows} By itself the measurement is inconclusive: {measured.detail}"
        hidden: dict[str, Any] = dict.fromkeys(
            ("measured", "bound", "slack", "constant", "repeats_within", "worst_step")
        )
        verdict = Verdict.VACUOUS if _beyond_reach(measured) else Verdict.HOLDS
        return replace(measured, verdict=verdict, evidence=Evidence.PROVED, detail=detail, **hidden)
    if measured.evidence is Evidence.EXACT:
        return measured
    return replace(
        measured, evidence=Evidence.PROVED, detail=f"{follows} Measured, {measured.evidence}: {measured.detail}"
    )


def _beyond_reach(measured: Finding) -> bool:
    """Whether the bound exceeds what the quantity can reach at all, wherever it was looked."""
    curve = measured.curve
    if curve is None or curve.upper is None or curve.vacuous_above is None:
        return False
    return all(bound >= curve.vacuous_above for bound in curve.upper)


def _refuted(implication: Implication, measured: Finding) -> Finding:
    """A violation that was seen in float64 and follows, too."""
    if measured.evidence is not Evidence.FLOAT64:
        return measured
    return replace(
        measured,
        evidence=Evidence.PROVED,
        detail=f"That it is false here follows from {implication}. Measured: {measured.detail}",
    )


def _follows(claim: Claim, implication: Implication) -> str:
    if implication.sources == (claim.id,):
        return f"Proved for every dataset that meets its assumptions, as this one does exactly ({implication.proof})."
    return f"Follows from {implication}."


def _speaks(claim: Claim, run: BaseRun[Any]) -> bool:
    """Whether the statement is about something that the dataset has, whatever was run of it."""
    try:
        return claim.absent(run) is None
    except BeyondTheRun:
        return False


def _why_not(claim: Claim, measured: Finding, reasons: list[str]) -> str:
    if reasons:
        return f"Not by proof: {'; '.join(dict.fromkeys(reasons))}."
    if measured.verdict is Verdict.VIOLATED:
        return "Not by proof: it is a run that violates it."
    if claim.standing.status is Status.REFUTED:
        return "Not by proof: the statement is refuted, by other data."
    return f"Not by proof: the statement is {claim.standing.status}; not known is {claim.standing.settles}."
