"""Verdicts: the finding of an audit on one statement and one dataset.

The rule for each kind of statement is in `marginaudit.claims.judgements`: of a bound in `bounded`.
"""

import json
import math
import sys
from collections.abc import Iterable, Mapping
from dataclasses import Field, dataclass, field, fields
from enum import Flag, StrEnum, auto
from functools import cache
from itertools import groupby
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
"""Least normal float; as a bound it stands for > 0, and its negative for < 0."""

LONGEST_DETAIL = 5000
"""Longest detail or witness in a notebook, in characters."""


class Verdict(StrEnum):
    """Outcomes of an audit, worst first."""

    VIOLATED = "violated"
    BROKEN = "broken"
    INCONCLUSIVE = "inconclusive"
    NOT_CHECKED = "not-checked"
    VACUOUS = "vacuous"
    NOT_APPLICABLE = "not-applicable"
    HOLDS = "holds"


class Evidence(StrEnum):
    """Certainty of a verdict, surest first.

    A proof for every step, by this project or claimed by an external paper; rational arithmetic or a checked
    certificate; an enclosure; float64 with error bars; a random sample, with a confidence.
    """

    PROVED = "proved"
    PROVED_BY_AUTHOR = "proved by its author"
    EXACT = "exact"
    CERTIFIED = "certified"
    FLOAT64 = "float64"
    SAMPLED = "sampled"

    @property
    def by_proof(self) -> bool:
        """Whether the evidence is a proof."""
        return self in (Evidence.PROVED, Evidence.PROVED_BY_AUTHOR)


def weakest(*evidence: Evidence) -> Evidence:
    """The weakest of several pieces of evidence.

    >>> print(weakest(Evidence.EXACT, Evidence.FLOAT64, Evidence.CERTIFIED))
    float64
    """
    return max(evidence, key=list(Evidence).index)


class Output(Flag):
    """Outputs with a column for a field of a row."""

    JSON = auto()
    """report.json."""
    FRAME = auto()
    """`to_dataframe`."""
    CSV = auto()
    """verdicts.csv and verdicts.parquet."""
    TABLE = auto()
    """Short tables: terminal, LaTeX, Markdown, notebook."""
    SWEEP = auto()
    """``CLAIM:column`` of a sweep with audits."""
    KEPT = auto()
    """Columns read by `compare` and stored by the `bound_constants` fixture."""


ALL_ROWS = Output.JSON | Output.FRAME | Output.CSV

EVERYWHERE = ALL_ROWS | Output.TABLE | Output.SWEEP | Output.KEPT


def column(outputs: Output) -> dict[str, Output]:
    """Metadata of a dataclass field that is a column of these outputs."""
    return {"outputs": outputs}


@cache  # asked for each row
def columns(row: type, output: Output) -> "tuple[Field[Any], ...]":
    """Fields of a row that are columns of an output.

    >>> [known.name for known in columns(Finding, Output.TABLE)]
    ['verdict', 'evidence', 'measured', 'bound', 'slack', 'informative_from']
    """
    return tuple(known for known in fields(row) if output in known.metadata.get("outputs", Output(0)))


SHORT = 32
"""Entries of a longer curve in report.json, evenly spaced in the logarithm of their number."""

COLUMNS = ("measured", "upper", "lower", "measured_bar", "upper_bar", "lower_bar")
"""Columns of a curve beside its steps."""


@dataclass(frozen=True)
class Curve:
    """Measured quantity along the steps, for plots, with its bounds or predicted limit.

    Values are on the natural scale; bounds may be infinite. A bar is the error bar of each entry of its column.
    ``part`` names a part of a conjunction.

    Raises
    ------
    Unreportable
        A column does not consist of numbers, or columns differ in length.
    """

    step: list[Any]
    measured: list[float]
    upper: list[float] | None = None
    lower: list[float] | None = None
    vacuous_above: float | None = None
    clock: str = "t"
    predicted: float | None = None
    part: str = ""
    measured_bar: list[float] | None = None
    upper_bar: list[float] | None = None
    lower_bar: list[float] | None = None

    def __post_init__(self) -> None:
        """Convert columns to lists of plain numbers."""
        for name in ("clock", "part"):
            if not isinstance(text := getattr(self, name), str):
                raise unreportable(text, f"curve.{name}", "text")
        columns = {name: getattr(self, name) for name in COLUMNS}
        plain = {name: plain_column(f"curve.{name}", given) for name, given in columns.items() if given is not None}
        plain["step"] = plain_steps("curve.step", self.step)
        if len(set(map(len, plain.values()))) > 1:
            raise Unreportable("returned a curve whose columns have not one number a step")
        numbers = {name: plain_number(f"curve.{name}", getattr(self, name)) for name in ("vacuous_above", "predicted")}
        self.__dict__.update(plain | numbers)

    def as_document(self, *steps: Any) -> dict[str, Any]:
        """Plain JSON data: at most `SHORT` entries, and those at the given steps; non-finite numbers are null.

        >>> Curve([1, 2], [0.5, math.inf]).as_document()["measured"]
        [0.5, None]
        """
        count, wanted = len(self.step), set(steps)
        kept = set(range(count)) if count <= SHORT else {round(count ** (at / (SHORT - 1))) - 1 for at in range(SHORT)}
        kept |= {at for at, step in enumerate(self.step) if step in wanted}
        found: dict[str, Any] = {"entries": count}
        for known in fields(self):
            value = getattr(self, known.name)
            found[known.name] = finite([value[at] for at in sorted(kept)] if isinstance(value, list) else value)
        return found


@dataclass(frozen=True)
class Finding:
    """Verdict of a judgement, with its numbers.

    Attributes
    ----------
    measured, bound : float or None
        Values at the worst entry, the one with the least room among those to which the statement applies and, if there
        are any, with an informative bound. None, as slack and worst_step, if the statement applies to no entry.
        5e-324 stands for smaller positive numbers, also as a slack.
    slack : float or None
        bound / measured for an upper bound, measured / bound for a lower one, inverted for negative numbers; above 1
        there is room. None for equalities and limits.
    side : "upper", "lower" or None
        The bound of these numbers; None without one, as for equalities and limits.
    constant : float or None
        For a hidden constant: the tightest one valid on the whole run, smallest for an upper bound and largest for a
        lower one.
    repeats_within : float or None
        Relative amount by which slack and constant can be worse in another run with the same error bars.
    worst_step, first_violation, informative_from : number or None
        Positions on the statement's clock, integers if whole.
    beyond_the_run : bool
        Whether the statement applies only beyond the run.
    needs : str
        In that case, the start of its range and the end of the run: ``T ≥ 8.3e+08, run has 900``.
    failed_assumption : str
        For a statement that is not applicable, the name of the failed assumption, of the claim or of its source's
        setting; "" for another reason.
    confidence, samples, seed : numbers or None
        Of a sampled verdict: the probability with which its interval covers the true value, the number of independent
        samples, and the seed.
    measured_exact, bound_exact : str
        Of exact evidence, the two numbers as fractions ``p/q``; "" for other evidence and very long fractions.
    measurement : Evidence or None
        Of a verdict by proof, the evidence of the measurement beside it.
    detail : str
        Message: the failed assumption with its witness, the allowance, the worst entry, the cause.
    witness : mapping or None
        Witness of a violation, as plain JSON data.
    left_out : str
        Message on steps of the statement that recorded steps do not represent; with it, an audit accepts "holds" only
        by other evidence.

    Raises
    ------
    Unreportable
        A number is NaN, or a field has the wrong type or is not JSON.

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
    confidence: Number = field(default=None, metadata=column(ALL_ROWS | Output.KEPT))
    samples: Step = field(default=None, metadata=column(ALL_ROWS | Output.KEPT))
    seed: Step = field(default=None, metadata=column(ALL_ROWS | Output.KEPT))
    measured_exact: str = field(default="", metadata=column(Output.JSON))
    bound_exact: str = field(default="", metadata=column(Output.JSON))
    measurement: Evidence | None = field(default=None, metadata=column(Output.JSON))
    curve: Curve | None = field(default=None, repr=False, metadata=column(Output.JSON))
    left_out: str = field(default="", repr=False)

    def __post_init__(self) -> None:
        """Convert numbers and texts to plain types, and check the other fields."""
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
        if evidence is Evidence.SAMPLED and None in (self.confidence, self.samples):
            raise Unreportable("returned the evidence sampled without its confidence or number of samples")
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
    **dict.fromkeys(("measured", "bound", "slack", "constant", "repeats_within", "worst_step")),
    **dict.fromkeys(("measured_exact", "bound_exact"), ""),
}
"""Fields that remove the numbers of an undecided measurement."""


def outside_to_detail(found: Finding, detail: str) -> dict[str, Any]:
    """Changes to a finding with numbers from outside the statement's range: they move to the detail.

    Findings within the range, but with an uninformative bound, are `vacuous` and keep their numbers. ``detail`` is
    the detail so far.

    >>> found = Finding(Verdict.HOLDS, measured=2.0, bound=3.0, slack=1.5, worst_step=900, informative_from=1792314)
    >>> changes = outside_to_detail(found, "")
    >>> changes["measured"], changes["slack"], changes["worst_step"], changes["needs"]
    (None, None, None, 't ≥ 1792314')
    >>> print(changes["detail"])
    The statement starts after the last recorded step. At 900, before its start: measured 2, bound 3.
    """
    first, worst, violated = found.informative_from, found.worst_step, found.first_violation
    before = first is not None and worst is not None and worst < first and found.verdict is not Verdict.VACUOUS
    if found.curve is not None and found.curve.upper is not None and found.curve.lower is not None:
        before = False  # one of the two bounds is informative at the worst step
    violated_there = before and violated is not None and first is not None and violated < first
    if violated_there or not (before or found.beyond_the_run):
        return {}
    numbers = {"measured": found.measured, "bound": found.bound}
    there = ", ".join(f"{name} {number:.4g}" for name, number in numbers.items() if number is not None)
    outside = f" At {worst:.10g}, before its start: {there}." if there and worst is not None else ""
    end = max(found.curve.step) if found.curve and found.curve.step else None
    return {
        **NO_NUMBERS,
        "side": None,
        "beyond_the_run": True,
        "needs": found.needs or needed("t", first, end),
        "detail": f"{detail} The statement starts after the last recorded step.{outside}".strip(),
    }


def headroom(finding: Finding) -> tuple[float, ...]:
    """Powers of ten between the measured value and its bound, positive if the bound holds.

    Two numbers for a bound along steps: at its first informative step and at the end, for the tightest entry there. One
    for a bound with a slack only. Empty for other statements, without a slack, and for negative numbers.

    >>> curve = Curve([1, 10, 100], [1e-3, 1e-4, 1e-5], upper=[9.0, 1.0, 1.0], vacuous_above=2.0)
    >>> headroom(Finding(Verdict.HOLDS, side="upper", slack=1e4, worst_step=10, informative_from=5, curve=curve))
    (4.0, 5.0)
    """
    if finding.verdict is Verdict.VACUOUS or finding.side is None or finding.slack is None:
        return ()
    curve = finding.curve
    if curve is not None and (curve.upper is not None or curve.lower is not None):
        in_order = sorted(range(len(curve.step)), key=curve.step.__getitem__)
        ends = (_tightest(finding, curve, entries) for entries in (in_order, in_order[::-1]))
        return tuple(powers for powers in ends if powers is not None)
    negative = any(number is not None and number < 0 for number in (finding.measured, finding.bound))
    if finding.slack <= 0 or negative:
        return ()
    return (math.log10(finding.slack),)


def _tightest(finding: Finding, curve: Curve, entries: Iterable[int]) -> float | None:
    """Least powers at the first step with any, of entries with equal steps side by side."""
    for _, same in groupby(entries, key=curve.step.__getitem__):
        if found := [powers for at in same if (powers := _powers(finding, curve, at)) is not None]:
            return min(found)
    return None


def _powers(finding: Finding, curve: Curve, at: int) -> float | None:
    """Powers of ten between an entry and its nearer bound; None if the statement does not apply or is vacuous."""
    measured = curve.measured[at]
    pairs = []
    if curve.upper is not None:
        if curve.vacuous_above is not None and curve.upper[at] >= curve.vacuous_above:
            return None
        pairs.append((measured, curve.upper[at]))
    if curve.lower is not None:
        pairs.append((curve.lower[at], measured))
    informative = finding.informative_from is None or curve.step[at] >= finding.informative_from
    if not informative or any(not (LEAST < small < math.inf and LEAST < large < math.inf) for small, large in pairs):
        return None
    return min(math.log10(large) - math.log10(small) for small, large in pairs)


def needed(of: str, least: float | None, there: float | None) -> str:
    """Message with the least size for a statement to apply, and the run's size; "" if no sufficient size is known.

    >>> needed("T", 831104000.5, 900), needed("t", 1e6, None), needed("t", None, 900), needed("t", math.inf, 900)
    ('T ≥ 8.311e+08, run has 900', 't ≥ 1e+06', '', '')
    """
    if least is None or math.isinf(least):
        return ""
    return f"{of} ≥ {brief(least)}" + ("" if there is None else f", run has {brief(there)}")


def not_applicable(detail: str, witness: Mapping[str, Any] | None = None, *, failed: str = "") -> Finding:
    """Finding for a statement that does not apply to the dataset, by exact properties of the data.

    ``failed`` is the failed assumption.
    """
    return Finding(Verdict.NOT_APPLICABLE, Evidence.EXACT, detail=detail, witness=witness, failed_assumption=failed)
