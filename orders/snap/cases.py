"""Built-in sequence classes, with Syn-Small and Syn-Medium of the paper's experiments."""

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from marginaudit.orders.reading import Token
from marginaudit.orders.snap.classes import SequenceClasses

SHARED, OWN = 10, 10
"""Number of tokens shared by all classes, and of those of each class alone."""


def syn_small() -> SequenceClasses:
    """Syn-Small: 2 classes over 30 tokens, of which 0-9 are common, 10-19 and 20-29 distinct.

    Source: arXiv 2305.16380, section 8, where P(l|n) increases over 10-19 and over 20-29; the weights are Syn-Medium's.
    The source names neither next tokens nor queries, and with M = 30 all tokens are contextual: 0 and 1 are chosen as
    next tokens, as its classes are the first K tokens, and 2 as the query of both.
    """
    tokens = [str(token) for token in range(SHARED + 2 * OWN)]
    classes = [(str(n), "2", _weights(tokens[:SHARED], tokens[SHARED + OWN * n :][:OWN])) for n in range(2)]
    return SequenceClasses.from_weights("syn-small", None, classes)


def syn_medium(num_last: int) -> SequenceClasses:
    """Syn-Medium: 2 classes for each of ``num_last`` queries, M = 10 + 10 K + num_last + K tokens, all named.

    Source: arXiv 2305.16380, section 8, and its authors' published settings: P(l|n) is proportional to 1 on 10 tokens
    shared by all classes, and to linspace(.1, 1, 10) on the class's own 10.

    >>> data = syn_medium(3)
    >>> data.K, data.M, data.queries
    (6, 79, {'q0': (0, 1), 'q1': (2, 3), 'q2': (4, 5)})

    Raises
    ------
    ValueError
        ``num_last`` is below 1.
    """
    if num_last < 1:
        raise ValueError(f"got num_last = {num_last}, expected at least 1")
    shared = [f"s{i}" for i in range(SHARED)]
    classes = [
        (f"n{n}", f"q{n // 2}", _weights(shared, [f"d{n}.{i}" for i in range(OWN)])) for n in range(2 * num_last)
    ]
    return SequenceClasses.from_weights(f"syn-medium-{num_last}", None, classes)


def _weights(shared: list[Token], own: list[Token]) -> dict[Token, float]:
    return dict.fromkeys(shared, 1.0) | dict(zip(own, np.linspace(0.1, 1, OWN).tolist(), strict=True))


def snap_single() -> SequenceClasses:
    """Two classes of one query with one common token, M = 5000: Assumption 2 holds."""
    classes = [
        ("n0", "q", {"a": 0.5, "b": 0.2, "the": 0.3}),
        ("n1", "q", {"c": 0.45, "d": 0.2, "the": 0.35}),
    ]
    return SequenceClasses.from_weights("snap-single", 5000, classes)


def snap_symmetric() -> SequenceClasses:
    """Three symmetric classes of one query with two common tokens, M = 5000: Assumption 2 and Corollary 2 hold."""
    own = (0.45, 0.2, 0.1)
    classes = [
        (f"n{n}", "q", dict(zip(names, own, strict=True)) | {"the": 0.15, "of": 0.1})
        for n, names in enumerate(("abc", "def", "ghi"))
    ]
    return SequenceClasses.from_weights("snap-symmetric", 5000, classes)


def snap_medium() -> SequenceClasses:
    """Syn-Medium with 3 queries, which breaks Assumption 2 except uniform classes and spread eigenvalues."""
    return replace(syn_medium(3), name="snap-medium")


CASES: Mapping[str, Callable[[], SequenceClasses]] = {
    "snap-single": snap_single,
    "snap-symmetric": snap_symmetric,
    "snap-medium": snap_medium,
    "syn-small": syn_small,
}
"""The named cases, in the order of an audit without a dataset."""
