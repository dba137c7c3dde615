"""Verdicts: an audit's finding on one statement and one dataset."""

import math
from collections.abc import Mapping
from dataclasses import Field, dataclass, field, fields
from enum import Flag, StrEnum, auto
from typing import Any, Literal, TypeAlias

from marginaudit.orders.notebook import html_table, in_json
from marginaudit.reports.grid import brief

LEAST = math.ulp(0.0)
"""The least positive float: a bound of it says > 0, and one of its negative < 0."""

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

    A proof for every step; rational arithmetic or a checked certificate; an enclosure; float64 with error bars.
    """

    PROVED = "proved"
    EXACT = "exact"
    CERTIFIED = "certified"
    FLOAT64 = "float64"


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

Number: TypeAlias = float | None

Step: TypeAlias = int | float | None
"""A position on a clock, an integer where it is whole."""


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

    Values are natural; a bound that is not finite is left as it is.
    """

    step: list[Any]
    measured: list[float]
    upper: list[float] | None = None
    lower: list[float] | None = None
    vacuous_above: float | None = None
    clock: str = "t"
    predicted: float | None = None


@dataclass(frozen=True)
class Finding:
    """A verdict with its numbers.

    Attributes
    ----------
    verdict : Verdict
    evidence : Evidence
    measured, bound : float or None
        At the worst entry: the one with the least room between the two, of those where the statement speaks and, if
        the run has any, its bound says something. None where the run has none where it speaks, as slack and worst_step.
    slack : float or None
        bound / measured there.
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
    refutes : bool
        Whether it is violated on data that meet the assumptions exactly, so that no proof of it can come.
    carried_over : bool
        Whether it is of recorded weights that are not the paper's algorithm's: then no premise is met, no proof speaks,
        and a violation says nothing of the statement.
    detail : str
        In words: the failed assumption with its witness, the allowance, the worst entry, the cause.
    room : tuple of float
        Powers of ten between measured and bound, see `headroom`; `Claim.judge` fills it in.
    witness : mapping or None
        The evidence against, as plain JSON data.
    curve : Curve or None
    left_out : str
        In words, which of the steps that the statement speaks of were not recorded, where they are more than a decade;
        an audit calls no statement true that nothing but recorded steps speaks for.
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
    beyond_the_run: bool = field(default=False, metadata=column(Output.JSON))
    needs: str = field(default="", metadata=column(Output.JSON))
    room: tuple[float, ...] = field(default=(), metadata=column(Output.JSON))
    witness: Mapping[str, Any] | None = field(default=None, metadata=column(Output.JSON))
    refutes: bool = False
    carried_over: bool = False
    curve: Curve | None = field(default=None, repr=False)
    left_out: str = field(default="", repr=False)

    def _repr_html_(self) -> str:
        shown = {
            name: value
            for name, value in vars(self).items()
            if value is not None and value is not False and value != ""
        }
        if self.witness is not None:
            shown["witness"] = in_json(self.witness)
        rows = [(name, value) for name, value in shown.items() if name not in ("curve", "room", "left_out", "needs")]
        return html_table("", (), rows, longest=LONGEST_DETAIL)


NO_NUMBERS: Mapping[str, Any] = {
    known.name: None for known in fields(Finding) if known.type == Number or known.name == "worst_step"
}
"""Replaces the numbers of a measurement that did not decide."""


def where_it_speaks(found: Finding) -> dict[str, Any]:
    """Changes to a finding whose numbers are from outside the statement's range: they move to the detail.

    Where it speaks and its bound says nothing yet, the verdict is `vacuous`, with the numbers from there.

    >>> found = Finding(Verdict.HOLDS, measured=2.0, bound=3.0, slack=1.5, worst_step=900, informative_from=1792314)
    >>> changes = where_it_speaks(found)
    >>> changes["measured"], changes["slack"], changes["worst_step"], changes["needs"]
    (None, None, None, 't ≥ 1792314')
    >>> print(changes["detail"])
    The run does not get to where the statement speaks; outside, at 900: measured 2, bound 3.
    """
    first, worst, violated = found.informative_from, found.worst_step, found.first_violation
    before = first is not None and worst is not None and worst < first and found.verdict is not Verdict.VACUOUS
    violated_there = before and violated is not None and first is not None and violated < first
    if violated_there or not (before or found.beyond_the_run):
        return {}
    numbers = {"measured": found.measured, "bound": found.bound}
    there = ", ".join(f"{name} {number:.4g}" for name, number in numbers.items() if number is not None)
    outside = f"; outside, at {worst:.10g}: {there}" if there and worst is not None else ""
    end = found.curve.step[-1] if found.curve and found.curve.step else None
    return {
        **NO_NUMBERS,
        "side": None,
        "beyond_the_run": True,
        "needs": found.needs or needed("t", first, end),
        "detail": f"{found.detail} The run does not get to where the statement speaks{outside}.".strip(),
    }


def headroom(finding: Finding) -> tuple[float, ...]:
    """Powers of ten between what was measured and its bound, positive where the bound is kept.

    Two of a bound along steps: where it first says something, and at the end. One of a bound that has a slack alone,
    none of a statement that is no bound or has no slack, nor of negative numbers, whose ratio is no such room.

    >>> curve = Curve([1, 10, 100], [1e-3, 1e-4, 1e-5], upper=[9.0, 1.0, 1.0], vacuous_above=2.0)
    >>> headroom(Finding(Verdict.HOLDS, side="upper", slack=1e4, worst_step=10, informative_from=5, curve=curve))
    (4.0, 5.0)
    """
    if finding.verdict is Verdict.VACUOUS or finding.side is None or finding.slack is None:
        return ()
    curve = finding.curve
    if curve is not None and (curve.upper is not None or curve.lower is not None):
        found = [powers for at in range(len(curve.step)) if (powers := _powers(finding, curve, at)) is not None]
        return (found[0], found[-1]) if found else ()
    negative = any(number is not None and number < 0 for number in (finding.measured, finding.bound))
    if finding.slack <= 0 or negative:
        return ()
    return (math.log10(finding.slack) * (1 if finding.side == "upper" else -1),)


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

    >>> needed("T", 831104000.5, 900), needed("t", 1e6, None), needed("t", None, 900)
    ('T ≥ 8.311e+08, run has 900', 't ≥ 1e+06', '')
    """
    if least is None:
        return ""
    return f"{of} ≥ {brief(least)}" + ("" if there is None else f", run has {brief(there)}")


def not_applicable(detail: str, witness: Mapping[str, Any] | None = None) -> Finding:
    """The statement says nothing about this dataset, as its tokens and samples show by themselves."""
    return Finding(Verdict.NOT_APPLICABLE, Evidence.EXACT, detail=detail, witness=witness)
