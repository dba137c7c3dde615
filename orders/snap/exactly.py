"""Exact checks of assumptions on sequence classes that the predicates check up to rounding."""

from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import combinations

from marginaudit.orders.snap.classes import SequenceClasses
from marginaudit.orders.snap.graph import common_tokens, distinct_tokens


def squared_overlaps(dataset: SequenceClasses) -> list[Fraction]:
    """(f_n^T f_k)^2 of each pair n < k of classes at Z = 0: rational, as P is."""
    rows = [{token: Fraction(p) for token, p in c.probabilities.items() if p > 0} for c in dataset.classes]
    sizes = [sum((p * p for p in row.values()), Fraction(0)) for row in rows]
    pairs = combinations(zip(rows, sizes, strict=True), 2)
    return [
        sum((p * other[token] for token, p in row.items() if token in other), Fraction(0)) ** 2 / (size * its)
        for (row, size), (other, its) in pairs
    ]


def equal_overlaps(dataset: SequenceClasses) -> bool:
    """All (f_n^T f_n')^2 are equal rational numbers."""
    return len(set(squared_overlaps(dataset))) <= 1


def symmetric_classes(dataset: SequenceClasses) -> bool:
    """The distinct tokens of all classes have equal float64 probabilities."""
    own = distinct_tokens(dataset)
    return len({tuple(sorted(c.probabilities[token] for token in own[c.next])) for c in dataset.classes}) == 1


def shared_common(dataset: SequenceClasses) -> bool:
    """Every common token has equal float64 probabilities in all classes."""
    common = common_tokens(dataset)
    return all(len({c.probabilities.get(token, 0.0) for c in dataset.classes}) == 1 for token in common)


EXACTLY: Mapping[str, Callable[[SequenceClasses], bool]] = {
    predicate.__name__: predicate for predicate in (equal_overlaps, symmetric_classes, shared_common)
}
"""Exact checks by assumption; the others have no tolerance, or compare error bars on both sides."""


def only_to_rounding(dataset: SequenceClasses, assumption: str) -> bool:
    """Whether an assumption that holds is met only up to rounding.

    >>> third = 1 / 3
    >>> classes = [("m", "q", {"a": third, "the": 2 * third}), ("n", "q", {"b": third, "the": 2 * third * (1 + 2e-16)})]
    >>> data = SequenceClasses.from_weights("two", None, classes)
    >>> only_to_rounding(data, "shared_common"), only_to_rounding(data, "equal_overlaps")
    (True, False)
    """
    return assumption in EXACTLY and not EXACTLY[assumption](dataset)
