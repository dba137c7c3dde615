"""Differences between a report and its recomputation, in values or beyond error bars."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from marginaudit.claims.judgements import ALLOWANCE
from marginaudit.claims.row import row_from_document
from marginaudit.reports.compare.worse import changes

SAME = "the same program"

COMPARED_APART = ("slack", "constant", "informative_from", "measured", "bound", "curve")
"""Numbers of a row that are compared within error bars."""

OF_ROUNDING = ("detail", "headroom", "repeats_within", "worst_step", "first_violation")
"""Fields that rounding can change, and so another processor or library."""

OF_VERSION = ("code", "hunted")
"""Fields of a claim that another version changes."""

NOT_COMPARED = ("seconds",)


@dataclass(frozen=True)
class Difference:
    """A value of a report that differs from its recomputation.

    Attributes
    ----------
    place : the dataset, claim or file
    what : path of the field in the entry of report.json
    bar : error bar of the comparison, if any
    way : how it was recomputed
    """

    place: str
    what: str
    stated: Any
    found: Any
    bar: float | None = None
    way: str = SAME


def place_of(row: Mapping[str, Any]) -> str:
    """Dataset and claim of a row, as a place."""
    return f"{row['dataset']}: {row['claim']}"


def leaves(stated: Any, found: Any, what: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Path and both values of each leaf in which two JSON documents differ; None for a missing one.

    >>> list(leaves({"a": [1, 2.0], "b": 1}, {"a": [1, 3.0], "c": None}))
    [('a/1', 2.0, 3.0), ('b', 1, None)]
    """
    if isinstance(stated, Mapping) and isinstance(found, Mapping):
        for key in dict.fromkeys([*stated, *found]):
            yield from leaves(stated.get(key), found.get(key), f"{what}/{key}" if what else str(key))
    elif isinstance(stated, list) and isinstance(found, list) and len(stated) == len(found):
        for at, pair in enumerate(zip(stated, found, strict=True)):
            yield from leaves(*pair, f"{what}/{at}")
    elif isinstance(stated, bool) is not isinstance(found, bool) or stated != found:
        yield what, stated, found


def row_differences(place: str, stated: Any, found: Any, *, exactly: bool) -> Iterator[Difference]:
    """Differences of a row: in every field, or else beyond error bars."""
    left = () if exactly else (*COMPARED_APART, *OF_ROUNDING)
    for what, one, other in leaves(_without(stated, *NOT_COMPARED, *left), _without(found, *NOT_COMPARED, *left)):
        yield Difference(place, what, one, other, row_bar(found, what) if what in ("measured", "bound") else None)
    if exactly:
        return
    for name in ("measured", "bound"):
        if not near(stated[name], found[name], bar := row_bar(found, name)):
            yield Difference(place, name, stated[name], found[name], bar)
    for change in changes(row_from_document(found, place), row_from_document(stated, place)):
        if change.what in COMPARED_APART:
            yield Difference(place, change.what, change.new, change.old)
    if stated["curve"] is not None and found["curve"] is not None:
        yield from curve_differences(place, stated["curve"], found["curve"])[1]


def curve_differences(place: str, stated: Any, found: Any, way: str = SAME) -> tuple[int, list[Difference]]:
    """Number of common steps of two curves, and their measured values that differ by more than both error bars."""
    own, known = _entries(stated), _entries(found)
    common = own.keys() & known.keys()
    differing = []
    for step in sorted(common):
        (value, bar), (other, its_bar) = own[step], known[step]
        both = (bar or 0.0) + (its_bar or 0.0)
        if not near(value, other, both + ROUNDING * abs(other or 0.0)):
            differing.append(Difference(place, f"measured at {step}", value, other, both, way))
    return len(common), differing


def _entries(curve: Any) -> dict[Any, tuple[Any, Any]]:
    """Measured value and error bar by step, of steps with one entry."""
    once, steps = Counter(curve["step"]), curve["step"]
    bars = curve["measured_bar"] or [None] * len(steps)
    pairs = zip(curve["measured"], bars, strict=True)
    return {step: pair for step, pair in zip(steps, pairs, strict=True) if once[step] == 1}


ROUNDING = 2.0**-50
"""Rounding of a number in report.json."""


def near(stated: float | None, found: float | None, bar: float) -> bool:
    """Whether two numbers agree within a bar.

    >>> near(1.0, 1.25, 0.5), near(1.0, 2.0, 0.5), near(None, None, 0.0), near(None, 1.0, 2.0)
    (True, False, True, False)
    """
    if stated is None or found is None:
        return stated is found
    return abs(stated - found) <= bar


def claim_differences(place: str, stated: Any, found: Any, *, exactly: bool) -> Iterator[Difference]:
    """Differences in a claim's texts and standing."""
    left = () if exactly else OF_VERSION
    for what, one, other in leaves(_without(stated, *left), _without(found, *left)):
        yield Difference(place, what, one, other)


def dataset_differences(place: str, stated: Any, found: Any, *, exactly: bool) -> Iterator[Difference]:
    """Differences in data, assumptions, facts and tables; floats of facts and tables only if ``exactly``."""
    for what, one, other in leaves(stated, found):
        floats = isinstance(one, float) and isinstance(other, float) and not what.startswith("data/")
        if exactly or not floats:
            yield Difference(place, what, one, other)


def _without(document: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in document.items() if name not in names}


def row_bar(row: Mapping[str, Any], name: str) -> float:
    """Error bar of a number of a row: that of the curve there, else the row's relative one, else the allowance."""
    value, curve = abs(row[name] or 0.0), row["curve"]
    column = "measured_bar" if name == "measured" else f"{row['side']}_bar"
    if curve is not None and curve.get(column) and row["worst_step"] in curve["step"]:
        bar = curve[column][curve["step"].index(row["worst_step"])]
        if bar is not None:
            return float(bar)
    return float(value * max(ALLOWANCE, row["repeats_within"] or 0.0))
