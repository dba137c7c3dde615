"""What a claim's own code hands back, checked before it enters a report."""

import json
import math
from dataclasses import replace
from numbers import Integral, Real

from marginaudit.reports.answers import finite
from marginaudit.reports.verdict import Evidence, Finding, Verdict

NUMBERS = ("measured", "bound", "slack")
STEPS = ("worst_step", "first_violation", "informative_from")


class Unreportable(ValueError):  # noqa: N818  (names what the finding is)
    """A claim's code returned what no report can hold; the message says what."""


def checked(found: object) -> Finding:
    """The finding with plain numbers in it.

    Raises
    ------
    Unreportable
        It is no finding, or has NaN for a number, or parts that are no number, no text or no JSON.

    >>> checked(Finding(Verdict.HOLDS, measured=float("nan")))
    Traceback (most recent call last):
    marginaudit.reports.checked.Unreportable: returned NaN as measured
    """
    if not isinstance(found, Finding):
        raise Unreportable(f"returned {_kind(found)}, expected a Finding")
    try:
        verdict, evidence = Verdict(found.verdict), Evidence(found.evidence)
    except ValueError as error:
        raise Unreportable(f"returned a Finding of no such kind: {error}") from None
    if not isinstance(found.detail, str):
        raise Unreportable(f"returned {_kind(found.detail)} as detail, expected text")
    try:
        json.dumps([found.detail, finite(found.witness)], ensure_ascii=False, allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise Unreportable(f"returned a detail or a witness that is no JSON: {error}") from None
    numbers = {name: _number(name, getattr(found, name)) for name in NUMBERS}
    steps = {name: _step(name, getattr(found, name)) for name in STEPS}
    return replace(found, verdict=verdict, evidence=evidence, **numbers, **steps)  # type: ignore[arg-type]


def _number(name: str, value: object) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, Real):
        raise Unreportable(f"returned {_kind(value)} as {name}, expected a number")
    try:
        number = float(value)
    except OverflowError:
        raise Unreportable(f"returned a number too large for float64 as {name}") from None
    if math.isnan(number):
        raise Unreportable(f"returned NaN as {name}")
    return number


def _step(name: str, value: object) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise Unreportable(f"returned {_kind(value)} as {name}, expected a whole number")
    return int(value)


def _kind(value: object) -> str:
    return "None" if value is None else f"a value of type {type(value).__name__}"
