"""Sequence classes as a kind of dataset, and their output of `marginaudit classify`."""

from typing import Any

from marginaudit.orders.kind import Kind
from marginaudit.orders.snap.assumptions import ASSUMPTIONS
from marginaudit.orders.snap.cases import CASES
from marginaudit.orders.snap.classes import SequenceClasses
from marginaudit.orders.snap.documents import accepts, classes_from_document, classes_of_rows, classes_to_document
from marginaudit.orders.snap.graph import common_tokens, distinct_tokens
from marginaudit.orders.text import counted, printable


def describe(dataset: SequenceClasses) -> dict[str, Any]:
    """Distinct and common tokens of each class, and the eigenvalues of E.

    >>> data = SequenceClasses.from_weights("two", None, [("m", "q", {"a": 1, "the": 1}), ("n", "q", {"the": 1})])
    >>> describe(data)["classes"]
    {'m': {'query': 'q', 'distinct': ['a'], 'common': ['the']}, 'n': {'query': 'q', 'distinct': [], 'common': ['the']}}
    """
    overlap, common, distinct = dataset.overlap, common_tokens(dataset), distinct_tokens(dataset)
    return {
        "classes": {
            c.next: {
                "query": c.query,
                "distinct": list(distinct[c.next]),
                "common": [token for token in common if c.probabilities.get(token, 0) > 0],
            }
            for c in dataset.classes
        },
        "overlap": {
            "eigenvalues": overlap.eigenvalues.tolist(),
            "largest": overlap.largest,
            "error": overlap.eigenvalue_error,
        },
    }


def in_words(dataset: SequenceClasses) -> str:
    """Size and classes of a dataset in one line.

    >>> in_words(SequenceClasses.from_weights("two", None, [("m", "q", {"a": 1, "the": 1}), ("n", "q", {"the": 1})]))
    'M = 5, 2 classes (q -> m: a 0.5, the 0.5; q -> n: the 1)'
    """
    classes = "; ".join(
        f"{c.query} -> {c.next}: " + ", ".join(f"{token} {p:.6g}" for token, p in c.probabilities.items())
        for c in dataset.classes
    )
    return printable(f"M = {dataset.M}, {counted(dataset.K, 'class', 'classes')} ({classes})")


CLASSES = Kind(
    name="sequence classes",
    data=SequenceClasses,
    accepts=accepts,
    from_document=classes_from_document,
    to_document=classes_to_document,
    tables={("next", "query", "token", "probability"): classes_of_rows},
    cases=CASES,
    assumptions=ASSUMPTIONS,
    describe=describe,
    in_words=in_words,
)
"""The datasets of arXiv 2305.16380."""

check_assumption, check_assumptions, read_classes = CLASSES.check, CLASSES.check_all, CLASSES.read
