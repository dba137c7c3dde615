"""TOML files that a user writes."""

import tomllib
from collections.abc import Collection
from decimal import Decimal
from pathlib import Path
from typing import Annotated, TypeAlias, TypeVar

from annotated_types import Len

from marginaudit.orders import InputError, file_content, printable, shown, shown_path
from marginaudit.orders.reading import utf_8_text, validated

T = TypeVar("T")

Texts: TypeAlias = Annotated[list[str], Len(1)]


def parsed_toml(kind: type[T], text: str, where: str) -> T:
    """The document of a TOML text, of a type; numbers with a point or an exponent are `Decimal`.

    Raises
    ------
    InputError
        It is no TOML, or of another type.
    """
    try:
        document = tomllib.loads(text, parse_float=Decimal)
    except (ValueError, RecursionError) as error:
        raise InputError(where, got=printable(str(error)) or "too deep a nesting", expected="TOML") from None
    return validated(kind, document, where)


def require_known(name: str, known: Collection[str], where: str) -> None:
    """Refuse a name that is none of the known ones.

    Raises
    ------
    InputError
    """
    if name not in known:
        raise InputError(where, got=shown(name), expected=f"one of {', '.join(known)}")


def toml_text(path: Path, what: str) -> tuple[str, str]:
    """The text of a TOML file and its name for errors; ``what`` says what was looked for.

    Raises
    ------
    InputError
        It cannot be read, or is not UTF-8.
    """
    where = shown_path(path)
    return utf_8_text(file_content(path, what), where), where
