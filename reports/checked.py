"""What a claim's own code hands back, checked before it enters a report."""

import json
import math
from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any

from marginaudit.reports.plain import finite
from marginaudit.reports.series import FARTHEST_STEP
from marginaudit.reports.verdict import Curve, Evidence, Finding, Verdict


class Unreportable(ValueError):  # noqa: N818  (names what the finding is)
    """A claim's code returned what no report can hold; the message says what."""


def checked(found: object) -> Finding:
    """The finding with plain numbers and texts in it, and nothing of the code's own classes.

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
    for name in ("detail", "left_out"):
        if not isinstance(getattr(found, name), str):
            raise Unreportable(f"returned {_kind(getattr(found, name))} as {name}, expected text")
    if not (found.side is None or found.side in ("upper", "lower")):
        raise Unreportable(f"returned {_kind(found.side)} as side, expected upper, lower or None")
    try:
        text = json.dumps([found.detail, finite(found.witness)], ensure_ascii=False, allow_nan=False)
        text.encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise Unreportable(f"returned a detail or a witness that is no JSON: {error}") from None
    detail, witness = json.loads(text)
    if not (witness is None or isinstance(witness, dict)):
        raise Unreportable(f"returned {_kind(found.witness)} as witness, expected a mapping")
    return Finding(
        verdict=verdict,
        evidence=evidence,
        measured=_number("measured", found.measured),
        bound=_number("bound", found.bound),
        slack=_number("slack", found.slack),
        side=None if found.side is None else "upper" if found.side == "upper" else "lower",
        constant=_number("constant", found.constant),
        repeats_within=_number("repeats_within", found.repeats_within),
        worst_step=_step("worst_step", found.worst_step),
        first_violation=_step("first_violation", found.first_violation),
        informative_from=_step("informative_from", found.informative_from),
        beyond_the_run=found.beyond_the_run is True,
        detail=detail,
        witness=witness,
        curve=None if found.curve is None else _curve(found.curve),
        left_out=found.left_out,
    )


def _curve(curve: object) -> Curve:
    """Its columns as lists of one length."""
    if not isinstance(curve, Curve):
        raise Unreportable(f"returned {_kind(curve)} as curve, expected a Curve")
    step = _plain(curve.step, int) or [_step("curve.step", value) for value in curve.step]
    plain = Curve(
        step=[t for t in step if t is not None],
        measured=_values("curve.measured", curve.measured),
        upper=None if curve.upper is None else _values("curve.upper", curve.upper),
        lower=None if curve.lower is None else _values("curve.lower", curve.lower),
        vacuous_above=_number("curve.vacuous_above", curve.vacuous_above),
        clock=curve.clock,
        predicted=_number("curve.predicted", curve.predicted),
    )
    if not isinstance(plain.clock, str):
        raise Unreportable(f"returned {_kind(plain.clock)} as curve.clock, expected text")
    columns = (step, plain.step, plain.measured, plain.upper, plain.lower)
    lengths = {len(column) for column in columns if column is not None}
    if len(lengths) > 1:
        raise Unreportable("returned a curve whose columns have not one number a step")
    return plain


def _plain(column: object, kind: type) -> list[Any] | None:
    """A column that is what it has to be already: most are, and they are long."""
    if type(column) is not list or set(map(type, column)) != {kind}:
        return None
    return list(column) if kind is float or max(map(abs, column)) <= FARTHEST_STEP else None


def _values(name: str, column: Iterable[object]) -> list[float]:
    return _plain(column, float) or [_value(name, value) for value in column]


def _value(name: str, value: object) -> float:
    """A value of a curve, which may be NaN where there is none."""
    if isinstance(value, float) and math.isnan(value):
        return math.nan
    number = _number(name, value)
    if number is None:
        raise Unreportable(f"returned None in {name}, expected a number")
    return number


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


def _step(name: str, value: object) -> int | float | None:
    """A position on a clock: an integer where it is whole."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        number = _number(name, value)
        if number is None:
            return None
        if math.isinf(number):
            raise Unreportable(f"returned an infinite position as {name}")
        return int(number) if number.is_integer() and abs(number) <= FARTHEST_STEP else number
    step = int(value)
    if abs(step) > FARTHEST_STEP:
        raise Unreportable(f"returned a whole number of more than {len(str(FARTHEST_STEP)) - 1} digits as {name}")
    return step


def _kind(value: object) -> str:
    return "None" if value is None else f"a value of type {type(value).__name__}"
