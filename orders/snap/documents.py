"""Sequence classes as JSON: read with errors that name the place, and written."""

import math
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Annotated, Any, NotRequired, TypeAlias

from annotated_types import Interval, Len
from typing_extensions import TypedDict

from marginaudit.orders.errors import InputError
from marginaudit.orders.reading import FirstError, Name, Text, Token, text_of, validated
from marginaudit.orders.snap.classes import SequenceClass, SequenceClasses, named_tokens, normalized
from marginaudit.orders.text import counted, shown

LARGEST_M = 2**53
"""Largest vocabulary size; float64 is exact for integers up to it."""

FREQUENCIES = Interval(ge=1e-50, le=1e50)
"""Range of a class's frequency; sums and quotients stay within float64."""

MOST_ENTRIES = 2**25
"""Limit on classes times contextual tokens: 256 MB for each array of that shape."""

SUM_TOLERANCE = 1e-6
"""Tolerance of the sum of a class's probabilities, for decimals of seven digits."""

_Probability: TypeAlias = Annotated[float, Interval(ge=0, le=1 + SUM_TOLERANCE)]


class _Class(TypedDict, closed=True):
    next: Text
    query: Text
    probabilities: dict[Text, _Probability]
    frequency: NotRequired[Annotated[float, FREQUENCIES]]


class _ClassesDocument(TypedDict, closed=True):
    name: NotRequired[Name]
    M: NotRequired[Annotated[int, Interval(ge=1, le=LARGEST_M)]]
    classes: Annotated[list[_Class], Len(1), FirstError()]


def accepts(document: Any) -> bool:
    """Whether a document is one of sequence classes, valid or not.

    >>> accepts({"classes": []}), accepts({"sentences": []})
    (True, False)
    """
    return isinstance(document, dict) and "classes" in document


def classes_from_document(document: Any, where: str = "dataset", default_name: str = "dataset") -> SequenceClasses:
    """Sequence classes from the parsed JSON form.

    >>> data = classes_from_document({"classes": [{"next": "n", "query": "q", "probabilities": {"a": 1, "b": 0}}]})
    >>> data.K, data.M, data.tokens, data.contextual
    (1, 4, ('a', 'b', 'q', 'n'), ('a',))

    Raises
    ------
    InputError
        Naming the JSON pointer, what was got and what is expected.
    """
    found = validated(_ClassesDocument, document, where)
    classes = tuple(
        SequenceClass(one["next"], one["query"], _probabilities(one["probabilities"], f"{where}: /classes/{n}"))
        for n, one in enumerate(found["classes"])
    )
    _require_own_next_tokens(classes, where)
    _require_room(classes, where)
    M = _vocabulary_size(found.get("M"), classes, where)
    return SequenceClasses(found.get("name", default_name), M, classes, _frequencies(found["classes"], where))


def classes_to_document(dataset: SequenceClasses) -> dict[str, Any]:
    """The JSON form of a dataset, read back bit by bit."""
    weights = dataset.weights or (None,) * dataset.K
    return {
        "name": dataset.name,
        "M": dataset.M,
        "classes": [
            {"next": c.next, "query": c.query, "probabilities": dict(c.probabilities)}
            | ({} if weight is None else {"frequency": weight})
            for c, weight in zip(dataset.classes, weights, strict=True)
        ],
    }


def classes_of_rows(rows: Sequence[Mapping[str, Any]], where: str) -> dict[str, Any]:
    """The document of a table with a row for each token of a class.

    >>> row = {"next": "n", "query": "q", "token": "a", "probability": 1.0}
    >>> classes_of_rows([row], "here")
    {'classes': [{'next': 'n', 'query': 'q', 'probabilities': {'a': 1.0}}]}
    >>> classes_of_rows([row, row], "here")
    Traceback (most recent call last):
    marginaudit.orders.errors.InputError: here: row 1: got 'a' again, expected each token of a class once
    """
    found: dict[tuple[Token, Token], dict[str, Any]] = {}
    for i, row in enumerate(rows):
        following, query, token = (text_of(row, i, column, where) for column in ("next", "query", "token"))
        one = found.setdefault((following, query), {"next": following, "query": query, "probabilities": {}})
        if token in one["probabilities"]:
            raise InputError(f"{where}: row {i}", got=f"{shown(token)} again", expected="each token of a class once")
        one["probabilities"][token] = row["probability"]
    return {"classes": list(found.values())}


def _probabilities(value: dict[Token, float], where: str) -> dict[Token, float]:
    total = math.fsum(value.values())
    if not any(value.values()):
        raise InputError(f"{where}/probabilities", got="no positive probability", expected="at least one")
    if abs(total - 1) > SUM_TOLERANCE:
        got = f"probabilities that sum to {total!r}"
        raise InputError(f"{where}/probabilities", got=got, expected="1 within 1e-6")
    return normalized(value)


def _require_own_next_tokens(classes: tuple[SequenceClass, ...], where: str) -> None:
    seen: dict[Token, int] = {}
    for n, c in enumerate(classes):
        if c.next in seen:
            got, expected = f"{shown(c.next)}, already at /classes/{seen[c.next]}/next", "another for each class"
            raise InputError(f"{where}: /classes/{n}/next", got=got, expected=expected)
        seen[c.next] = n


def _require_room(classes: tuple[SequenceClass, ...], where: str) -> None:
    contextual = len(set(chain.from_iterable(c.support for c in classes)))
    if len(classes) * contextual > MOST_ENTRIES:
        got = f"{counted(len(classes), 'class', 'classes')} times {counted(contextual, 'contextual token')}"
        raise InputError(f"{where}: /classes", got=got, expected=f"a product of at most {MOST_ENTRIES}")


def _vocabulary_size(M: int | None, classes: tuple[SequenceClass, ...], where: str) -> int:
    named = len(named_tokens(classes))
    M = named if M is None else M
    for least, what in ((len(classes), "classes"), (named, "distinct tokens named")):
        if least > M:
            raise InputError(f"{where}: /M", got=str(M), expected=f"at least {least}, the number of {what}")
    return M


def _frequencies(classes: list[_Class], where: str) -> tuple[float, ...] | None:
    without = [n for n, one in enumerate(classes) if "frequency" not in one]
    if without and len(without) < len(classes):
        expected = "a frequency for every class or for none"
        raise InputError(f"{where}: /classes/{without[0]}", got="no key 'frequency'", expected=expected)
    return None if without else tuple(one["frequency"] for one in classes)
