"""Existence: "there is a regime where ..": a witness is the proof."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, is_dataclass, replace
from typing import Any

from marginaudit.claims.claim import Judgement
from marginaudit.claims.instances.instance import Parameters, plain, values_of
from marginaudit.claims.judgements.parts import joint_confidence
from marginaudit.claims.verdict import Evidence, Finding, Verdict, weakest
from marginaudit.orders import counted


@dataclass(frozen=True)
class Exists:
    """Some candidate meets a statement.

    It holds if one does, the witness, with the evidence of that comparison. It is violated only if the candidates are
    all there are, and each violates the statement; else it is inconclusive. The errors of sampled candidates add up.

    Attributes
    ----------
    among : from an instance to candidates
        A dict of values replaces or extends the instance's own; any other candidate stands for the instance.
    judgement : Judgement
        The statement on one candidate.
    complete : bool
        Whether the candidates are all that the statement allows.
    """

    among: Callable[[Any], Iterable[Any]]
    judgement: Judgement
    complete: bool = False

    quantifier = "exists"

    @property
    def kind(self) -> str:
        """Name of the kind of statement for reports."""
        return f"existence: {self.judgement.kind}"

    def judge(self, given: Any) -> Finding:
        """Verdict on an instance, by the first witness."""
        tried: list[Finding] = []
        for candidate in self.among(given):
            found = self.judgement.judge(extended(given, candidate))
            tried.append(found)
            if found.verdict is Verdict.HOLDS:
                return _witnessed(found, candidate, tried)
        candidates = counted(len(tried), "candidate")
        if self.complete and tried and all(found.verdict is Verdict.VIOLATED for found in tried):
            evidence = weakest(*(found.evidence for found in tried))
            detail = f"None of {candidates}, which are all there are."
            return Finding(Verdict.VIOLATED, evidence, detail=detail, **joint_confidence(tried))
        left = " A search without a witness refutes nothing." if not self.complete else ""
        undecided = sum(found.verdict is not Verdict.VIOLATED for found in tried)
        more = f", {undecided} undecided" if undecided else ""
        return Finding(Verdict.INCONCLUSIVE, detail=f"No witness among {candidates}{more}.{left}")


def _witnessed(found: Finding, candidate: Any, tried: Sequence[Finding]) -> Finding:
    """The finding on a witness; a sampled one has the joint confidence of all candidates that were tried."""
    values = values_of(candidate) if isinstance(candidate, Mapping) or is_dataclass(candidate) else {"value": candidate}
    shown = ", ".join(f"{name} = {plain(value)}" for name, value in values.items())
    sampled = joint_confidence(tried) if found.evidence is Evidence.SAMPLED else {}
    detail = f"Witness, candidate {len(tried)}: {shown}. {found.detail}".rstrip()
    return replace(found, **sampled, witness=plain(values), detail=detail)


def extended(given: Any, values: Any) -> Any:
    """An instance with some values replaced or added; any other candidate stands for it.

    >>> extended({"L": 1}, {"K": 2})
    {'L': 1, 'K': 2}
    """
    if not isinstance(values, Mapping):
        return values
    if isinstance(given, Mapping):
        return Parameters({**given, **values})
    return replace(given, **values)
