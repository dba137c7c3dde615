"""A claim: one statement of a paper as data, with the rule that judges it."""

import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import redirect_stdout, suppress
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol

from marginaudit.claims.box import Box, require_box
from marginaudit.claims.by_proof import by_proof
from marginaudit.claims.predicates import Predicate, split
from marginaudit.claims.quotation import UNQUOTED, Form, SourceWords
from marginaudit.claims.row import ReportRow
from marginaudit.claims.run import BaseRun
from marginaudit.claims.standing import OPEN, Implication, Standing
from marginaudit.claims.values.error_text import error_place, error_text
from marginaudit.claims.values.json_data import witness_text
from marginaudit.claims.values.reportable import Unreportable, unreportable
from marginaudit.claims.verdict import Evidence, Finding, Verdict, headroom, not_applicable, outside_to_detail
from marginaudit.orders import Assumption, counted, printable, shown
from marginaudit.orders.notebook import html_table

NOT_STATED = ("not stated",)
"""Default for unstated assumptions; a claim that needs none has ``()``."""

IN_DOLLARS = re.compile(r"\$([^$]+)\$")
"""A formula in a text."""

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
"""Pattern of a claim's id, which is part of file names."""

EXPECTED: dict[type, str] = {str: "text", tuple: "a tuple of names", Standing: "a Standing", SourceWords: "SourceWords"}
"""Names of types in error messages."""

FIELDS: dict[str, type] = {
    "id": str,
    "source": str,
    "statement": str,
    "formula": str,
    "instead": str,
    "paper": str,
    "theorem": str,
    "control_of": str,
    "defence": str,
    "assumptions": tuple,
    "setting": tuple,
    "standing": Standing,
    "source_words": SourceWords,
}
"""Types checked when a claim is made, so that a report can hold it."""


class NotJudged(Exception):  # noqa: N818  (no error: the statement does not cover such a run)
    """The statement does not apply to this kind of run."""


class BeyondTheRun(Exception):  # noqa: N818  (as above)
    """The statement is about steps that the run lacks or does not record."""


class NotFollowed(BeyondTheRun):
    """Float64 overflow or underflow; a proof may still decide the statement."""


class NotRecorded(NotFollowed):
    """The run has or records no step that the statement covers."""


class Judgement(Protocol):
    """The kind of a statement: see `marginaudit.claims.judgements`."""

    @property
    def kind(self) -> str:
        """Name of the kind for the reader of a report."""

    def judge(self, run: Any) -> Finding:
        """The verdict on a run, or an instance, that meets the claim's assumptions."""


def undecided(reason: BeyondTheRun, judgement: Any, run: BaseRun[Any]) -> Finding:
    """Inconclusive, with the reason, and the step from which a bound is informative if a formula gives it."""
    first = None
    if isinstance(reason, NotRecorded) and hasattr(judgement, "informative_from"):
        with suppress(Exception):  # a formula with missing inputs
            first = judgement.informative_from(run)
    return Finding(Verdict.INCONCLUSIVE, detail=f"Not decided: {printable(str(reason))}.", informative_from=first)


@dataclass(frozen=True)
class ProofCondition:
    """A condition used by the proof of a statement, but not stated."""

    text: str
    holds: Callable[[Any], bool]


@dataclass(frozen=True, kw_only=True)
class Claim:
    """One statement of a paper.

    Attributes
    ----------
    id : str
        Stable name, ``paper.statement``: letters, digits, dots, hyphens and underscores.
    source : str
        Paper and theorem, equation or lemma.
    statement : str
        The statement in words and plain symbols, as it is audited.
    formula : str
        The statement in LaTeX; "" if it says no more than ``statement``, whose plain symbols the page typesets.
    assumptions : tuple of str, or of predicates
        Names of predicates of the paper's kind of dataset; ``()`` for a statement about any dataset. A claim about
        runs that leaves them out is `broken`. A claim about instances has functions from an instance to True or
        False, whose names are kept.
    setting : tuple of str
        Names of further predicates of the data in the source's setting. Outside the setting the claim is not
        applicable, unless a more general proof shows that it holds.
    absent : callable, run -> reason why it lacks the statement's subject, or None
    theorem : str
        Name of the theorem, such as "Theorem 4.1(3)"; "" to find it in ``source``.
    control_of : str
        For a false twin of another claim, the id of that claim: a control, to be violated by an audit that works.
    scale : "paper", "reduced" or None
        Whether the sizes are those of the source, or smaller ones; None if unstated.
    defence : str
        A fair author's answer to a violation, in one line; "" for that of the standing.
    box : mapping from names to `integers`, `floats` or `vectors`
        Parameters of the instances among which `marginaudit hunt` searches for a counterexample.
    predicates : mapping
        The functions among the assumptions, by name; filled in.
    instead : str
        The true statement in place of a violated one, with its proof, formulas in LaTeX between dollar signs; ""
        if unknown.
    paper : str
        The name of the claim's paper; "" for any paper whose datasets define its assumptions.
    standing : Standing
        Standing over every dataset; open by default.
    source_words : SourceWords
        Quotation of the source, its place and reading; empty by default.
    implications : tuple of Implication
        Proofs and refutations of it on data that meet a condition.
    made : tuple
        Internal data that `dataclasses.replace` passes from a claim to its copy; never passed otherwise. A copy with
        another id, statement, assumptions or judgement is another statement: it does not inherit standing or
        implications, which are given anew.
    decided_by : tuple of Implication, or None
        Its own proof, then its implications, filled in by its paper. None for a claim without a paper, such as a copy
        of a paper's claim by `dataclasses.replace`.

    Raises
    ------
    ValueError
        The id is malformed, a text is not a string, or the judgement is not a `Judgement`.
    """

    id: str
    source: str
    statement: str
    formula: str = ""
    assumptions: tuple[Any, ...] = NOT_STATED
    setting: tuple[str, ...] = ()
    judgement: Judgement
    absent: Callable[[Any], str | None] = field(default=lambda _: None)
    proof_uses: tuple[ProofCondition, ...] = ()
    instead: str = ""
    paper: str = ""
    theorem: str = ""
    control_of: str = ""
    scale: Literal["paper", "reduced"] | None = None
    defence: str = ""
    standing: Standing = OPEN
    source_words: SourceWords = UNQUOTED
    implications: tuple[Implication, ...] = field(default=(), repr=False)
    box: Box = field(default_factory=dict, repr=False)
    predicates: Mapping[str, Predicate] = field(default_factory=dict, repr=False)
    made: tuple[Any, ...] = field(default=(), repr=False, compare=False)
    decided_by: tuple[Implication, ...] | None = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self._refuse_what_is_none()
        self._name_assumptions()
        identity = self.id, self.statement, self.assumptions
        if self.made:
            of, judgement, standing, implications = self.made
            if of != identity or judgement is not self.judgement:
                if self.standing is standing:
                    object.__setattr__(self, "standing", OPEN)
                if self.implications is implications:
                    object.__setattr__(self, "implications", ())
        object.__setattr__(self, "made", (identity, self.judgement, self.standing, self.implications))

    def _refuse_what_is_none(self) -> None:
        for name, expected in FIELDS.items():
            value = getattr(self, name)
            if not isinstance(value, expected):
                self._refuse(f"{shown(value)} as {name}", EXPECTED[expected])
        if not NAME.fullmatch(self.id):
            self._refuse(f"{shown(self.id)} as id", "letters, digits, dots, hyphens and underscores")
        judge, kind = (getattr(self.judgement, name, None) for name in ("judge", "kind"))
        if not (callable(judge) and isinstance(kind, str)):
            self._refuse(f"{shown(self.judgement)} as judgement", "one of marginaudit.claims.judgements")

    def _name_assumptions(self) -> None:
        """Replace functions among the assumptions by their names, and check the box."""
        try:
            names, functions = split(self.assumptions)
            require_box(self.box)
        except ValueError as error:
            raise ValueError(f"claim {printable(self.id)}: {error}") from None
        object.__setattr__(self, "assumptions", names)
        object.__setattr__(self, "predicates", {**self.predicates, **functions})

    @property
    def form(self) -> Form:
        """Form of the statement; a twin of another claim is a control, whatever is quoted."""
        return Form.CONTROL if self.control_of else self.source_words.form

    def assumption(self, run: BaseRun[Any], name: str) -> Assumption:
        """Check an assumption: a function of the claim's own, or a predicate of the run's kind."""
        if name in self.predicates:
            return run.checked(name, self.predicates[name])
        return run.assumption(name)

    @property
    def asked(self) -> tuple[str, ...]:
        """All requirements on the data: its assumptions and its source's setting."""
        return (*self.assumptions, *self.setting)

    @property
    def formulas(self) -> tuple[str, ...]:
        """All its LaTeX formulas: the statement's, if given, and those in ``instead``."""
        return (*filter(None, [self.formula]), *IN_DOLLARS.findall(self.instead))

    def _refuse(self, got: str, expected: str) -> None:
        raise ValueError(f"claim {printable(str(self.id))}: got {got}, expected {expected}")

    def judge(self, run: BaseRun[Any]) -> ReportRow:
        """The verdict on a run, from assumptions, missing data, the judgement and proofs, in this order.

        For a recorded run that is not known to follow the paper's algorithm, measurements of its weights are carried
        over without proofs. A claim with failing code is `broken`, with the error. The code's prints go to standard
        error.
        """
        started = time.perf_counter()
        run.begin()
        found, notes = self._measured(run)
        changes: dict[str, Any] = {"detail": " ".join(filter(None, (found.detail, *notes)))}
        changes |= outside_to_detail(found, changes["detail"])
        changes |= by_proof(self, run, found, changes["detail"])
        changes |= self._outside(run, vars(found) | changes)
        if "slack" not in changes:
            changes["headroom"] = headroom(found)
        verdict = changes.get("verdict", found.verdict)
        if run.carried_over and verdict is not Verdict.NOT_APPLICABLE:
            changes["detail"] = f"{changes['detail']} {run.undecided}".strip()
            changes |= {"evidence": Evidence.FLOAT64, "premise": "carried over", **run.sampled}
        else:
            changes["refutes"] = verdict is Verdict.VIOLATED and not run.reservation(self.assumptions)
        seconds = float(f"{time.perf_counter() - started:.3g}")
        return self.row(run, **vars(found) | changes, seconds=seconds)

    def row(self, run: BaseRun[Any], **found: Any) -> ReportRow:
        """Report row for a finding on a run's dataset."""
        found |= {"kind": self.judgement.kind, "standing": self.standing.status.value, "source": self.source}
        found |= {"form": self.form.value, "control_of": self.control_of or None, "scale": self.scale}
        found["quantifier"] = getattr(self.judgement, "quantifier", "all")
        if found.get("evidence") is not Evidence.SAMPLED:
            found |= {"confidence": None, "samples": None, "seed": None}
        return ReportRow(claim=self.id, dataset=run.dataset.name, **found)

    def applies_to(self, run: BaseRun[Any]) -> bool:
        """Whether the dataset has the statement's subject, for any run."""
        try:
            return self.absent(run.subject) is None
        except NotFollowed:
            return True
        except BeyondTheRun:
            return False

    def _measured(self, run: BaseRun[Any]) -> tuple[Finding, list[str]]:
        """The judgement's finding, or the reason for the lack of one, with notes for its detail."""
        if self.assumptions == NOT_STATED:
            return Finding(Verdict.BROKEN, detail="It does not state its assumptions; for none, assumptions=()."), []
        try:
            with redirect_stdout(sys.stderr):
                unmet = self._unmet(run)
                return self._judge(run) if unmet is None else (unmet, [])
        except NotJudged as reason:
            return not_applicable(f"Not judged: {printable(str(reason))}."), []
        except BeyondTheRun as reason:
            return undecided(reason, self.judgement, run.subject), []
        except Unreportable as fault:
            failure = f"Its code {printable(str(fault))}."
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            failure = f"{error_text(error)} ({error_place(error)})."
        return Finding(Verdict.BROKEN, detail=failure + self._not_assumed(run)), []

    def _unmet(self, run: BaseRun[Any]) -> Finding | None:
        """Finding for a failing assumption, else for an undecided one; None if all hold."""
        open_one = None
        for name in self.assumptions:
            assumption = self.assumption(run, name)
            if not assumption.holds:
                witness = printable(witness_text(assumption.witness))
                if not assumption.undecided:
                    detail = f"Assumption {name} fails: {witness}."
                    return not_applicable(detail, assumption.witness, failed=name)
                detail = f"Not decided: error bars leave open whether assumption {name} holds: {witness}."
                open_one = Finding(Verdict.INCONCLUSIVE, detail=detail, witness=assumption.witness)
        return open_one

    def _outside(self, run: BaseRun[Any], found: Mapping[str, Any]) -> dict[str, Any]:
        """Changes to a finding on data outside the source's setting, where only a proof can decide."""
        if found["verdict"] in (Verdict.BROKEN, Verdict.NOT_APPLICABLE):
            return {}
        unmet = next((one for name in self.setting if not (one := self.assumption(run, name)).holds), None)
        if unmet is None:
            return {}
        failed, witness = unmet.name, unmet.witness
        outside = f"Outside the source's setting, as {failed} fails: {printable(witness_text(witness))}."
        if found["evidence"].by_proof and found["verdict"] is not Verdict.VIOLATED:
            return {"detail": f"{found['detail']} {outside}"}
        there = f"There it would be {found['verdict']}: {found['detail']}"
        return vars(not_applicable(f"{outside} {there}", witness, failed=failed))

    def _judge(self, run: BaseRun[Any]) -> tuple[Finding, list[str]]:
        reason: Any = self.absent(run.subject)
        if reason is None:
            found: Any = run.judged(self.judgement)
            if not isinstance(found, Finding):
                raise unreportable(found, "", "a Finding")
            if found.evidence.by_proof:
                raise Unreportable(f"returned the evidence {found.evidence}, which a standing alone gives")
            evidence = max(found.evidence, run.surest(self.assumptions), key=list(Evidence).index)
            notes = [*self._proof_conditions(run, found.verdict), run.reservation(self.assumptions)]
            return replace(found, evidence=evidence), notes
        if not isinstance(reason, str) or not reason.strip():
            raise Unreportable(f"returned {shown(reason)} from absent, expected a reason in words, or None")
        return not_applicable(reason), []

    def _not_assumed(self, run: BaseRun[Any]) -> str:
        """Note on failing assumptions that the claim does not state but may need."""
        failing = [name for name, assumption in run.assumptions.items() if not assumption.holds]
        return f" Not assumed by the claim, and failing here: {', '.join(failing)}." if failing else ""

    def _proof_conditions(self, run: BaseRun[Any], verdict: Verdict) -> list[str]:
        """Note on whether the run meets each condition used only by the proof."""
        if run.carried_over or verdict is Verdict.NOT_APPLICABLE:
            return []
        return [
            f"The proof also uses {condition.text}: "
            + (
                "met by this run, so it does not affect the verdict."
                if condition.holds(run)
                else "not met by this run. With it the statement would not apply here; the verdict ignores it."
            )
            for condition in self.proof_uses
        ]


class Ledger(Mapping[str, Claim]):
    """Claims by id, in the order of registration.

    Attributes
    ----------
    instances : named instances of their file, by name

    Raises
    ------
    ValueError
        Two claims have the same id.
    """

    def __init__(self, claims: Iterable[Claim], instances: Mapping[str, Any] | None = None) -> None:
        self.instances = dict(instances or {})
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

    def _repr_html_(self) -> str:
        rows = [(claim.id, claim.standing.status, claim.statement) for claim in self.values()]
        return html_table(counted(len(self), "claim"), ("claim", "for every dataset", "statement"), rows)
