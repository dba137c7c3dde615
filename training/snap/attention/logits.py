"""State of attention: logits z of queries and contextual tokens, and the attention they give."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from marginaudit.orders.arrays import Floats, Integers
from marginaudit.orders.snap import SequenceClasses


@dataclass(frozen=True, eq=False)
class Logits:
    """Index of z: the pairs of a query and a token that occurs in one of its classes.

    >>> data = SequenceClasses.from_weights("two", 9, [("m", "p", {"a": 1, "the": 1}), ("n", "q", {"the": 1})])
    >>> logits = Logits(data)
    >>> logits.names
    (('p', 'a'), ('p', 'the'), ('q', 'the'))
    >>> logits.attended(np.array([np.log(0.75), 0.0, 5.0])).round(12)
    array([[0.6, 0.8],
           [0. , 1. ]])
    """

    data: SequenceClasses

    @cached_property
    def of_query(self) -> Floats:
        """Indicator of each query's classes, shape (queries, classes)."""
        return np.asarray((self.data.asked == np.arange(len(self.data.queries))[:, np.newaxis]).astype(np.float64))

    @cached_property
    def pairs(self) -> tuple[Integers, Integers]:
        """Indices of each pair's query and contextual token."""
        query, token = np.nonzero(self.of_query @ (self.data.P > 0) > 0)
        return query, token

    @cached_property
    def names(self) -> tuple[tuple[str, str], ...]:
        """Names of each pair's query and token."""
        queries = list(self.data.queries)
        return tuple((queries[q], self.data.contextual[l]) for q, l in zip(*self.pairs, strict=True))  # noqa: E741

    def position(self, n: int, token: str) -> int:
        """Index into z of a class's query and a token."""
        return self.names.index((self.data.classes[n].query, token))

    def attended(self, z: Floats) -> Floats:
        """f_n = c_n/|c_n|, c_n(l) proportional to P(l|n) exp(z), of shape (.., classes, contextual)."""
        padded = np.concatenate([z, np.zeros((*z.shape[:-1], 1))], axis=-1)
        logs = self._log_P + padded.take(self._of_class, axis=-1)
        powers = np.exp(logs - np.maximum.reduce(logs, axis=-1, keepdims=True))
        return np.asarray(powers / np.sqrt(np.add.reduce(powers * powers, axis=-1, keepdims=True)))

    @cached_property
    def _of_class(self) -> Integers:
        """Position in z of each class and contextual token, shape (classes, contextual); -1 for other pairs."""
        found = np.full((len(self.of_query), len(self.data.contextual)), -1)
        found[self.pairs] = np.arange(len(self.names))
        return np.asarray(found[self.data.asked])

    @cached_property
    def _log_P(self) -> Floats:
        with np.errstate(divide="ignore"):
            return np.log(self.data.P)
