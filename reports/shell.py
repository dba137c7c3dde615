"""Quote words for a shell."""

import os
import shlex
from collections.abc import Iterable


def quoted(word: str) -> str:
    r"""The word, quoted where needed, in printable characters.

    What cannot be shown is written as bytes in ``$'...'``, which bash, zsh, ksh and POSIX's shells of 2024 read.

    >>> print(quoted("my data.json"), quoted("no-break\u202fspace 'a\\b'"))
    'my data.json' $'no-break\342\200\257space \'a\\b\''
    """
    if word.isprintable():
        return shlex.quote(word)
    return "$'" + "".join(map(_escaped, word)) + "'"


def argument(place: str) -> str:
    """A path, or the name of a built-in case, as a command takes it: what begins with a hyphen is no option.

    >>> [argument(place) for place in ("example-1", "-my data.json")]
    ['example-1', "'./-my data.json'"]
    """
    return quoted(f"./{place}" if place.startswith("-") else place)


def joined(words: Iterable[str]) -> str:
    """The words as one shell command."""
    return " ".join(map(quoted, words))


def _escaped(character: str) -> str:
    if character in "\\'":
        return f"\\{character}"
    if character.isprintable():
        return character
    return "".join(f"\\{byte:03o}" for byte in os.fsencode(character))
