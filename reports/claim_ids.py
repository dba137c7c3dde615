"""Claims by what a user writes for their ids."""

from collections.abc import Collection
from difflib import get_close_matches
from fnmatch import fnmatchcase

from marginaudit.orders import InputError, shown

MOST_NAMED = 5
"""Claims that an error names."""


def matching_ids(pattern: str, known: Collection[str], where: str) -> list[str]:
    """The ids that a pattern matches; of an id that is none, those of its parts.

    Raises
    ------
    InputError
        It matches none.

    >>> ids = ("ntp.lemma7", "ntp.lemma7.rederived", "ntp.theorem2.loss", "ntp.theorem2.rate")
    >>> matching_ids("ntp.lemma7", ids, "claim"), matching_ids("ntp.theorem2", ids, "claim")
    (['ntp.lemma7'], ['ntp.theorem2.loss', 'ntp.theorem2.rate'])
    """
    found = [name for name in known if fnmatchcase(name, pattern)]
    found = found or [name for name in known if name.startswith(f"{pattern}.")]
    if not found:
        got = "no claim whose id matches" if set(pattern) & set("*?[") else "no claim of that id"
        raise InputError(f"{where} {shown(pattern)}", got=got, expected=known_ids(pattern, known))
    return found


def known_ids(name: str, known: Collection[str]) -> str:
    """What is expected in place of an id that is none: one of a few, or with those that are near it.

    >>> known_ids("mine.c", ["mine.a", "mine.b"])
    'one of mine.a, mine.b'
    """
    if len(known) <= MOST_NAMED:
        return f"one of {', '.join(known)}"
    near = get_close_matches(name, known, n=3)
    return "an id that `marginaudit claims` lists" + (f", such as {', '.join(near)}" if near else "")
