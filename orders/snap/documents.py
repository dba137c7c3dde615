"""Sequence classes as JSON: read with errors that name the place, and written."""

import math
from itertools import chain
from typing import Any

from marginaudit.orders.reading import Reader, Token, json_kind, pointer_part
from marginaudit.orders.snap.classes import SequenceClass, SequenceClasses, named_tokens, normalized
from marginaudit.orders.text import counted, shown

KEYS = ("name", "M", "classes")
CLASS_KEYS = ("next", "query", "probabilities", "frequency")
OF_THE_OTHER_KIND = ("sentences", "samples")

LARGEST_M = 2**53
"""Vocabulary size; float64 has every integer up to here."""

LARGEST_FREQUENCY = 1e50
"""Of a class, and the inverse of the smallest; sums and quotients of such stay far inside float64."""

MOST_ENTRIES = 2**25
"""Classes times contextual tokens: 256 MB for each array of that shape."""

SUM_TOLERANCE = 1e-6
"""Of a class's probabilities about 1, for decimals of seven digits."""


def accepts(document: Any) -> bool:
    """Whether a document is one of sequence classes, good or bad.

    >>> accepts({"classes": []}), accepts({"sentences": []})
    (True, False)
    """
    return isinstance(document, dict) and "classes" in document


def classes_from_document(document: Any, where: str = "dataset", default_name: str = "dataset") -> SequenceClasses:
    """Sequence classes from the JSON form, already parsed.

    >>> data = classes_from_document({"classes": [{"next": "n", "query": "q", "probabilities": {"a": 1, "b": 0}}]})
    >>> data.K, data.M, data.tokens, data.contextual
    (1, 4, ('a', 'b', 'q', 'n'), ('a',))

    Raises
    ------
    InputError
        Naming the JSON pointer, what was got and what is expected.
    """
    return _Reader(where).dataset(document, default_name)


def classes_to_document(dataset: SequenceClasses) -> dict[str, Any]:
    """The JSON form of a dataset; reading it gives the same dataset, bit by bit."""
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


class _Reader(Reader):
    """Validation of one document of sequence classes."""

    def dataset(self, document: Any, default_name: str) -> SequenceClasses:
        if not isinstance(document, dict):
            self.fail("", got=json_kind(document), expected="a JSON object")
        for key in OF_THE_OTHER_KIND:
            if key in document and "classes" in document:
                self.fail(f"/{key}", got=f"{key} beside classes", expected="one kind of dataset")
        self.known_keys(document, "", KEYS)
        name = self.name(document, default_name)
        if "classes" not in document:
            self.fail("", got="no key 'classes'", expected='an object with "classes"')
        listed = self.array(document["classes"], "/classes", "classes")
        if not listed:
            self.fail("/classes", got="an empty array", expected="at least one class")
        classes = tuple(self.sequence_class(value, f"/classes/{n}") for n, value in enumerate(listed))
        self.check_next_tokens(classes)
        self.check_size(classes)
        return SequenceClasses(name, self.vocabulary_size(document, classes), classes, self.frequencies(listed))

    def sequence_class(self, value: Any, pointer: str) -> SequenceClass:
        if not isinstance(value, dict):
            self.fail(pointer, got=json_kind(value), expected='an object {"next", "query", "probabilities"}')
        self.known_keys(value, pointer, CLASS_KEYS)
        for key in CLASS_KEYS[:3]:
            if key not in value:
                expected = 'an object with "next", "query" and "probabilities"'
                self.fail(pointer, got=f"no key {key!r}", expected=expected)
        following = self.token(value["next"], f"{pointer}/next")
        query = self.token(value["query"], f"{pointer}/query")
        probabilities = self.probabilities(value["probabilities"], f"{pointer}/probabilities")
        return SequenceClass(following, query, probabilities)

    def probabilities(self, value: Any, pointer: str) -> dict[Token, float]:
        if not isinstance(value, dict):
            self.fail(pointer, got=json_kind(value), expected="an object from token to probability")
        for token, p in value.items():
            place = f"{pointer}/{pointer_part(token)}"
            self.token(token, place)
            if not _is_number(p) or not 0 <= p <= 1 + SUM_TOLERANCE:
                self.fail(place, got=shown(p), expected="a probability (a finite number >= 0, their sum 1)")
        if not any(value.values()):
            self.fail(pointer, got="no positive probability", expected="at least one")
        total = math.fsum(value.values())
        if abs(total - 1) > SUM_TOLERANCE:
            self.fail(pointer, got=f"probabilities that sum to {total!r}", expected="1 within 1e-6")
        return normalized({token: float(p) for token, p in value.items()})

    def check_next_tokens(self, classes: tuple[SequenceClass, ...]) -> None:
        seen: dict[Token, int] = {}
        for n, c in enumerate(classes):
            if c.next in seen:
                got = f"{shown(c.next)}, already at /classes/{seen[c.next]}/next"
                self.fail(f"/classes/{n}/next", got=got, expected="another next token for each class")
            seen[c.next] = n

    def check_size(self, classes: tuple[SequenceClass, ...]) -> None:
        contextual = len(set(chain.from_iterable(c.support for c in classes)))
        if len(classes) * contextual > MOST_ENTRIES:
            got = f"{counted(len(classes), 'class', 'classes')} times {counted(contextual, 'contextual token')}"
            self.fail("/classes", got=got, expected=f"a product of at most {MOST_ENTRIES}")

    def vocabulary_size(self, document: dict[str, Any], classes: tuple[SequenceClass, ...]) -> int:
        named = len(named_tokens(classes))
        M = document.get("M", named)
        if not isinstance(M, int) or isinstance(M, bool) or not 0 < M <= LARGEST_M:
            self.fail("/M", got=shown(M), expected=f"a positive integer, at most {LARGEST_M} (2^53)")
        if len(classes) > M:
            self.fail("/M", got=str(M), expected=f"at least {len(classes)}, the number of classes")
        if named > M:
            self.fail("/M", got=str(M), expected=f"at least {named}, the number of distinct tokens named")
        return M

    def frequencies(self, listed: list[Any]) -> tuple[float, ...] | None:
        having = [n for n, value in enumerate(listed) if "frequency" in value]
        if not having:
            return None
        for n, value in enumerate(listed):
            if "frequency" not in value:
                got = f"no key 'frequency', which /classes/{having[0]} has"
                self.fail(f"/classes/{n}", got=got, expected="a frequency for every class or for none")
            frequency = value["frequency"]
            if not _is_number(frequency) or not 1 / LARGEST_FREQUENCY <= frequency <= LARGEST_FREQUENCY:
                expected = "a positive number, from 1e-50 to 1e50"
                self.fail(f"/classes/{n}/frequency", got=shown(frequency), expected=expected)
        return tuple(float(value["frequency"]) for value in listed)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
