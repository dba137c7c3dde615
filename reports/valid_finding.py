"""Check what a claim's code returns, and make it plain for JSON."""

import json
import math
from collections.abc import Callable
from dataclasses import fields
from numbers import Integral, Real
from typing import Any

import numpy as np

from marginaudit.reports.json_data import finite
from marginaudit.reports.series import FARTHEST_STEP
from marginaudit.reports.verdict import Curve, Evidence, Finding, Number, Step, Verdict


class Unreportable(ValueError):  # noqa: N818  (names what the finding is)
    """A claim's code returned what no report can hold; the message says what."""


def plain_values(found: object) -> dict[str, Any]:
    """The fields of the finding that a judgement fills in, with plain numbers and texts in them.

    Raises
    ------
    Unreportable
        It is no finding, or has NaN for a number, or parts that are no number, no text or no JSON.

    >>> plain_values(Finding(Verdict.HOLDS, measured=float("nan")))
    Traceback (most recent call last):
    marginaudit.reports.valid_finding.Unreportable: returned NaN as measured
    """
    if not isinstance(found, Finding):
        raise _unreportable(found, "", "a Finding")
    texts = [known.name for known in fields(Finding) if known.type is str]
    try:
        verdict, evidence = Verdict(found.verdict), Evidence(found.evidence)
        document = {"witness": finite(found.witness), **{name: getattr(found, name) for name in texts}}
        text = json.dumps(document, ensure_ascii=False)
        text.encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise Unreportable(f"returned a Finding that JSON cannot hold: {error}") from None
    plain: dict[str, Any] = {"verdict": verdict, "evidence": evidence, "side": found.side, **json.loads(text)}
    for name in texts:
        if not isinstance(plain[name], str):
            raise _unreportable(plain[name], name, "text")
    if not isinstance(plain["witness"], dict | None):
        raise _unreportable(plain["witness"], "witness", "a mapping")
    if not isinstance(found.curve, Curve | None):
        raise _unreportable(found.curve, "curve", "a Curve")
    if found.side not in ("upper", "lower", None):
        raise _unreportable(found.side, "side", "upper, lower or None")
    for known in fields(Finding):
        if known.type in READERS:
            plain[known.name] = READERS[known.type](known.name, getattr(found, known.name))
    curve = None if found.curve is None else _curve(found.curve)
    return plain | {"beyond_the_run": bool(found.beyond_the_run), "curve": curve}


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


def _number(name: str, value: object) -> Number:
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


def _step(name: str, value: object) -> Step:
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


READERS: dict[Any, Callable[[str, object], Step]] = {Number: _number, Step: _step}
"""How a number of a field's type is made plain."""
