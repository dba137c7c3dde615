"""Verdicts by proof: proved statements decide for every t; the measurement stays beside, as a check on the proof."""

from typing import Any, Protocol

from marginaudit.claims.run import BaseRun
from marginaudit.claims.standing import Implication, Standing, Status, require_proof
from marginaudit.claims.verdict import NO_NUMBERS, Evidence, Finding, Verdict

FINAL = {Verdict.BROKEN, Verdict.NOT_APPLICABLE}
"""Verdicts that no proof changes: the statement says nothing of the dataset, or nothing was measured."""

OWN_PROOF = "{proved} for every dataset that meets its assumptions, as this one does exactly ({proof})."


def own_proof(proof: str, evidence: Evidence) -> str:
    """Sentence that a statement's own proof decides it."""
    return OWN_PROOF.format(proved=evidence.value.capitalize(), proof=proof)


class Statement(Protocol):
    """A claim, as far as a proof concerns it."""

    @property
    def id(self) -> str:
        """Its name."""

    @property
    def standing(self) -> Standing:
        """Its standing for every dataset."""

    @property
    def decided_by(self) -> tuple[Implication, ...] | None:
        """Its own proof and implications; None for a claim of no paper."""

    def speaks(self, run: BaseRun[Any]) -> bool:
        """Whether it is about something that the dataset has."""


def by_proof(claim: Statement, run: BaseRun[Any], measured: Finding, said: str) -> dict[str, Any]:
    """Changes to a finding by proofs; none for a claim of no paper.

    A verdict that follows has the evidence ``proved``, and one that error bars hid is decided, either way. A
    measurement that contradicts what is proved makes the row ``broken``: the proof, its conditions or the measurement
    are wrong. Where nothing follows, recorded steps that leave out too many do not make a statement true; and where the
    evidence is float64, the detail says why. ``said`` is the detail so far.
    """
    if measured.verdict in FINAL:
        return {}
    if claim.decided_by is None:
        return _as_recorded(measured, said) if run.lengths or measured.evidence is not Evidence.FLOAT64 else {}
    reasons = []
    for implication in claim.decided_by:
        reason = _unmet(implication, run)
        if reason is not None:
            reasons.append(reason)
            continue
        require_proof(claim.id, implication.proof, implication.package)
        if implication.verdict is Verdict.HOLDS:
            return _holding(claim, run, implication, measured, said)
        return _failing(claim, run, implication, measured, said)
    changes = _as_recorded(measured, said)
    if measured.evidence is Evidence.FLOAT64:
        changes["detail"] = f"{changes.get('detail', said)} {_why_not(claim, measured, reasons)}".strip()
    return changes


def _as_recorded(measured: Finding, said: str) -> dict[str, Any]:
    """Inconclusive where it holds at the recorded steps, and these do not speak for all."""
    if measured.verdict is not Verdict.HOLDS or not measured.left_out:
        return {}
    detail = f"Not decided: no step from {measured.left_out} was recorded. Where steps were recorded, it holds: {said}"
    return {"verdict": Verdict.INCONCLUSIVE, "detail": detail}


def _unmet(implication: Implication, run: BaseRun[Any]) -> str | None:
    """Why the implication does not apply to the run, or None; its assumptions must hold exactly."""
    if run.carried_over:
        return "the recorded run is not known to be the algorithm of which it is proved"
    for name in implication.assumed:
        if not run.assumption(name).holds:
            return f"assumption {name} of what it would follow from fails"
    return run.reservation(implication.assumed).rstrip(".") or implication.unmet(run)


def _holding(
    claim: Statement, run: BaseRun[Any], implication: Implication, measured: Finding, said: str
) -> dict[str, Any]:
    """Changes where the statement is proved to be true here."""
    own = implication.sources == (claim.id,)
    follows = own_proof(implication.proof, implication.evidence) if own else f"Follows from {implication}."
    if measured.verdict is Verdict.VIOLATED:
        detail = f"THE MEASUREMENT VIOLATES WHAT IS PROVED, so one of the two is wrong. {follows} {said}"
        return {"verdict": Verdict.BROKEN, "detail": detail}
    if measured.verdict is Verdict.INCONCLUSIVE:
        if not claim.speaks(run):
            return {}
        detail = f"{follows} By itself the measurement is inconclusive: {said}"
        verdict = Verdict.VACUOUS if _beyond_reach(measured) else Verdict.HOLDS
        return {"verdict": verdict, "evidence": implication.evidence, "detail": detail, **NO_NUMBERS}
    if measured.evidence is Evidence.EXACT:
        return {}
    return {"evidence": implication.evidence, "detail": f"{follows} Measured, {measured.evidence}: {said}"}


def _beyond_reach(measured: Finding) -> bool:
    """Whether the bound exceeds the most that the quantity can reach at every step looked at."""
    curve = measured.curve
    if curve is None or curve.upper is None or curve.vacuous_above is None:
        return False
    return all(bound >= curve.vacuous_above for bound in curve.upper)


def _failing(
    claim: Statement, run: BaseRun[Any], implication: Implication, measured: Finding, said: str
) -> dict[str, Any]:
    """Changes where the statement is proved to be false here."""
    follows = f"That it is false here follows from {implication}."
    if measured.verdict is Verdict.VIOLATED:
        if measured.evidence is not Evidence.FLOAT64:
            return {}
        return {"evidence": implication.evidence, "detail": f"{follows} Measured: {said}"}
    if measured.verdict is Verdict.INCONCLUSIVE:
        if not claim.speaks(run):
            return {}
        seen = "By itself the measurement is inconclusive"
    elif implication.unseen:
        seen = f"The measurement does not show it, as {implication.unseen}"
    else:
        detail = f"THE MEASUREMENT CONTRADICTS WHAT IS PROVED, so one of the two is wrong. {follows} {said}"
        return {"verdict": Verdict.BROKEN, "detail": detail}
    detail = f"{follows} {seen}: {said}"
    return {"verdict": Verdict.VIOLATED, "evidence": implication.evidence, "detail": detail, **NO_NUMBERS}


def _why_not(claim: Statement, measured: Finding, reasons: list[str]) -> str:
    if reasons:
        return f"Not by proof: {'; '.join(dict.fromkeys(reasons))}."
    if measured.verdict is Verdict.VIOLATED:
        return "Not by proof: it is a run that violates it."
    if claim.standing.status is Status.REFUTED:
        return "Not by proof: the statement is refuted, by other data."
    unknown = f"; not known is {claim.standing.settles}" if claim.standing.settles else ""
    return f"Not by proof: the statement is {claim.standing.status}{unknown}."
