"""Claims by what a user writes for their ids."""

from collections.abc import Collection
from difflib import get_close_matches
from fnmatch import fnmatchcase

from marginaudit.orders import InputError, shown

MOST_NAMED = 5
"""Claims that an error names."""


def matching_ids(pattern: str, known: Collection[str], where: str, of: str = "") -> list[str]:
    """The ids that a pattern matches; of an id that is none, those of its parts.

    ``of`` what the ids are where they are not all that `marginaudit claims` lists, its errors say.

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
        got = "no claim whose id matches" if is_pattern(pattern) else "no claim of that id"
        got = f"{got} among those of {of}" if of else got
        raise InputError(f"{where} {shown(pattern)}", got=got, expected=known_ids(pattern, known, of))
    return found


def is_pattern(text: str) -> bool:
    """Whether it is for several ids, with ``*``, ``?`` or ``[``."""
    return bool(set(text) & set("*?["))


def known_ids(name: str, known: Collection[str], of: str = "") -> str:
    """The ids to expect in place of an unknown one: one of a few, or those that are near it.

    >>> known_ids("mine.c", ["mine.a", "mine.b"])
    'one of mine.a, mine.b'
    """
    near = get_close_matches(name, known, n=3)
    if len(known) <= MOST_NAMED or (of and not near):
        return some_of(known)
    one = "one of them" if of else "an id that `marginaudit claims` lists"
    return one + (f", such as {', '.join(near)}" if near else "")


def some_of(ids: Collection[str]) -> str:
    """The first of the ids, and how many more there are.

    >>> some_of("abcdefg")
    'one of a, b, c, d, e and 2 more'
    """
    more = f" and {len(ids) - MOST_NAMED} more" if len(ids) > MOST_NAMED else ""
    return f"one of {', '.join(list(ids)[:MOST_NAMED])}{more}"
