"""Verdicts: an audit's finding on one statement and one dataset."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Literal

from marginaudit.orders.notebook import html_table, in_json
from marginaudit.reports.grid import brief

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
        Powers of ten between measured and bound (`marginaudit.reports.audit.headroom`); an audit fills it in.
    witness : mapping or None
        The evidence against, as plain JSON data.
    curve : Curve or None
    left_out : str
        In words, which of the steps that the statement speaks of were not recorded, where they are more than a decade;
        an audit calls no statement true that nothing but recorded steps speaks for.
    """

    verdict: Verdict
    evidence: Evidence = Evidence.FLOAT64
    measured: float | None = None
    bound: float | None = None
    slack: float | None = None
    side: Literal["upper", "lower"] | None = None
    constant: float | None = None
    repeats_within: float | None = None
    worst_step: int | float | None = None
    first_violation: int | float | None = None
    informative_from: int | float | None = None
    beyond_the_run: bool = False
    needs: str = ""
    refutes: bool = False
    carried_over: bool = False
    detail: str = ""
    room: tuple[float, ...] = ()
    witness: Mapping[str, Any] | None = None
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


def where_it_speaks(found: Finding) -> Finding:
    """The finding with numbers from where the statement speaks, else with none and what was measured in the detail.

    Where it speaks and its bound says nothing yet, the verdict is `vacuous`, with the numbers from there.

    >>> found = where_it_speaks(
    ...     Finding(Verdict.HOLDS, measured=2.0, bound=3.0, slack=1.5, worst_step=900, informative_from=1792314)
    ... )
    >>> found.measured, found.slack, found.worst_step, found.needs
    (None, None, None, 't ≥ 1792314')
    >>> print(found.detail)
    The run does not get to where the statement speaks; outside, at 900: measured 2, bound 3.
    """
    first, worst, violated = found.informative_from, found.worst_step, found.first_violation
    before = first is not None and worst is not None and worst < first and found.verdict is not Verdict.VACUOUS
    violated_there = before and violated is not None and first is not None and violated < first
    if violated_there or not (before or found.beyond_the_run):
        return found
    numbers = {"measured": found.measured, "bound": found.bound}
    there = ", ".join(f"{name} {number:.4g}" for name, number in numbers.items() if number is not None)
    outside = f"; outside, at {worst:.10g}: {there}" if there and worst is not None else ""
    none: dict[str, Any] = dict.fromkeys(
        ("measured", "bound", "slack", "side", "constant", "repeats_within", "worst_step")
    )
    return replace(
        found,
        **none,
        beyond_the_run=True,
        needs=found.needs or needed("t", first, found.curve.step[-1] if found.curve and found.curve.step else None),
        detail=f"{found.detail} The run does not get to where the statement speaks{outside}.".strip(),
    )


def needed(of: str, least: float | None, there: float | None) -> str:
    """From which size on a statement speaks, and which the run has.

    >>> needed("T", 831104000.5, 900), needed("t", 1e6, None), needed("t", None, 900)
    ('T ≥ 8.311e+08, run has 900', 't ≥ 1e+06', '')
    """
    if least is None:
        return ""
    return f"{of} ≥ {brief(least)}" + ("" if there is None else f", run has {brief(there)}")


def not_applicable(detail: str, witness: Mapping[str, Any] | None = None) -> Finding:
    """The statement says nothing about this dataset, as its tokens and samples show by themselves."""
    return Finding(Verdict.NOT_APPLICABLE, Evidence.EXACT, detail=detail, witness=witness)
