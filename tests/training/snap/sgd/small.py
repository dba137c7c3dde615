"""A few classes and whole matrices for the tests of SGD."""

from typing import Any

import mpmath
import numpy as np

from marginaudit.orders.snap import SequenceClasses

SMALL = SequenceClasses.from_weights(
    "small",
    9,
    [
        ("n0", "q", {"a": 5, "b": 2, "the": 3}),
        ("n1", "q", {"a": 0, "c": 1, "the": 4}),
        ("the", "p", {"a": 1, "d": 2, "the": 1, "q": 1}),
    ],
)
"""A next token that is also contextual, a query that is, a token of probability 0, and tokens that nothing names."""


def whole(data: SequenceClasses, Y: Any, Z: Any) -> tuple[Any, Any]:
    """Y and Z as M x M lists of lists."""
    number = {token: i for i, token in enumerate(data.tokens)}
    wide_Y, wide_Z = np.zeros((data.M, data.M)), np.zeros((data.M, data.M))
    rows = [number[token] for token in data.contextual]
    wide_Y[rows] = Y
    for i, query in enumerate(data.queries):
        wide_Z[number[query], rows] = Z[i]
    return [[[mpmath.mpf(x) for x in row] for row in matrix.tolist()] for matrix in (wide_Y, wide_Z)]  # type: ignore[return-value]
