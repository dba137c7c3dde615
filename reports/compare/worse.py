"""Comparison of two rows of reports on the same claim and dataset."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf, log, log1p
from sys import float_info
from typing import Literal, TypeAlias

from marginaudit.claims.judgements import ALLOWANCE
from marginaudit.claims.row import ReportRow
from marginaudit.claims.verdict import Evidence, Verdict

NUMBERS = ("slack", "constant", "informative_from")

SCALES: dict[str, Sequence[str]] = {
    "premise": ("carried over", "met"),
    "verdict": tuple(Verdict),
    "evidence": tuple(reversed(Evidence)),
}
"""Grades by field, worst first."""

ChangeDirection: TypeAlias = Literal["worse", "gone", "added", "better"]

Difference: TypeAlias = tuple[str, str | float | None, str | float | None, bool, str]
"""Field, old value, new value, whether it is worse, and text."""


@dataclass(frozen=True)
class Change:
    """One difference between two reports on a claim and dataset.

    Attributes
    ----------
    dataset, claim : str
        The dataset with its settings.
    what : str
        ``premise``, ``verdict``, ``evidence``, the name of a number, or ``row`` for a row in only one report.
    direction : "worse", "gone", "added" or "better"
        A missing row is not worse; an added one is worse if violated or broken.
    text : str
        Message, with the tolerance of a number.
    """

    dataset: str
    claim: str
    what: str
    old: str | float | None
    new: str | float | None
    direction: ChangeDirection
    text: str


def worse(old: ReportRow, new: ReportRow, tolerance: float | None = None) -> str | None:
    """One-line reason why the new row is worse than the old one; None if it is not.

    Compares premise, then verdict. A control is worse if it is no longer violated, and otherwise not compared. For
    equal verdicts, also evidence and the ratios of three numbers: ``slack`` (worse if smaller), ``constant`` (worse if
    larger for an upper bound, smaller for a lower one) and ``informative_from`` (worse if larger). A missing number
    counts as worse, except a slack without a ratio: see `_no_ratio`.

    Parameters
    ----------
    tolerance : float or None
        Numbers are equal up to a factor of 1 + tolerance. By default the error bar of the old row, at least
        `ALLOWANCE`; an infinite one hides every change. Wider bars of the new row hide no change.

    >>> old = ReportRow(claim="c", dataset="d", verdict=Verdict.HOLDS, evidence=Evidence.EXACT, informative_from=10)
    >>> new = ReportRow(claim="c", dataset="d", verdict=Verdict.HOLDS, evidence=Evidence.FLOAT64, informative_from=11)
    >>> worse(old, new), worse(new, old)
    ('evidence: exact -> float64; informative_from: 10 -> 11 (tolerance 1e-09)', None)
    """
    return "; ".join(found.text for found in changes(old, new, tolerance) if found.direction == "worse") or None


def changes(old: ReportRow, new: ReportRow, tolerance: float | None = None) -> list[Change]:
    """Differences between two rows beyond their error bars; of a control, only in the verdict."""
    if new.control_of:
        was, now = old.verdict, new.verdict
        direction: ChangeDirection = "worse" if was == Verdict.VIOLATED else "better"
        text = f"verdict: {was} -> {now}"
        return [Change(new.place, new.claim, "verdict", was, now, direction, text)] if was != now else []
    return [
        Change(new.place, new.claim, what, was, now, "worse" if is_worse else "better", text)
        for what, was, now, is_worse, text in (*_grades(old, new), *_numbers(old, new, tolerance))
    ]


def _grades(old: ReportRow, new: ReportRow) -> Iterator[Difference]:
    for what, scale in SCALES.items():
        was, now = str(getattr(old, what)), str(getattr(new, what))
        if was != now:
            yield what, was, now, scale.index(now) < scale.index(was), f"{what}: {was} -> {now}"
            return


def _numbers(old: ReportRow, new: ReportRow, tolerance: float | None) -> Iterator[Difference]:
    """Differences in numbers of rows with equal verdicts.

    ``informative_from`` is compared only if both runs reached it, or neither did.
    """
    for what in NUMBERS if (old.verdict, old.premise) == (new.verdict, new.premise) else ():
        if what == "informative_from" and old.beyond_the_run is not new.beyond_the_run:
            continue
        rows = (old, new)
        was, now = (_room(row, what) for row in rows)
        before, after = (None if _room(row, what) is None else getattr(row, what) for row in rows)
        within, hidden_by = (_bar(row, what, tolerance) for row in rows)
        if was is None and now is None:
            continue
        if was is None:
            if hidden_by < inf and not _no_ratio(old, what):
                yield what, None, after, False, f"{what}: none -> {after:.10g}"
        elif within == inf:
            continue
        elif now is None:
            if not _no_ratio(new, what):
                yield what, before, None, True, f"{what}: {before:.10g} -> none"
        elif abs(now - was) > log1p(within):
            hidden = "" if abs(now - was) > log1p(hidden_by) else "; its new error bars hide it"
            text = f"{what}: {before:.10g} -> {after:.10g} (tolerance {within:.3g}{hidden})"
            yield what, before, after, now < was, text


def _no_ratio(row: ReportRow, what: str) -> bool:
    """Whether the slack is undefined: measured or bound is 0, they differ in sign, or their ratio overflows float64."""
    if what != "slack" or row.side is None or row.measured is None or row.bound is None:
        return False
    if min(row.measured, row.bound) <= 0 <= max(row.measured, row.bound):
        return True
    return abs(log(abs(row.bound)) - log(abs(row.measured))) > log(float_info.max)


def _room(row: ReportRow, what: str) -> float | None:
    """Logarithm of a number, signed so that larger is better; None if the number does not measure slack.

    These are slacks and constants without a side (of equalities and limits), and slacks across zero.
    """
    value: float | None = getattr(row, what)
    if value is None or value < 0 or (what == "slack" and value == 0):
        return None
    size = log(value) if value else -inf
    if what == "informative_from":
        return -size
    if row.side is None:
        return None
    return -size if what == "constant" and row.side == "upper" else size


def _bar(row: ReportRow, what: str, tolerance: float | None) -> float:
    if tolerance is not None:
        return tolerance
    if what == "informative_from":
        return ALLOWANCE
    return inf if row.repeats_within is None else max(ALLOWANCE, row.repeats_within)
