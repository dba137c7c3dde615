"""Quoting for shells."""

import os
import shlex
from collections.abc import Iterable


def quoted(word: str) -> str:
    r"""Quote a word if needed, in printable characters.

    Other characters become bytes in ``$'...'``, supported by bash, zsh, ksh and POSIX 2024.

    >>> print(quoted("my data.json"), quoted("no-break\u202fspace 'a\\b'"))
    'my data.json' $'no-break\342\200\257space \'a\\b\''
    """
    if word.isprintable():
        return shlex.quote(word)
    return "$'" + "".join(map(_escaped, word)) + "'"


def argument(place: str) -> str:
    """Quote a path or built-in case as an argument; a path with a leading hyphen gets ``./``.

    >>> [argument(place) for place in ("example-1", "-my data.json")]
    ['example-1', "'./-my data.json'"]
    """
    return quoted(f"./{place}" if place.startswith("-") else place)


def joined(words: Iterable[str]) -> str:
    """Quote and join words into a shell command."""
    return " ".join(map(quoted, words))


def _escaped(character: str) -> str:
    if character in "\\'":
        return f"\\{character}"
    if character.isprintable():
        return character
    return "".join(f"\\{byte:03o}" for byte in os.fsencode(character))
