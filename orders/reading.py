"""Read documents: CSV, and JSON with unique keys, validated by pydantic against a type; errors name the place."""

import csv
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from math import inf, isfinite
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, TypeVar, cast, get_args

from annotated_types import Len, MaxLen
from typing_extensions import get_type_hints, is_typeddict

from marginaudit.orders.errors import InputError
from marginaudit.orders.text import LONGEST_SHOWN, counted, printable, shortened, shown

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler, TypeAdapter

T = TypeVar("T")

Token: TypeAlias = str

Text: TypeAlias = Annotated[str, MaxLen(2**31)]
"""A string that UTF-8 can encode (no lone surrogate), which pydantic checks when it counts characters."""

Name: TypeAlias = Annotated[Text, Len(1)]
"""The name of a dataset: a nonempty `Text`."""


class FirstError:
    """Annotation of a long array's type: stop at its first bad entry."""

    def __get_pydantic_core_schema__(self, source: Any, handler: "GetCoreSchemaHandler") -> Any:
        """Schema with ``fail_fast``."""
        return {**handler(source), "fail_fast": True}


EXPECTED = {
    "string_type": "a string",
    "string_unicode": "a string that UTF-8 can encode",
    "string_too_short": "a string that is not empty",
    "list_type": "an array",
    "dict_type": "an object",
    "int_type": "a whole number",
    "float_type": "a number that float64 holds",
    "invalid_key": "a key that is a string",
    "too_short": "at least {min_length}",
    "greater_than_equal": "at least {ge}",
    "less_than_equal": "at most {le}",
    "missing": "one",
}
"""Expectation by type of pydantic's error; others use pydantic's message."""


def utf_8_text(content: bytes, where: str) -> str:
    """Decode UTF-8, with or without a byte order mark.

    Raises
    ------
    InputError
        The bytes are not UTF-8; the message names the line.
    """
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = 1 + error.object[: error.start].count(b"\n")
        raise InputError(f"{where}: line {line}", got="text that is not UTF-8", expected="UTF-8") from None


LONGEST_CELL = 2**31 - 1
"""Limit on the characters of a CSV cell: the largest that Python's parser accepts on every platform."""


def csv_rows(lines: Iterable[str], where: str) -> Iterator[tuple[int, list[str]]]:
    r"""Rows of a CSV file, the header first, with the number of their last line; blank lines are skipped.

    >>> list(csv_rows(["a,b\n", "\n", '1,"x\n', 'y"\n'], "here"))
    [(1, ['a', 'b']), (4, ['1', 'x\ny'])]

    Raises
    ------
    InputError
        The text is not CSV; the message names the line.
    """
    csv.field_size_limit(LONGEST_CELL)
    rows = csv.reader(lines, strict=True)
    try:
        for row in rows:
            if len(row) > 1 or any(cell.strip() for cell in row):
                yield rows.line_num, row
    except csv.Error as error:
        raise InputError(f"{where}: line {rows.line_num}", got=f"no CSV ({error})", expected="CSV (RFC 4180)") from None


def parsed_json(text: str, where: str) -> Any:
    """Parse JSON.

    Raises
    ------
    InputError
        The text is not JSON or nested too deeply (the message names line and column), an object has a repeated key (the
        message names its JSON pointer), or a nonzero number underflows in float64.
    """
    found, members = _quickly_parsed(text)
    if members == text.count(":"):
        return found
    repeated: list[_RepeatedKey] = []

    def unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any] | _RepeatedKey:
        members = dict(pairs)
        if len(members) == len(pairs):
            return members
        repeated.append(_RepeatedKey(*Counter(key for key, _ in pairs).most_common(1)[0]))
        return repeated[-1]

    try:
        quickly, found = found, json.loads(text, object_pairs_hook=unique_keys, parse_int=_integer, parse_float=float64)
        if quickly is None and _is_deep(found):
            raise RecursionError
    except json.JSONDecodeError as error:
        place = f"{where}: line {error.lineno} column {error.colno}"
        raise InputError(place, got=f"invalid JSON ({error.msg})", expected="a JSON document") from None
    except Underflow as number:
        raise InputError(where, got=shown(str(number)), expected=EXPECTED["float_type"]) from None
    except RecursionError:
        raise InputError(where, got="JSON nested too deeply", expected=f"at most {DEEPEST} levels") from None
    if repeated:
        place, one = next(_repeated_keys(found))
        got = f"an object with {one.times} keys {shown(one.key)}"
        raise InputError(f"{where}: {place}" if place else where, got=got, expected="each key once")
    return found


DEEPEST = 200
"""Limit on the levels of a document, about that of the fast parser; writing and comparing allow some more."""


def _is_deep(document: Any) -> bool:
    level = [document]
    for _ in range(DEEPEST):
        members = (one.values() if isinstance(one, dict) else one for one in level if isinstance(one, dict | list))
        level = [member for some in members for member in some]
    return bool(level)


BITS = 64
"""Limit on the bits of an integer for the fast parser."""


def _quickly_parsed(text: str) -> tuple[Any, float]:
    """Parse with pydantic's parser, which shares equal strings, and count members; infinite on an error.

    The text has as many colons if no key is repeated and no string has a colon.
    """
    from pydantic_core import from_json

    try:
        found = from_json(text)
    except ValueError:
        return None, inf
    return found, _members(found)


def _members(value: Any) -> float:
    """Count the members of all objects in a document; infinite if it has decimals or very large numbers."""
    members, rest = 0, [value]
    while rest:
        one = rest.pop()
        if isinstance(one, dict):
            members += len(one)
            rest.extend(one.values())
        elif isinstance(one, list):
            rest.extend(() if one and isinstance(one[0], str) else one)
        elif isinstance(one, float) or (isinstance(one, int) and one.bit_length() > BITS):
            return inf
    return members


@dataclass(frozen=True)
class _RepeatedKey:
    """Placeholder for an object with a repeated key."""

    key: str
    times: int


def _repeated_keys(document: Any) -> Iterator[tuple[str, _RepeatedKey]]:
    """Each object of a document with a repeated key, with its JSON pointer."""
    rest = [("", document)]
    while rest:
        place, one = rest.pop()
        if isinstance(one, _RepeatedKey):
            yield place, one
        members = one.items() if isinstance(one, dict) else enumerate(one) if isinstance(one, list) else ()
        rest.extend((f"{place}/{pointer_part(str(key))}", member) for key, member in members)


def _integer(digits: str) -> int | float:
    return (
        int(digits) if len(digits) < 4000 else float(digits)
    )  # float gives infinity; Python's int accepts 4300 digits


class Underflow(ValueError):  # noqa: N818
    """A nonzero decimal that float64 rounds to 0."""


def plain(value: Any) -> Any:
    """Convert a Python object to JSON data: mappings to dicts, tuples and arrays of numpy or pandas to lists.

    >>> import numpy as np
    >>> plain({"embedding": np.eye(2), np.str_("samples"): ({"count": np.int64(3)},)})
    {'embedding': [[1.0, 0.0], [0.0, 1.0]], 'samples': [{'count': 3}]}
    """
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(key) if isinstance(key, str) else key: plain(member) for key, member in value.items()}
    return list(map(plain, value)) if isinstance(value, list | tuple) else value


def text_of(row: Mapping[str, Any], number: int, column: str, where: str) -> str:
    """The text in a cell of a table.

    Raises
    ------
    InputError
        The cell has no text; the message names row and column.
    """
    value = row[column]
    if not isinstance(value, str):
        raise InputError(f"{where}: row {number}, column {column}", got=shown(value), expected="a text")
    return value


def float64(decimal: str) -> float:
    """The float64 nearest to a decimal.

    Raises
    ------
    ValueError
        The text is not a decimal, or underflows (`Underflow`).
    """
    value = float(decimal)
    if value == 0 and set("123456789") & set(decimal.lower().partition("e")[0]):
        raise Underflow(decimal)
    return value


def pointer_part(key: str) -> str:
    """A key as a part of a JSON pointer (RFC 6901), on one line, shortened in the middle if very long.

    >>> pointer_part("a/b~")
    'a~1b~0'
    """
    return shortened(printable(key.replace("~", "~0").replace("/", "~1")), LONGEST_SHOWN)


def validated(kind: type[T], value: Any, where: str) -> T:
    """Validate a value against a type of closed `TypedDict` classes with pydantic, without conversion.

    >>> validated(list[int], [1, True], "here")
    Traceback (most recent call last):
    marginaudit.orders.errors.InputError: here: /1: got True, expected a whole number

    Raises
    ------
    InputError
        Naming the JSON pointer, what was got and what is expected.
    """
    from pydantic import ValidationError  # takes a tenth of a second

    try:
        found: T = _adapter(cast("Any", kind)).validate_python(value, strict=True)
    except ValidationError as error:
        errors = error.errors(include_url=False)
        unknown_key = (one for one in errors if one["type"] == "extra_forbidden")
        raise _refused(kind, next(unknown_key, errors[0]), where) from None
    return found


@cache
def _adapter(kind: Any) -> "TypeAdapter[Any]":
    from pydantic import TypeAdapter

    return TypeAdapter(kind)


def _refused(kind: Any, error: Any, where: str) -> InputError:
    place, value = error["loc"], error["input"]
    got, expected = shown(value), EXPECTED.get(error["type"], error["msg"].removeprefix("Input should be "))
    if error["type"] == "extra_forbidden":
        for part in place[:-1]:
            kind = get_type_hints(kind)[str(part)] if is_typeddict(kind) else get_args(kind)[-1]
        got, expected = "an unknown key", f"one of {', '.join(get_type_hints(kind))}"
    elif error["type"] == "missing":
        got, place = f"no key {place[-1]!r}", place[:-1]
    elif error["type"].endswith("_than_equal") and isinstance(value, float) and not isfinite(value):
        expected = "a finite number"
    elif isinstance(value, list):
        got = f"an array of {counted(len(value), 'entry', 'entries')}"
    elif isinstance(value, dict) or value is None:
        got = "null" if value is None else "an object"
    pointer = "".join(f"/{pointer_part(str(part))}" for part in place)
    return InputError(
        f"{where}: {pointer}" if pointer else where, got=got, expected=expected.format(**error.get("ctx", {}))
    )
