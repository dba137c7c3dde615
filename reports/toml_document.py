"""A TOML file that a user writes, read so that every error names the file and the key."""

import tomllib
from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any, NoReturn

from marginaudit.orders import InputError, file_content, printable, shown, shown_path
from marginaudit.orders.reading import utf_8_text


class TomlDocument:
    """A TOML text; numbers with a point or an exponent are `Decimal`.

    Parameters
    ----------
    text : str
    where : str
        What its errors begin with.

    Raises
    ------
    InputError
        It is no TOML.
    """

    def __init__(self, text: str, where: str) -> None:
        self.where = where
        try:
            self.document: Mapping[str, Any] = tomllib.loads(text, parse_float=Decimal)
        except (ValueError, RecursionError) as error:
            raise InputError(where, got=printable(str(error)) or "too deep a nesting", expected="TOML") from None

    def fail(self, key: str, got: str, expected: str) -> NoReturn:
        """Refuse what stands at a key."""
        raise InputError(f"{self.where}: {key}", got=got, expected=expected)

    def known_keys(self, table: Mapping[str, Any], place: str, known: Sequence[str]) -> None:
        """Refuse a table, at a place in the file, that has another key."""
        for key in table:
            if key not in known:
                self.fail(place or "its keys", f"the key {shown(key)}", f"one of {', '.join(known)}")

    def table(self, key: str) -> Mapping[str, Any]:
        """The table of a key."""
        found = self.document.get(key)
        if not isinstance(found, dict):
            self.fail(key, "nothing" if found is None else shown(found), f"a table [{key}]")
        return found

    def texts(self, place: str, found: Any, expected: str) -> list[str]:
        """A list of one or more texts."""
        if not isinstance(found, list) or not found or not all(isinstance(text, str) for text in found):
            self.fail(place, shown(found), expected)
        return found


def toml_text(path: Path, what: str) -> tuple[str, str]:
    """The text of a TOML file and its name for errors; ``what`` says what was looked for.

    Raises
    ------
    InputError
        It cannot be read, or is not UTF-8.
    """
    where = shown_path(path)
    return utf_8_text(file_content(path, what), where), where
