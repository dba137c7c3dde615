"""Parsing of users' TOML files: the document, and settings given as a value, a list or a range."""

import math
import tomllib
from collections.abc import Collection, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, TypeAlias, TypeVar

from annotated_types import Len

from marginaudit.claims.settings import Values, real
from marginaudit.orders import InputError, file_content, printable, shown, shown_path
from marginaudit.orders.reading import utf_8_text, validated

T = TypeVar("T")

Texts: TypeAlias = Annotated[list[str], Len(1)]


def parsed_toml(kind: type[T], text: str, where: str) -> T:
    """Parse a TOML document of a given type; numbers with a point or an exponent become `Decimal`.

    Raises
    ------
    InputError
        The text is no TOML, or of another type.
    """
    try:
        document = tomllib.loads(text, parse_float=Decimal)
    except (ValueError, RecursionError) as error:
        raise InputError(where, got=printable(str(error)) or "too deep a nesting", expected="TOML") from None
    return validated(kind, document, where)


def require_known(name: str, known: Collection[str], where: str) -> None:
    """Refuse an unknown name.

    Raises
    ------
    InputError
    """
    if name not in known:
        raise InputError(where, got=shown(name), expected=f"one of {', '.join(known)}")


def toml_text(path: Path, what: str) -> tuple[str, str]:
    """Read a TOML file; return its text and its name in error messages. ``what`` is its kind in error messages.

    Raises
    ------
    InputError
        The file cannot be read, or is not UTF-8.
    """
    where = shown_path(path)
    return utf_8_text(file_content(path, what), where), where


MOST_VALUES = 10_000
"""Values of one setting, at most."""

ANY_NUMBER = real(-math.inf, math.inf, expected="a number up to 1e300")

RANGE = "a range {from, to, step} or {from, to, factor} upwards"


def values_of(given: Any, allowed: Values, where: str) -> tuple[Any, ...]:
    """Distinct values of a setting given as one value, a list or a range.

    Numbers with a point or an exponent are given as `Decimal`, so that ranges end exactly.

    >>> from marginaudit.claims.settings import STEP_SIZE, STEPS
    >>> values_of({"from": Decimal("0.1"), "to": Decimal("0.3"), "step": Decimal("0.1")}, STEP_SIZE, "lr")
    (0.1, 0.2, 0.3)
    >>> values_of({"from": 10, "to": Decimal("1e3"), "factor": 10}, STEPS, "steps")
    (10, 100, 1000)

    Raises
    ------
    InputError
    """
    if isinstance(given, Mapping):
        given = _range(given, where)
    if not isinstance(given, list):
        return (allowed.accept(given, where),)
    if not 1 <= len(given) <= MOST_VALUES:
        raise InputError(where, got=f"{len(given)} values", expected=f"1 to {MOST_VALUES}")
    found: dict[Any, None] = {}
    for item in given:
        value = allowed.accept(item, where)
        if value in found:
            raise InputError(where, got=f"{shown(value)} twice", expected="each value once")
        found[value] = None
    return tuple(found)


def _range(given: Mapping[str, Any], where: str) -> list[Decimal]:
    by = next((name for name in ("step", "factor") if name in given), "step")
    if set(given) != {"from", "to", by}:
        raise InputError(where, got=f"the keys {', '.join(given) or 'of none'}", expected=RANGE)
    for name, value in given.items():
        ANY_NUMBER.accept(value, f"{where}/{name}")
    first, last, move = (Decimal(given[name]) for name in ("from", "to", by))
    if not (first <= last and (move > 0 if by == "step" else move > 1 and first > 0)):
        raise InputError(where, got=f"from {first} to {last} by {by} {move}", expected=RANGE)
    found = [first]
    while (following := found[-1] + move if by == "step" else found[-1] * move) <= last:
        if len(found) == MOST_VALUES:
            raise InputError(where, got="a longer range", expected=f"at most {MOST_VALUES} values")
        found.append(following)
    return found
