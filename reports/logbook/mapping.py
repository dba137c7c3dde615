"""Verdicts of a report as the four outcomes of a reproduction, each with the rule behind it and the reason."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from marginaudit.claims.quotation import Form
from marginaudit.claims.standing import Status
from marginaudit.claims.values.numbers import brief
from marginaudit.claims.verdict import Evidence, Verdict

Document = Mapping[str, Any]
"""A claim, or a row, of report.json."""

SURE = (Evidence.EXACT, Evidence.CERTIFIED, Evidence.PROVED)
"""Evidence of a violation that needs no second computation."""

FITTED = ("hidden constant", "one constant over", "limit", "rate")
"""Parts of the names of kinds of statements that a finite run cannot refute."""


class Outcome(StrEnum):
    """Outcome of the reproduction of a claim."""

    VERIFIED = "verified"
    FALSIFIED = "falsified"
    TOY = "toy"
    INCONCLUSIVE = "inconclusive"


class Rule(StrEnum):
    """Rules from a row to an outcome, the deciding one of several rows first."""

    VIOLATED_SURELY = "violated, with exact, certified or proved numbers on both sides, and the premises met"
    VIOLATED_FIT_REFUTED = "violated fit of O(.), limit or rate, refuted by a proof"
    VIOLATED_TWICE = "violated in float64, and by a second computation"
    VIOLATED_FIT = "violated fit of O(.), limit or rate, without a proof"
    VIOLATED_ONCE = "violated in float64 or on samples, without a second computation"
    CARRIED_OVER = "measured on a run that is not known to be the paper's algorithm"
    BROKEN = "broken"
    PROVED = "holds, and is proved"
    PROVED_HERE = "holds, and is proved for this dataset alone"
    UNDECIDED = "inconclusive"
    AT_SCALE = "holds at the paper's own scale, and a control is violated"
    NO_CONTROL = "holds, but no control is violated"
    REDUCED = "holds, but not at the paper's own scale"
    VACUOUS = "vacuous"
    NOT_CHECKED = "not checked"
    NOT_APPLICABLE = "not applicable"

    @property
    def outcome(self) -> Outcome:
        """Outcome by this rule."""
        return OUTCOMES.get(self, Outcome.INCONCLUSIVE)


OUTCOMES: Mapping[Rule, Outcome] = {
    Rule.VIOLATED_SURELY: Outcome.FALSIFIED,
    Rule.VIOLATED_FIT_REFUTED: Outcome.FALSIFIED,
    Rule.VIOLATED_TWICE: Outcome.FALSIFIED,
    Rule.PROVED: Outcome.VERIFIED,
    Rule.PROVED_HERE: Outcome.VERIFIED,
    Rule.AT_SCALE: Outcome.VERIFIED,
    Rule.NO_CONTROL: Outcome.TOY,
    Rule.REDUCED: Outcome.TOY,
    Rule.VACUOUS: Outcome.TOY,
}
"""Outcome by rule; all others are inconclusive."""


@dataclass(frozen=True)
class Result:
    """Outcome of a claim.

    Attributes
    ----------
    rule : the rule that decides
    row : the deciding row, None without rows
    reason : in words
    """

    rule: Rule
    row: Document | None
    reason: str

    @property
    def outcome(self) -> Outcome:
        """Outcome of the claim."""
        return self.rule.outcome


def rule_of(claim: Document, row: Document, *, controlled: bool, second: str = "", proved: bool = False) -> Rule:
    """Rule for one row of a claim.

    Parameters
    ----------
    claim, row : of report.json
    controlled : whether a control of the claim is violated
    second : a second computation that also finds the violation; "" for none
    proved : whether a proof by this project covers every dataset

    Raises
    ------
    ValueError
        The claim is a control, whose violation is no finding.
    """
    if claim["form"] == Form.CONTROL or claim["control_of"] or row["control_of"]:
        raise ValueError(f"claim {claim['id']}: got a control, expected a statement of a paper")
    verdict = Verdict(row["verdict"])
    if verdict in BY_VERDICT:
        return BY_VERDICT[verdict]
    if row["premise"] != "met":
        return Rule.CARRIED_OVER
    if verdict is Verdict.VIOLATED:
        return _violated(claim, row, second)
    if verdict is Verdict.VACUOUS:
        return Rule.VACUOUS
    if proved or row["evidence"] == Evidence.PROVED:
        return Rule.PROVED_HERE if claim["standing"] == Status.REFUTED else Rule.PROVED
    if not controlled:
        return Rule.NO_CONTROL
    return Rule.AT_SCALE if row["scale"] == "paper" else Rule.REDUCED


BY_VERDICT = {
    Verdict.BROKEN: Rule.BROKEN,
    Verdict.INCONCLUSIVE: Rule.UNDECIDED,
    Verdict.NOT_CHECKED: Rule.NOT_CHECKED,
    Verdict.NOT_APPLICABLE: Rule.NOT_APPLICABLE,
}


def _violated(claim: Document, row: Document, second: str) -> Rule:
    refuted = claim["standing"] == Status.REFUTED and claim["proof"]
    if any(part in row["kind"] for part in FITTED):
        return Rule.VIOLATED_FIT_REFUTED if refuted or row["evidence"] == Evidence.PROVED else Rule.VIOLATED_FIT
    if row["evidence"] in SURE:
        return Rule.VIOLATED_SURELY
    return Rule.VIOLATED_TWICE if second else Rule.VIOLATED_ONCE


def outcome_of(
    claim: Document,
    rows: Sequence[Document],
    controls: Sequence[Document],
    seconds: Mapping[str, str] | None = None,
    *,
    proved: bool = False,
    repaired: str = "",
) -> Result:
    """Outcome of a claim on all its datasets, by the first rule that applies to one of its rows.

    Parameters
    ----------
    claim : of report.json
    rows : of the claim
    controls : rows of its controls
    seconds : second computations by dataset
    proved : see `rule_of`
    repaired : re-derived statement of the report; "" for none
    """
    if not rows:
        return Result(Rule.NOT_CHECKED, None, "Not audited on any dataset.")
    controlled = any(row["verdict"] == Verdict.VIOLATED and row["premise"] == "met" for row in controls)
    known = seconds or {}
    found = [
        (rule_of(claim, row, controlled=controlled, second=known.get(row["dataset"], ""), proved=proved), row)
        for row in rows
    ]
    order = list(Rule)
    rule, row = min(found, key=lambda pair: order.index(pair[0]))
    return Result(rule, row, _reason(rule, claim, row, known.get(row["dataset"], ""), repaired))


def _reason(rule: Rule, claim: Document, row: Document, second: str, repaired: str) -> str:
    """Sentences on the outcome: rule, numbers, and for a false claim severity, repair and defence."""
    sentences = [f"{rule.value[:1].upper()}{rule.value[1:]} on {row['dataset']}: {_numbers(row)}."]
    if rule.outcome is Outcome.FALSIFIED:
        severity = claim["severity"] or "not graded: this audit found it"
        sentences.append(f"Severity: {severity}.")
        sentences += [f"Second computation: {_sentence(second)}"] if second and rule is Rule.VIOLATED_TWICE else []
        mended = claim["instead"] or repaired or _condition(claim["weakest"])
        sentences.append(f"Repaired statement: {_sentence(mended)}")
        sentences.append(f"Its authors could answer: {_sentence(claim['defence'] or 'no answer is on record')}")
        sentences.append(f"The clause: {_sentence(claim['quotation'] or claim['statement'])}")
    elif rule is Rule.PROVED_HERE:
        sentences.append(f"False on other datasets, {claim['severity'] or 'by a proof'}: {claim['proof'] or 'open'}.")
        sentences.append(f"Of all datasets: {_sentence(_condition(claim['weakest']))}")
    elif rule is Rule.PROVED:
        sentences.append(f"Proof: {claim['proof'] or 'named in the detail of the row'}.")
    elif rule is Rule.REDUCED:
        sentences.append(f"The scale is {row['scale'] or 'not stated'}.")
    elif rule.outcome is Outcome.INCONCLUSIVE:
        sentences.append(f"Because: {_sentence(row['detail'])}")
    return " ".join(sentences)


def _condition(weakest: str | None) -> str:
    """Weakest condition that makes a statement true, in words.

    >>> _condition("none: 1 is not 2"), _condition("K = M")
    ('no condition makes it true: 1 is not 2', 'true with K = M')
    """
    if not weakest:
        return "none is known"
    known = weakest.removeprefix("none")
    return f"true with {weakest}" if known == weakest else f"no condition makes it true{known}"


def _numbers(row: Document) -> str:
    """Both numbers of a row, exactly if known."""
    shown = [
        f"{name} {row[f'{name}_exact'] or brief(row[name])}"
        for name in ("measured", "bound")
        if row[name] is not None or row[f"{name}_exact"]
    ]
    return f"{', '.join(shown) or 'no numbers'} ({row['evidence']})"


def _sentence(text: str) -> str:
    stripped = text.strip()
    return stripped if stripped.endswith((".", "?", "!")) else f"{stripped}."
