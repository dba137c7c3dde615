"""What `marginaudit classify` answers of sequence classes, as plain data."""

from typing import Any

from marginaudit.orders.assumption import as_document
from marginaudit.orders.snap.assumptions import check_assumptions
from marginaudit.orders.snap.classes import SequenceClasses
from marginaudit.orders.snap.graph import common_tokens, distinct_tokens
from marginaudit.orders.text import counted, printable


def describe(dataset: SequenceClasses) -> dict[str, Any]:
    """Distinct and common tokens of each class, the eigenvalues of E, every assumption with its witness.

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
        "assumptions": as_document(check_assumptions(dataset)),
    }


def in_words(dataset: SequenceClasses) -> str:
    """Its size and its classes.

    >>> in_words(SequenceClasses.from_weights("two", None, [("m", "q", {"a": 1, "the": 1}), ("n", "q", {"the": 1})]))
    'M = 5, 2 classes (q -> m: a 0.5, the 0.5; q -> n: the 1)'
    """
    classes = "; ".join(
        f"{c.query} -> {c.next}: " + ", ".join(f"{token} {p:.6g}" for token, p in c.probabilities.items())
        for c in dataset.classes
    )
    return printable(f"M = {dataset.M}, {counted(dataset.K, 'class', 'classes')} ({classes})")
