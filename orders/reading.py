"""Reading JSON documents: keys given twice, long integers, the place of an error, what every kind of dataset has."""

import json
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any, NoReturn, TypeAlias

from marginaudit.orders.errors import InputError
from marginaudit.orders.text import printable, shown

Token: TypeAlias = str


def utf_8_text(content: bytes, where: str) -> str:
    """The text of a file in UTF-8, after a byte order mark or none.

    Raises
    ------
    InputError
        It is not UTF-8; names the line.
    """
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = 1 + error.object[: error.start].count(b"\n")
        raise InputError(f"{where}: line {line}", got="text that is not UTF-8", expected="UTF-8") from None


def parsed_json(text: str, where: str) -> Any:
    """The document that the text holds.

    Raises
    ------
    InputError
        It is not JSON, too deep, or an object in it has a key twice; names the line and column, or the JSON pointer.
    """
    repeated: list[_RepeatedKey] = []

    def unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any] | _RepeatedKey:
        members = dict(pairs)
        if len(members) == len(pairs):
            return members
        key, times = Counter(key for key, _ in pairs).most_common(1)[0]
        repeated.append(_RepeatedKey(key, times))
        return repeated[-1]

    try:
        document = json.loads(text, object_pairs_hook=unique_keys, parse_int=_integer)
        if repeated:
            pointer, found = next(_repeated_keys(document, ""))
            place = f"{where}: {pointer}/{pointer_part(found.key)}"
            raise InputError(place, got=f"this key {found.times} times in one object", expected="once")
    except json.JSONDecodeError as error:
        place = f"{where}: line {error.lineno} column {error.colno}"
        raise InputError(place, got=f"invalid JSON ({error.msg})", expected="a JSON document") from None
    except RecursionError:
        raise InputError(where, got="JSON nested too deeply", expected="a dataset") from None
    return document


@dataclass(frozen=True)
class _RepeatedKey:
    """Stands in the parsed document for an object that holds a key more than once."""

    key: str
    times: int


def _repeated_keys(value: Any, pointer: str) -> Iterator[tuple[str, _RepeatedKey]]:
    if isinstance(value, _RepeatedKey):
        yield pointer, value
    elif isinstance(value, dict):
        for key, member in value.items():
            yield from _repeated_keys(member, f"{pointer}/{pointer_part(key)}")
    elif isinstance(value, list):
        for i, member in enumerate(value):
            yield from _repeated_keys(member, f"{pointer}/{i}")


class _LongInteger(float):
    """An integer of more digits than Python converts, which no place takes."""

    def __init__(self, digits: str) -> None:
        self.digits = len(digits.lstrip("-"))

    def __repr__(self) -> str:
        return f"an integer of {self.digits} digits"


def _integer(digits: str) -> int | float:
    try:
        return int(digits)
    except ValueError:
        return _LongInteger(digits)


def json_kind(value: object) -> str:
    """What JSON calls a value.

    >>> json_kind([1]), json_kind(None)
    ('an array', 'null')
    """
    names = {bool: "a boolean", int: "a number", float: "a number", str: "a string", list: "an array"}
    if value is None:
        return "null"
    return next((name for kind, name in names.items() if isinstance(value, kind)), "an object")


def pointer_part(key: str) -> str:
    """A key as a part of a JSON pointer (RFC 6901), on one line.

    >>> pointer_part("a/b~")
    'a~1b~0'
    """
    return printable(key.replace("~", "~0").replace("/", "~1"))


def encodable(text: str) -> bool:
    """Whether the text has no lone surrogate, which JSON can write and UTF-8 cannot."""
    return text.isascii() or not any("\ud800" <= c <= "\udfff" for c in text)


class Reader:
    """Validation of one document, whatever kind of dataset it holds; ``where`` opens each error."""

    def __init__(self, where: str) -> None:
        self.where = where

    def fail(self, pointer: str, *, got: str, expected: str) -> NoReturn:
        """Raise the `InputError` of one place."""
        raise InputError(f"{self.where}: {pointer}" if pointer else self.where, got=got, expected=expected)

    def known_keys(self, value: dict[str, Any], pointer: str, known: Collection[str]) -> None:
        """Refuse an object with any other key."""
        for key in value:
            if key not in known:
                got, expected = "an unknown key", "one of " + ", ".join(known)
                self.fail(f"{pointer}/{pointer_part(key)}", got=got, expected=expected)

    def array(self, value: Any, pointer: str, of: str) -> list[Any]:
        """The value, an array."""
        if not isinstance(value, list):
            self.fail(pointer, got=json_kind(value), expected=f"an array of {of}")
        return value

    def name(self, document: dict[str, Any], default: str) -> str:
        """The dataset's name."""
        name = document.get("name", default)
        if not isinstance(name, str) or not name:
            self.fail("/name", got=shown(name), expected="a non-empty string")
        if not encodable(name):
            self.fail("/name", got=shown(name), expected="a string that UTF-8 can encode")
        return name

    def token(self, value: Any, pointer: str) -> Token:
        """The value, a token."""
        if not isinstance(value, str):
            self.fail(pointer, got=shown(value), expected="a token (a string)")
        if not encodable(value):
            self.fail(pointer, got=shown(value), expected="a token that UTF-8 can encode")
        return value
