"""What an audit says of one statement on one dataset."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal

from marginaudit.orders.notebook import html_table, in_json

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
    """The measured quantity and its bound along the steps, for plots and trajectory files.

    Values are natural; a bound that is not finite is left as it is.
    """

    step: list[Any]
    measured: list[float]
    upper: list[float] | None = None
    lower: list[float] | None = None
    vacuous_above: float | None = None
    clock: str = "t"


@dataclass(frozen=True)
class Finding:
    """A verdict with its numbers.

    Attributes
    ----------
    verdict : Verdict
    evidence : Evidence
    measured, bound : float or None
        At the worst entry: the one with the least room between the two.
    slack : float or None
        bound / measured there.
    side : "upper", "lower" or None
        Which bound these numbers are about; None where they are about none, as for an equality or a limit.
    constant : float or None
        For a statement that hides one: the tightest constant that makes it true on all that was run, the smallest
        for an upper bound and the largest for a lower one.
    repeats_within : float or None
        So much worse, relative, slack and constant can come out in another run with the same error bars.
    worst_step, first_violation, informative_from : number or None
        Positions on the clock along which the statement was audited, integers where they are whole.
    detail : str
        In words: the failed assumption with its witness, the allowance, the worst entry, the cause.
    room : tuple of float
        Powers of ten between what was measured and its bound (`marginaudit.reports.audit.room`); an audit fills it in.
    witness : mapping or None
        The evidence against, as plain JSON data.
    curve : Curve or None
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
    detail: str = ""
    room: tuple[float, ...] = ()
    witness: Mapping[str, Any] | None = None
    curve: Curve | None = field(default=None, repr=False)

    def _repr_html_(self) -> str:
        shown = {name: value for name, value in vars(self).items() if value not in (None, "")}
        if self.witness is not None:
            shown["witness"] = in_json(self.witness)
        rows = [(name, value) for name, value in shown.items() if name not in ("curve", "room")]
        return html_table("", (), rows, longest=LONGEST_DETAIL)


def not_applicable(detail: str, witness: Mapping[str, Any] | None = None) -> Finding:
    """The statement says nothing about this dataset, as its tokens and samples show by themselves."""
    return Finding(Verdict.NOT_APPLICABLE, Evidence.EXACT, detail=detail, witness=witness)
