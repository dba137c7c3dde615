"""Datasets of sequence classes: a next token, its query, and the distribution of the tokens before the query."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from marginaudit.orders.arrays import Floats, read_only
from marginaudit.orders.notebook import html_table
from marginaudit.orders.reading import Token
from marginaudit.orders.snap.overlap import AttentionOverlap, overlap_of
from marginaudit.orders.text import counted

ROUNDING_OF_A_SUM = 2.0**-52
"""Distance from 1 of the sum of numbers divided by their sum: two unit roundoffs."""


@dataclass(frozen=True)
class SequenceClass:
    """A class n: next token, query token psi(n) and P(l|n), which sums to 1 up to rounding.

    Tokens of probability 0 are named but do not occur.
    """

    next: Token
    query: Token
    probabilities: Mapping[Token, float]

    @cached_property
    def support(self) -> tuple[Token, ...]:
        """The tokens with P(l|n) > 0."""
        return tuple(token for token, p in self.probabilities.items() if p > 0)


@dataclass(frozen=True, eq=False)
class SequenceClasses:
    """K sequence classes over a vocabulary of M tokens; only the named ones take memory.

    Made by :func:`marginaudit.orders.snap.read_classes`, from a parsed document by
    :func:`marginaudit.orders.snap.classes_from_document`, or from weights by `from_weights`.

    Source: arXiv 2305.16380, section 3.2.

    Attributes
    ----------
    M : int
        Vocabulary size, at least the number of `tokens`.
    classes : tuple of K classes, no two with the same next token
    weights : tuple of K positive numbers, or None
        Relative frequency of each class; None for equal ones.

    Raises
    ------
    ValueError
        M is less than the number of tokens named.

    >>> data = SequenceClasses.from_weights("two", 5000, [("n0", "q", {"a": 7, "the": 3}), ("n1", "q", {"the": 1})])
    >>> data.K, data.tokens, data.contextual
    (2, ('a', 'the', 'q', 'n0', 'n1'), ('a', 'the'))
    >>> data.P
    array([[0.7, 0.3],
           [0. , 1. ]])
    """

    name: str
    M: int
    classes: tuple[SequenceClass, ...]
    weights: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        """Raise if M is too small: compiled training writes to arrays of that size."""
        if len(self.tokens) > self.M:
            raise ValueError(f"M: got {self.M}, expected at least {len(self.tokens)}, the number of tokens named")

    @classmethod
    def from_weights(
        cls, name: str, M: int | None, classes: Iterable[tuple[Token, Token, Mapping[Token, float]]]
    ) -> "SequenceClasses":
        """Dataset of valid classes (next, query, weights of contextual tokens); M is by default the number of tokens.

        >>> data = SequenceClasses.from_weights("one", None, [("n", "q", {"a": 1, "b": 3})])
        >>> data.M, dict(data.classes[0].probabilities)
        (4, {'a': 0.25, 'b': 0.75})
        """
        made = tuple(SequenceClass(n, query, normalized(weights)) for n, query, weights in classes)
        return cls(name, len(named_tokens(made)) if M is None else M, made)

    @property
    def K(self) -> int:
        """Number of classes."""
        return len(self.classes)

    @cached_property
    def tokens(self) -> tuple[Token, ...]:
        """The named tokens in order of first use: contextual ones, then queries, then next tokens."""
        return named_tokens(self.classes)

    @cached_property
    def contextual(self) -> tuple[Token, ...]:
        """Tokens of some class, in the order of `tokens`."""
        occurring = set(chain.from_iterable(c.support for c in self.classes))
        return tuple(token for token in self.tokens if token in occurring)

    @cached_property
    def index(self) -> dict[Token, int]:
        """Position of each token in `tokens`."""
        return {token: i for i, token in enumerate(self.tokens)}

    @cached_property
    def next_tokens(self) -> tuple[Token, ...]:
        """Each class's next token."""
        return tuple(c.next for c in self.classes)

    @cached_property
    def queries(self) -> Mapping[Token, tuple[int, ...]]:
        """psi^{-1}: each query with the indices of its classes."""
        classes: dict[Token, list[int]] = {}
        for n, c in enumerate(self.classes):
            classes.setdefault(c.query, []).append(n)
        return {query: tuple(found) for query, found in classes.items()}

    @cached_property
    def asked(self) -> NDArray[np.int64]:
        """Each class's query, its position in `queries`, shape (classes,)."""
        number = {query: i for i, query in enumerate(self.queries)}
        return np.array([number[c.query] for c in self.classes])

    @cached_property
    def P(self) -> Floats:
        """P(l|n), shape (classes, contextual), read-only; the attention c_n at Z = 0."""
        column = {token: l for l, token in enumerate(self.contextual)}  # noqa: E741
        found = np.zeros((self.K, len(column)))
        for n, c in enumerate(self.classes):
            found[n, [column[token] for token in c.support]] = [c.probabilities[token] for token in c.support]
        return read_only(found)

    @cached_property
    def overlap(self) -> AttentionOverlap:
        """F, E and its eigenvalues at Z = 0, with attention P(l|n)."""
        return overlap_of(self.P)

    @cached_property
    def frequencies(self) -> Floats:
        """P(n), shape (classes,), read-only."""
        weights = self.weights or (1.0,) * self.K
        return read_only(np.array(weights) / math.fsum(weights))

    def _repr_html_(self) -> str:
        rows = [(one.next, one.query, len(one.support)) for one in self.classes]
        title = f"{self.name}: {counted(self.K, 'class', 'classes')}, {counted(self.M, 'token')}"
        return html_table(title, ("next token", "query", "contextual tokens"), rows)


def named_tokens(classes: Iterable[SequenceClass]) -> tuple[Token, ...]:
    """The tokens of the classes: contextual ones, then queries, then next tokens."""
    classes = tuple(classes)
    contextual = chain.from_iterable(c.probabilities for c in classes)
    return tuple(dict.fromkeys(chain(contextual, (c.query for c in classes), (c.next for c in classes))))


def normalized(weights: Mapping[Token, float]) -> dict[Token, float]:
    """The weights divided by their sum; unchanged if the sum is 1 up to the rounding of such a division.

    So the function is idempotent, and a written dataset is read without a change of bits. The sum is rounded once, so
    equal weights in another order give equal probabilities.
    """
    total = math.fsum(weights.values())
    if abs(total - 1) <= ROUNDING_OF_A_SUM:
        total = 1.0
    return {token: weight / total for token, weight in weights.items()}
