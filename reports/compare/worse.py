"""Compare a row of a report with an earlier one of the same claim and dataset."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import inf, log, log1p
from typing import Literal, TypeAlias

from marginaudit.reports.judgements import ALLOWANCE
from marginaudit.reports.row import ReportRow, slack
from marginaudit.reports.verdict import Evidence, Verdict

NUMBERS = ("slack", "constant", "informative_from")

SCALES: dict[str, Sequence[StrEnum]] = {"verdict": tuple(Verdict), "evidence": tuple(reversed(Evidence))}
"""Worst first."""

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
        ``verdict``, ``evidence``, the name of a number, or ``row`` where only one report has such a row.
    old, new : str, float or None
    direction : "worse", "gone", "added" or "better"
        A row that is gone is not worse.
    text : str
        In words, with the tolerance of a number.
    """

    dataset: str
    claim: str
    what: str
    old: str | float | None
    new: str | float | None
    direction: Literal["worse", "gone", "added", "better"]
    text: str


def worse(old: ReportRow, new: ReportRow, tolerance: float | None = None) -> str | None:
    """Say in one line why the new row is worse than the old one; None where it is not.

    Compared are the verdict, and of the same verdict the evidence and three numbers, on one side and by their ratio,
    with no absolute floor: ``slack`` (worse downwards for an upper bound, upwards for a lower one), ``constant`` (the
    other way round) and ``informative_from`` (upwards). A number that is lost is worse, but for a slack across zero.

    Parameters
    ----------
    tolerance : float or None
        Numbers that differ by a factor of up to 1 + tolerance are the same. None for the wider error bar of the two
        rows, and never less than `ALLOWANCE`: an unbounded bar hides every change.

    >>> old = ReportRow(claim="c", dataset="d", verdict=Verdict.HOLDS, evidence=Evidence.EXACT, informative_from=10)
    >>> new = ReportRow(claim="c", dataset="d", verdict=Verdict.HOLDS, evidence=Evidence.FLOAT64, informative_from=11)
    >>> worse(old, new), worse(new, old)
    ('evidence: exact -> float64; informative_from: 10 -> 11 (tolerance 1e-09)', None)
    """
    return "; ".join(found.text for found in changes(old, new, tolerance) if found.direction == "worse") or None


def changes(old: ReportRow, new: ReportRow, tolerance: float | None = None) -> list[Change]:
    """Differences between two rows beyond their error bars."""
    return [
        Change(new.place, new.claim, what, was, now, "worse" if is_worse else "better", text)
        for what, was, now, is_worse, text in (*_grades(old, new), *_numbers(old, new, tolerance))
    ]


def _grades(old: ReportRow, new: ReportRow) -> Iterator[Difference]:
    for what, scale in SCALES.items():
        was, now = getattr(old, what), getattr(new, what)
        if was is not now:
            yield what, was.value, now.value, scale.index(now) < scale.index(was), f"{what}: {was} -> {now}"
            return


def _numbers(old: ReportRow, new: ReportRow, tolerance: float | None) -> Iterator[Difference]:
    """The numbers of rows with one verdict; where a statement speaks from, of two runs that got there, or did not."""
    for what in NUMBERS if old.verdict is new.verdict else ():
        if what == "informative_from" and old.beyond_the_run is not new.beyond_the_run:
            continue
        was, now = _room(old, what), _room(new, what)
        before, after = (None if room is None else _shown(row, what) for room, row in ((was, old), (now, new)))
        allowed = [_bar(row, what, tolerance) for room, row in ((was, old), (now, new)) if room is not None]
        if was is not None and now is not None and abs(now - was) > log1p(max(allowed)):
            text = f"{what}: {before:.10g} -> {after:.10g} (tolerance {max(allowed):.3g})"
            yield what, before, after, now < was, text
        elif len(allowed) == 1 and allowed[0] < inf and not _across_zero(what, old if was is None else new):
            text = f"{what}: none -> {after:.10g}" if was is None else f"{what}: {before:.10g} -> none"
            yield what, before, after, now is None, text


def _across_zero(what: str, row: ReportRow) -> bool:
    """Whether a row has no slack because measured or bound is 0 or they differ in sign, which is no loss."""
    return what == "slack" and row.side is not None and row.measured is not None and row.bound is not None


def _shown(row: ReportRow, what: str) -> float | None:
    """The number as tables show it: a slack above 1 is room, whatever the bound's side."""
    found: float | None = getattr(row, what)
    return slack({"slack": found, "side": row.side, "measured": row.measured}) if what == "slack" else found


def _room(row: ReportRow, what: str) -> float | None:
    """Logarithm of a number, signed so that more is better; None where the number measures no slack.

    That is a slack or a constant without a side, as of an equality or a limit, and a slack across zero.
    """
    value = getattr(row, what)
    if value is None or value < 0 or (what == "slack" and value == 0):
        return None
    size = log(value) if value else -inf
    if what == "informative_from":
        return -size
    if row.side is None:
        return None
    negative = what == "slack" and row.measured is not None and row.measured < 0
    upwards = (row.side == "upper") == (what == "slack")
    return size if upwards is not negative else -size


def _bar(row: ReportRow, what: str, tolerance: float | None) -> float:
    if tolerance is not None:
        return tolerance
    if what == "informative_from":
        return ALLOWANCE
    return inf if row.repeats_within is None else max(ALLOWANCE, row.repeats_within)
