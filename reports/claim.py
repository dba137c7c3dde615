"""A claim: one statement of a paper as data, with the rule that judges it."""

import json
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from marginaudit.orders import ASSUMPTIONS, printable
from marginaudit.reports.verdict import Finding, Verdict, not_applicable

if TYPE_CHECKING:
    from marginaudit.reports.run import Run

ASSUMPTION_1 = ("collocation", "injective", "next_from_sentence", "well_defined_orders", "no_confused_tokens")
ASSUMPTION_2 = ("orthonormal",)
ASSUMPTION_3 = ("optimal_majority",)


class Judgement(Protocol):
    """The kind of a statement: see `marginaudit.reports.judgements`."""

    @property
    def kind(self) -> str:
        """In words, for the reader of a report."""

    def judge(self, run: "Run") -> Finding:
        """The verdict on a run that meets the claim's assumptions."""


@dataclass(frozen=True)
class ProofCondition:
    """A condition that only the proof of a statement uses, not the statement."""

    text: str
    holds: "Callable[[Run], bool]"


@dataclass(frozen=True)
class Claim:
    """One statement of a paper.

    Attributes
    ----------
    id : str
        Stable name, ``paper.statement``.
    source : str
        Paper and theorem, equation or lemma.
    statement : str
        The statement in words and plain symbols, as it is audited.
    formula : str
        The statement in LaTeX.
    assumptions : tuple of str
        Names of predicates of `marginaudit.orders.ASSUMPTIONS`.
    judgement : Judgement
    absent : from a run to the reason why it has nothing of which the statement speaks, or None
    proof_uses : tuple of ProofCondition

    Raises
    ------
    ValueError
        An assumption has no predicate of its name.
    """

    id: str
    source: str
    statement: str
    formula: str
    assumptions: tuple[str, ...]
    judgement: Judgement
    absent: "Callable[[Run], str | None]" = field(default=lambda _: None)
    proof_uses: tuple[ProofCondition, ...] = ()

    def __post_init__(self) -> None:
        for name in self.assumptions:
            if name not in ASSUMPTIONS:
                raise ValueError(
                    f"claim {self.id}: got the assumption {name!r}, expected one of {', '.join(ASSUMPTIONS)}"
                )

    def judge(self, run: "Run") -> Finding:
        """The verdict on a run; a claim whose own code fails is `broken`, and says how."""
        for name in self.assumptions:
            assumption = run.assumption(name)
            if not assumption.holds:
                witness = json.dumps(assumption.witness, ensure_ascii=False)
                return not_applicable(f"Assumption {name} fails: {printable(witness)}.", assumption.witness)
        try:
            reason = self.absent(run)
            if reason is not None:
                return not_applicable(reason)
            finding = self.judgement.judge(run)
        except Exception as error:
            place = traceback.extract_tb(error.__traceback__)[-1]
            return Finding(
                Verdict.BROKEN,
                detail=f"{type(error).__name__}: {printable(str(error))} (in {place.name}, line {place.lineno}).",
            )
        return self._with_proof_conditions(run, finding)

    def _with_proof_conditions(self, run: "Run", finding: Finding) -> Finding:
        if not self.proof_uses or finding.verdict is Verdict.NOT_APPLICABLE:
            return finding
        notes = [
            f"The proof also uses {condition.text}: "
            + (
                "met by this run, so the verdict is the same with it and without."
                if condition.holds(run)
                else "not met by this run; with it the statement would say nothing here, and the verdict is without it."
            )
            for condition in self.proof_uses
        ]
        return Finding(**{**finding.__dict__, "detail": " ".join([finding.detail, *notes])})


class Ledger(Mapping[str, Claim]):
    """Claims by id, in the order of registration.

    Raises
    ------
    ValueError
        Two claims have one id.
    """

    def __init__(self, claims: Iterable[Claim]) -> None:
        self._claims: dict[str, Claim] = {}
        for claim in claims:
            if claim.id in self._claims:
                raise ValueError(f"two claims have the id {claim.id!r}")
            self._claims[claim.id] = claim

    def __getitem__(self, key: str) -> Claim:
        return self._claims[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._claims)

    def __len__(self) -> int:
        return len(self._claims)
