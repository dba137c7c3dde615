"""Verdicts: an audit's finding on one statement and one dataset."""

import json
import math
import sys
from collections.abc import Mapping
from dataclasses import Field, dataclass, field, fields
from enum import Flag, StrEnum, auto
from typing import Any, Literal

from marginaudit.claims.values.json_data import finite
from marginaudit.claims.values.numbers import bound, brief
from marginaudit.claims.values.reportable import (
    READERS,
    Number,
    Step,
    Unreportable,
    plain_column,
    plain_number,
    plain_steps,
    unreportable,
)
from marginaudit.orders.notebook import html_table, in_json

LEAST = sys.float_info.min
"""The least float with all its digits: a bound of it says > 0, and one of its negative < 0."""

LONGEST_DETAIL = 5000
"""Characters of a detail or a witness that a notebook shows."""


class Verdict(StrEnum):
    """The outcomes, worst first."""

    VIOLATED = "violated"
    BROKEN = "broken"
    INCONCLUSIVE = "inconclusive"
    VACUOUS = "vacuous"
    NOT_APPLICABLE = "not-applicable"
    HOLDS = "holds"


class Evidence(StrEnum):
    """How sure a verdict is, surest first.

    A proof for every step, which this project has or of which a paper from elsewhere says so; rational arithmetic or a
    checked certificate; an enclosure; float64 with error bars.
    """

    PROVED = "proved"
    PROVED_BY_AUTHOR = "proved by its author"
    EXACT = "exact"
    CERTIFIED = "certified"
    FLOAT64 = "float64"

    @property
    def by_proof(self) -> bool:
        """Whether it is a proof."""
        return self in (Evidence.PROVED, Evidence.PROVED_BY_AUTHOR)


def weakest(*evidence: Evidence) -> Evidence:
    """The least sure of several.

    >>> print(weakest(Evidence.EXACT, Evidence.FLOAT64, Evidence.CERTIFIED))
    float64
    """
    return max(evidence, key=list(Evidence).index)


class Output(Flag):
    """Outputs in which a field of a row is a column."""

    JSON = auto()
    """report.json."""
    FRAME = auto()
    """`to_dataframe`."""
    CSV = auto()
    """verdicts.csv and verdicts.parquet."""
    TABLE = auto()
    """A few columns for readers: the terminal, LaTeX, Markdown, a notebook."""
    SWEEP = auto()
    """``CLAIM:column`` of a sweep that audits."""
    KEPT = auto()
    """What comparisons read, and the fixture `bound_constants` keeps."""


ALL_ROWS = Output.JSON | Output.FRAME | Output.CSV

EVERYWHERE = ALL_ROWS | Output.TABLE | Output.SWEEP | Output.KEPT


def column(outputs: Output) -> dict[str, Output]:
    """Metadata of a dataclass field that is a column of these outputs."""
    return {"outputs": outputs}


def columns(row: type, output: Output) -> "tuple[Field[Any], ...]":
    """The fields of a row that are columns of an output.

    >>> [known.name for known in columns(Finding, Output.TABLE)]
    ['verdict', 'evidence', 'measured', 'bound', 'slack', 'informative_from']
    """
    return tuple(known for known in fields(row) if output in known.metadata.get("outputs", Output(0)))


@dataclass(frozen=True)
class Curve:
    """The measured quantity along the steps, for plots, with its bounds or the limit that is predicted.

    Values are natural; a bound that is not finite is left as it is. ``part`` names the part of a statement of several.

    Raises
    ------
    Unreportable
        A column is none of numbers, or they differ in length.
    """

    step: list[Any]
    measured: list[float]
    upper: list[float] | None = None
    lower: list[float] | None = None
    vacuous_above: float | None = None
    clock: str = "t"
    predicted: float | None = None
    part: str = ""

    def __post_init__(self) -> None:
        """Make its columns lists of plain numbers."""
        for name in ("clock", "part"):
            if not isinstance(text := getattr(self, name), str):
                raise unreportable(text, f"curve.{name}", "text")
        columns = {name: getattr(self, name) for name in ("measured", "upper", "lower")}
        plain = {name: plain_column(f"curve.{name}", given) for name, given in columns.items() if given is not None}
        plain["step"] = plain_steps("curve.step", self.step)
        if len(set(map(len, plain.values()))) > 1:
            raise Unreportable("returned a curve whose columns have not one number a step")
        numbers = {name: plain_number(f"curve.{name}", getattr(self, name)) for name in ("vacuous_above", "predicted")}
        self.__dict__.update(plain | numbers)


@dataclass(frozen=True)
class Finding:
    """A verdict with its numbers, as a judgement gives it.

    Attributes
    ----------
    verdict : Verdict
    evidence : Evidence
    measured, bound : float or None
        At the worst entry: the one with the least room between the two, of those where the statement speaks and, if
        the run has any, its bound says something. None where the run has none where it speaks, as slack and worst_step.
        5e-324, of slack too, stands for all that is smaller and not 0.
    slack : float or None
        There, above 1 where there is room: bound / measured under an upper bound, measured / bound above a lower one,
        and the other way round for negative numbers. None of an equality or a limit.
    side : "upper", "lower" or None
        Which bound these numbers are about; None where they are about none, as for an equality or a limit.
    constant : float or None
        For a statement that hides one: the tightest constant that makes it true on all that was run, the smallest
        for an upper bound and the largest for a lower one.
    repeats_within : float or None
        By how much, relative, slack and constant can come out worse in another run with the same error bars.
    worst_step, first_violation, informative_from : number or None
        Positions on the clock along which the statement was audited, integers where they are whole.
    beyond_the_run : bool
        Whether the statement speaks only of what lies beyond the run.
    needs : str
        Then from where it speaks, and where the run ends: ``T ≥ 8.3e+08, run has 900``.
    failed_assumption : str
        Of a statement that is not applicable, the name of the assumption, its own or of its source's setting, that
        fails on the dataset; "" where another reason makes it so.
    detail : str
        In words: the failed assumption with its witness, the allowance, the worst entry, the cause.
    witness : mapping or None
        The evidence against, as plain JSON data.
    curve : Curve or None
    left_out : str
        In words, which of the steps that the statement speaks of were not recorded, where recorded ones do not speak
        for them; an audit calls no statement true then that nothing else speaks for.

    Raises
    ------
    Unreportable
        It has NaN for a number, or parts that are no number, no text or no JSON.

    >>> Finding(Verdict.HOLDS, measured=float("nan"))
    Traceback (most recent call last):
    marginaudit.claims.values.reportable.Unreportable: returned NaN as measured
    """

    verdict: Verdict = field(metadata=column(EVERYWHERE))
    evidence: Evidence = field(default=Evidence.FLOAT64, metadata=column(EVERYWHERE))
    measured: Number = field(default=None, metadata=column(EVERYWHERE))
    bound: Number = field(default=None, metadata=column(ALL_ROWS | Output.TABLE | Output.KEPT))
    slack: Number = field(default=None, metadata=column(EVERYWHERE))
    constant: Number = field(default=None, metadata=column(Output.JSON | Output.FRAME | Output.SWEEP | Output.KEPT))
    worst_step: Step = field(default=None, metadata=column(ALL_ROWS))
    first_violation: Step = field(default=None, metadata=column(ALL_ROWS))
    informative_from: Step = field(default=None, metadata=column(EVERYWHERE))
    detail: str = field(default="", metadata=column(ALL_ROWS))
    side: Literal["upper", "lower"] | None = field(default=None, metadata=column(ALL_ROWS | Output.SWEEP | Output.KEPT))
    repeats_within: Number = field(default=None, metadata=column(Output.JSON | Output.SWEEP | Output.KEPT))
    beyond_the_run: bool = field(default=False, metadata=column(Output.JSON | Output.KEPT))
    needs: str = field(default="", metadata=column(Output.JSON))
    failed_assumption: str = field(default="", metadata=column(ALL_ROWS))
    witness: Mapping[str, Any] | None = field(default=None, metadata=column(Output.JSON))
    curve: Curve | None = field(default=None, repr=False)
    left_out: str = field(default="", repr=False)

    def __post_init__(self) -> None:
        """Make its numbers and texts plain, and check the rest."""
        texts = [known.name for known in fields(Finding) if known.type is str]
        try:
            verdict, evidence = Verdict(self.verdict), Evidence(self.evidence)
            document = {"witness": finite(self.witness), **{name: getattr(self, name) for name in texts}}
            text = json.dumps(document, ensure_ascii=False)
            text.encode()
        except (TypeError, ValueError, RecursionError) as error:
            raise Unreportable(f"returned a Finding that JSON cannot hold: {error}") from None
        plain: dict[str, Any] = {"verdict": verdict, "evidence": evidence, **json.loads(text)}
        for name in texts:
            if not isinstance(plain[name], str):
                raise unreportable(plain[name], name, "text")
        if not isinstance(plain["witness"], dict | None):
            raise unreportable(plain["witness"], "witness", "a mapping")
        if not isinstance(self.curve, Curve | None):
            raise unreportable(self.curve, "curve", "a Curve")
        if self.side not in ("upper", "lower", None):
            raise unreportable(self.side, "side", "upper, lower or None")
        for known in fields(Finding):
            if known.type in READERS:
                plain[known.name] = READERS[known.type](known.name, getattr(self, known.name))
        self.__dict__.update(plain | {"beyond_the_run": bool(self.beyond_the_run)})

    def _repr_html_(self) -> str:
        shown = {
            name: value
            for name, value in vars(self).items()
            if value is not None and value is not False and value not in ("", (), {})
        }
        if self.witness is not None:
            shown["witness"] = in_json(self.witness)
        if self.bound is not None and not self.beyond_the_run:
            shown["bound"] = bound(shown | {"side": self.side})
        rows = [
            (name, value) for name, value in shown.items() if name not in ("curve", "headroom", "left_out", "needs")
        ]
        return html_table("", (), rows, longest=LONGEST_DETAIL)


NO_NUMBERS: Mapping[str, Any] = {
    known.name: None for known in fields(Finding) if known.type == Number or known.name == "worst_step"
}
"""Replaces the numbers of a measurement that did not decide."""


def where_it_speaks(found: Finding, said: str) -> dict[str, Any]:
    """Changes to a finding whose numbers are from outside the statement's range: they move to the detail.

    Where it speaks and its bound says nothing yet, the verdict is `vacuous`, with the numbers from there. ``said`` is
    the detail so far.

    >>> found = Finding(Verdict.HOLDS, measured=2.0, bound=3.0, slack=1.5, worst_step=900, informative_from=1792314)
    >>> changes = where_it_speaks(found, "")
    >>> changes["measured"], changes["slack"], changes["worst_step"], changes["needs"]
    (None, None, None, 't ≥ 1792314')
    >>> print(changes["detail"])
    The run does not get to where the statement speaks; outside, at 900: measured 2, bound 3.
    """
    first, worst, violated = found.informative_from, found.worst_step, found.first_violation
    before = first is not None and worst is not None and worst < first and found.verdict is not Verdict.VACUOUS
    if found.curve is not None and found.curve.upper is not None and found.curve.lower is not None:
        before = False  # of two bounds one says something at the worst step
    violated_there = before and violated is not None and first is not None and violated < first
    if violated_there or not (before or found.beyond_the_run):
        return {}
    numbers = {"measured": found.measured, "bound": found.bound}
    there = ", ".join(f"{name} {number:.4g}" for name, number in numbers.items() if number is not None)
    outside = f"; outside, at {worst:.10g}: {there}" if there and worst is not None else ""
    end = max(found.curve.step) if found.curve and found.curve.step else None
    return {
        **NO_NUMBERS,
        "side": None,
        "beyond_the_run": True,
        "needs": found.needs or needed("t", first, end),
        "detail": f"{said} The run does not get to where the statement speaks{outside}.".strip(),
    }


def headroom(finding: Finding) -> tuple[float, ...]:
    """Powers of ten between the measured value and its bound, positive where the bound is kept.

    Two of a bound along steps: where it first says something, and at the end, in the tightest entry there. One of
    a bound that has a slack alone, none of a statement that is no bound or has no slack, nor of negative numbers, whose
    ratio is no such room.

    >>> curve = Curve([1, 10, 100], [1e-3, 1e-4, 1e-5], upper=[9.0, 1.0, 1.0], vacuous_above=2.0)
    >>> headroom(Finding(Verdict.HOLDS, side="upper", slack=1e4, worst_step=10, informative_from=5, curve=curve))
    (4.0, 5.0)
    """
    if finding.verdict is Verdict.VACUOUS or finding.side is None or finding.slack is None:
        return ()
    curve = finding.curve
    if curve is not None and (curve.upper is not None or curve.lower is not None):
        found: dict[float, float] = {}
        for at, step in enumerate(curve.step):
            if (powers := _powers(finding, curve, at)) is not None:
                found[step] = min(powers, found.get(step, powers))
        return (found[min(found)], found[max(found)]) if found else ()
    negative = any(number is not None and number < 0 for number in (finding.measured, finding.bound))
    if finding.slack <= 0 or negative:
        return ()
    return (math.log10(finding.slack),)


def _powers(finding: Finding, curve: Curve, at: int) -> float | None:
    """Powers of ten between an entry and its nearer bound; None where the statement does not apply or is vacuous."""
    measured = curve.measured[at]
    pairs = []
    if curve.upper is not None:
        if curve.vacuous_above is not None and curve.upper[at] >= curve.vacuous_above:
            return None
        pairs.append((measured, curve.upper[at]))
    if curve.lower is not None:
        pairs.append((curve.lower[at], measured))
    speaks = finding.informative_from is None or curve.step[at] >= finding.informative_from
    if not speaks or any(not (LEAST < small < math.inf and LEAST < large < math.inf) for small, large in pairs):
        return None
    return min(math.log10(large) - math.log10(small) for small, large in pairs)


def needed(of: str, least: float | None, there: float | None) -> str:
    """The size from which on a statement applies, and that of the run, in words.

    Nothing where no size is known to be enough.

    >>> needed("T", 831104000.5, 900), needed("t", 1e6, None), needed("t", None, 900), needed("t", math.inf, 900)
    ('T ≥ 8.311e+08, run has 900', 't ≥ 1e+06', '', '')
    """
    if least is None or math.isinf(least):
        return ""
    return f"{of} ≥ {brief(least)}" + ("" if there is None else f", run has {brief(there)}")


def not_applicable(detail: str, witness: Mapping[str, Any] | None = None, *, failed: str = "") -> Finding:
    """The statement says nothing about this dataset, as its tokens and samples show by themselves.

    ``failed`` is the assumption that fails on it.
    """
    return Finding(Verdict.NOT_APPLICABLE, Evidence.EXACT, detail=detail, witness=witness, failed_assumption=failed)
