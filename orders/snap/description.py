"""What `marginaudit classify` answers of sequence classes, as plain data."""

from typing import Any

from marginaudit.orders.snap.assumptions import check_assumptions
from marginaudit.orders.snap.classes import SequenceClasses
from marginaudit.orders.snap.graph import common_tokens, distinct_tokens


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
        "assumptions": {
            name: {"holds": found.holds, "witness": found.witness} for name, found in check_assumptions(dataset).items()
        },
    }
