"""Plain findings: what a claim's code returns, as JSON can hold it."""

import json
import math
from numbers import Integral, Real
from typing import Any

import numpy as np

from marginaudit.reports.json_data import finite
from marginaudit.reports.series import FARTHEST_STEP
from marginaudit.reports.verdict import Curve, Evidence, Finding, Verdict

NUMBERS = ("measured", "bound", "slack", "constant", "repeats_within")
STEPS = ("worst_step", "first_violation", "informative_from")


class Unreportable(ValueError):  # noqa: N818  (names what the finding is)
    """A claim's code returned what no report can hold; the message says what."""


def valid_finding(found: object) -> Finding:
    """The finding with plain numbers and texts in it.

    Raises
    ------
    Unreportable
        It is no finding, or has NaN for a number, or parts that are no number, no text or no JSON.

    >>> valid_finding(Finding(Verdict.HOLDS, measured=float("nan")))
    Traceback (most recent call last):
    marginaudit.reports.valid_finding.Unreportable: returned NaN as measured
    """
    if not isinstance(found, Finding):
        raise _unreportable(found, "", "a Finding")
    try:
        verdict, evidence = Verdict(found.verdict), Evidence(found.evidence)
        text = json.dumps([found.detail, found.left_out, found.needs, finite(found.witness)], ensure_ascii=False)
        text.encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise Unreportable(f"returned a Finding that JSON cannot hold: {error}") from None
    detail, left_out, needs, witness = json.loads(text)
    for name, value, kind, expected in (
        ("detail", detail, str, "text"),
        ("left_out", left_out, str, "text"),
        ("needs", needs, str, "text"),
        ("witness", witness, dict | None, "a mapping"),
        ("curve", found.curve, Curve | None, "a Curve"),
    ):
        if not isinstance(value, kind):
            raise _unreportable(value, name, expected)
    if found.side not in ("upper", "lower", None):
        raise _unreportable(found.side, "side", "upper, lower or None")
    numbers: dict[str, Any] = {name: _number(name, getattr(found, name)) for name in NUMBERS}
    steps: dict[str, Any] = {name: _step(name, getattr(found, name)) for name in STEPS}
    return Finding(
        verdict,
        evidence,
        side=found.side,
        beyond_the_run=bool(found.beyond_the_run),
        needs=needs,
        detail=detail,
        witness=witness,
        curve=None if found.curve is None else _curve(found.curve),
        left_out=left_out,
        **numbers,
        **steps,
    )


def _curve(curve: Curve) -> Curve:
    """Its columns as lists of one length."""
    if not isinstance(curve.clock, str):
        raise _unreportable(curve.clock, "curve.clock", "text")
    step = list(curve.step)
    whole = set(map(type, step)) == {int} and max(map(abs, step)) <= FARTHEST_STEP  # most are, and they are long
    plain = Curve(
        step=step if whole else [_step("curve.step", value) for value in step],
        measured=_column("curve.measured", curve.measured),
        upper=None if curve.upper is None else _column("curve.upper", curve.upper),
        lower=None if curve.lower is None else _column("curve.lower", curve.lower),
        vacuous_above=_number("curve.vacuous_above", curve.vacuous_above),
        clock=curve.clock,
        predicted=_number("curve.predicted", curve.predicted),
    )
    if len({len(column) for column in (step, plain.measured, plain.upper, plain.lower) if column is not None}) > 1:
        raise Unreportable("returned a curve whose columns have not one number a step")
    return plain


def _column(name: str, column: Any) -> list[float]:
    """Values of a curve, NaN where there is none."""
    try:
        values = np.array(column, dtype=float)
    except (TypeError, ValueError, OverflowError) as error:
        raise Unreportable(f"returned {name} that is no column of numbers: {error}") from None
    if values.ndim != 1:
        raise _unreportable(column, name, "a column of numbers")
    plain: list[float] = values.tolist()
    return plain


def _number(name: str, value: object) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, Real):
        raise _unreportable(value, name, "a number")
    try:
        number = float(value)
    except OverflowError:
        raise Unreportable(f"returned a number too large for float64 as {name}") from None
    if math.isnan(number):
        raise Unreportable(f"returned NaN as {name}")
    return number


def _step(name: str, value: object) -> int | float | None:
    """A position on a clock: an integer where it is whole."""
    if not isinstance(value, bool) and isinstance(value, Integral):
        if abs(int(value)) > FARTHEST_STEP:
            raise Unreportable(f"returned a whole number of more than {len(str(FARTHEST_STEP)) - 1} digits as {name}")
        return int(value)
    number = _number(name, value)
    if number is not None and math.isinf(number):
        raise Unreportable(f"returned an infinite position as {name}")
    whole = number is not None and number.is_integer() and abs(number) <= FARTHEST_STEP
    return int(number) if number is not None and whole else number


def _unreportable(value: object, name: str, expected: str) -> Unreportable:
    kind = "None" if value is None else f"a value of type {type(value).__name__}"
    return Unreportable(f"returned {kind}{f' as {name}' if name else ''}, expected {expected}")
