"""Verdicts by proof, valid for every t, with the measurement as a check on the proof."""

from typing import Any, Protocol

from marginaudit.claims.run import BaseRun
from marginaudit.claims.standing import Implication, Standing, Status, require_proof
from marginaudit.claims.verdict import NO_NUMBERS, Evidence, Finding, Verdict

FINAL = {Verdict.BROKEN, Verdict.NOT_APPLICABLE, Verdict.NOT_CHECKED}
"""Verdicts that proofs do not change: the statement does not apply, is not checked, or the measurement failed."""

OWN_PROOF = "{proved} for every dataset that meets its assumptions, as this one does exactly ({proof})."


def own_proof(proof: str, evidence: Evidence) -> str:
    """Sentence on a verdict by the statement's own proof."""
    return OWN_PROOF.format(proved=evidence.value.capitalize(), proof=proof)


class Statement(Protocol):
    """Interface of claims for verdicts by proof."""

    @property
    def id(self) -> str:
        """Id of the claim."""

    @property
    def standing(self) -> Standing:
        """Standing for all datasets."""

    @property
    def decided_by(self) -> tuple[Implication, ...] | None:
        """Own proof and implications; None for claims without a paper."""

    def applies_to(self, run: BaseRun[Any]) -> bool:
        """Whether the claim applies to the dataset."""


def by_proof(claim: Statement, run: BaseRun[Any], measured: Finding, detail: str) -> dict[str, Any]:
    """Changes to a finding by proofs; empty for claims without a paper.

    A verdict by proof has the evidence ``proved``, and also decides inconclusive measurements. A measurement that
    contradicts a proof makes the row ``broken``: the proof, its conditions or the measurement are wrong. Without a
    proof, "holds" becomes inconclusive if too many steps were not recorded, and the detail of float64 evidence has the
    reason. ``detail`` is the detail so far.
    """
    if measured.verdict in FINAL:
        return {}
    if claim.decided_by is None:
        exempt = run.own_steps and measured.evidence is Evidence.FLOAT64
        return {} if exempt else _as_recorded(run, measured, detail)
    reasons = []
    for implication in claim.decided_by:
        reason = _unmet(implication, run)
        if reason is not None:
            reasons.append(reason)
            continue
        require_proof(claim.id, implication.proof, implication.package)
        if implication.verdict is Verdict.HOLDS:
            return _holding(claim, run, implication, measured, detail)
        return _failing(claim, run, implication, measured, detail)
    changes = _as_recorded(run, measured, detail)
    if measured.evidence is Evidence.FLOAT64:
        changes["detail"] = f"{changes.get('detail', detail)} {_why_not(claim, measured, reasons)}".strip()
    return changes


def _as_recorded(run: BaseRun[Any], measured: Finding, detail: str) -> dict[str, Any]:
    """Changes for a statement that holds at the recorded steps only: inconclusive."""
    if measured.verdict is not Verdict.HOLDS or not measured.left_out:
        return {}
    needed = "20 steps a decade" if measured.evidence is Evidence.FLOAT64 else "every step, such as at=range(1, T + 1)"
    remedy = "" if run.lengths else f"; record {needed}"
    detail = (
        f"Not decided: no step from {measured.left_out} was recorded{remedy}. At the recorded steps it holds: {detail}"
    )
    return {"verdict": Verdict.INCONCLUSIVE, "detail": detail}


def _unmet(implication: Implication, run: BaseRun[Any]) -> str | None:
    """Reason why an implication does not apply to the run, or None; its assumptions must hold exactly."""
    if run.carried_over:
        return "the recorded run is not known to follow the algorithm of the proof"
    for name in implication.assumed:
        if not run.assumption(name).holds:
            return f"assumption {name} of its premises fails"
    return run.reservation(implication.assumed).rstrip(".") or implication.unmet(run)


def _holding(
    claim: Statement, run: BaseRun[Any], implication: Implication, measured: Finding, detail: str
) -> dict[str, Any]:
    """Changes for a statement proved true on this dataset."""
    own = implication.sources == (claim.id,)
    follows = own_proof(implication.proof, implication.evidence) if own else f"Follows from {implication}."
    if measured.verdict is Verdict.VIOLATED:
        detail = (
            f"THE MEASUREMENT VIOLATES A PROVED STATEMENT, so the measurement or the proof is wrong. {follows} {detail}"
        )
        return {"verdict": Verdict.BROKEN, "detail": detail}
    if measured.verdict is Verdict.INCONCLUSIVE:
        if not claim.applies_to(run):
            return {}
        detail = f"{follows} By itself the measurement is inconclusive: {detail}"
        verdict = Verdict.VACUOUS if _beyond_reach(measured) else Verdict.HOLDS
        return {"verdict": verdict, "evidence": implication.evidence, "detail": detail, **NO_NUMBERS}
    if measured.evidence is Evidence.EXACT:
        return {}
    more = {"evidence": implication.evidence, "measurement": measured.evidence}
    return more | {"detail": f"{follows} Measured, {measured.evidence}: {detail}"}


def _beyond_reach(measured: Finding) -> bool:
    """Whether the bound exceeds the quantity's range at every measured step."""
    curve = measured.curve
    if curve is None or curve.upper is None or curve.vacuous_above is None:
        return False
    return all(bound >= curve.vacuous_above for bound in curve.upper)


def _failing(
    claim: Statement, run: BaseRun[Any], implication: Implication, measured: Finding, detail: str
) -> dict[str, Any]:
    """Changes for a statement proved false on this dataset."""
    follows = f"That it is false here follows from {implication}."
    if measured.verdict is Verdict.VIOLATED:
        if measured.evidence is not Evidence.FLOAT64:
            return {}
        more = {"evidence": implication.evidence, "measurement": measured.evidence}
        return more | {"detail": f"{follows} Measured: {detail}"}
    if measured.verdict is Verdict.INCONCLUSIVE:
        if not claim.applies_to(run):
            return {}
        seen = "By itself the measurement is inconclusive"
    elif implication.unseen:
        seen = f"The measurement does not show it, as {implication.unseen}"
    else:
        detail = f"THE MEASUREMENT CONTRADICTS A PROOF, so the measurement or the proof is wrong. {follows} {detail}"
        return {"verdict": Verdict.BROKEN, "detail": detail}
    detail = f"{follows} {seen}: {detail}"
    return {"verdict": Verdict.VIOLATED, "evidence": implication.evidence, "detail": detail, **NO_NUMBERS}


def _why_not(claim: Statement, measured: Finding, reasons: list[str]) -> str:
    if reasons:
        return f"Not by proof: {'; '.join(dict.fromkeys(reasons))}."
    if measured.verdict is Verdict.VIOLATED:
        return "Not by proof: a measured run violates it."
    if claim.standing.status is Status.REFUTED:
        return "Not by proof: the statement is refuted, by other data."
    unknown = f"; unknown: {claim.standing.settles}" if claim.standing.settles else ""
    return f"Not by proof: the statement is {claim.standing.status}{unknown}."
