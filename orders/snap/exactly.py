"""Assumptions on sequence classes that hold exactly, among those that the predicates grant up to rounding."""

from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import combinations

from marginaudit.orders.snap.classes import SequenceClasses
from marginaudit.orders.snap.graph import common_tokens, distinct_tokens


def equal_overlaps(dataset: SequenceClasses) -> bool:
    """All (f_n^T f_n')^2 are one rational number."""
    rows = [{token: Fraction(p) for token, p in c.probabilities.items() if p > 0} for c in dataset.classes]
    squares = [sum(p * p for p in row.values()) for row in rows]

    def square(n: int, k: int) -> Fraction:
        product = sum((p * rows[k][token] for token, p in rows[n].items() if token in rows[k]), Fraction(0))
        return product**2 / (squares[n] * squares[k])

    return len({square(n, k) for n, k in combinations(range(dataset.K), 2)}) <= 1


def symmetric_classes(dataset: SequenceClasses) -> bool:
    """The distinct tokens of all classes have the same float64 probabilities."""
    own = distinct_tokens(dataset)
    return len({tuple(sorted(c.probabilities[token] for token in own[c.next])) for c in dataset.classes}) == 1


def shared_common(dataset: SequenceClasses) -> bool:
    """Every common token has one float64 probability in all classes."""
    common = common_tokens(dataset)
    return all(len({c.probabilities.get(token, 0.0) for c in dataset.classes}) == 1 for token in common)


EXACTLY: Mapping[str, Callable[[SequenceClasses], bool]] = {
    predicate.__name__: predicate for predicate in (equal_overlaps, symmetric_classes, shared_common)
}
"""By the name of the assumption; the others grant nothing, or are compared with error bars on both sides."""


def only_to_rounding(dataset: SequenceClasses, assumption: str) -> bool:
    """Whether an assumption that holds does so up to rounding alone.

    >>> third = 1 / 3
    >>> classes = [("m", "q", {"a": third, "the": 2 * third}), ("n", "q", {"b": third, "the": 2 * third * (1 + 2e-16)})]
    >>> data = SequenceClasses.from_weights("two", None, classes)
    >>> only_to_rounding(data, "shared_common"), only_to_rounding(data, "equal_overlaps")
    (True, False)
    """
    return assumption in EXACTLY and not EXACTLY[assumption](dataset)
