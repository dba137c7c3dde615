"""One partial order per query, and its four classes of tokens."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from marginaudit.orders.reading import Token
from marginaudit.orders.relations import Relations

if TYPE_CHECKING:
    import networkx as nx


@dataclass(frozen=True)
class QueryOrder:
    """The relation >_q of one query: the index of its first sample by winner and loser.

    The four classes partition the vocabulary, in its order.

    Source: arXiv 2409.17335, Definition 1 and the list of classes after it.

    >>> order = QueryOrder("O", ("S", "V", "O", "P"), {("O", "S"): 0, ("O", "V"): 3})
    >>> order.optimal, order.non_optimal, order.confused, order.non_comparable
    (('O',), ('S', 'V'), (), ('P',))
    """

    query: Token
    vocabulary: tuple[Token, ...]
    samples: Mapping[tuple[Token, Token], int]
    positions: Mapping[Token, int] | None = field(default=None, repr=False, compare=False)
    """Positions of the tokens in the vocabulary, if known."""

    @cached_property
    def graph(self) -> "nx.DiGraph[Token]":
        """Relations as a networkx graph; an edge runs from the winner to the loser."""
        import networkx as nx

        return nx.DiGraph(list(self.samples))

    @cached_property
    def optimal(self) -> tuple[Token, ...]:
        """Tokens that only win."""
        return self._sorted(self._winners - self._losers)

    @cached_property
    def non_optimal(self) -> tuple[Token, ...]:
        """Tokens that only lose."""
        return self._sorted(self._losers - self._winners)

    @cached_property
    def confused(self) -> tuple[Token, ...]:
        """Tokens that both win and lose."""
        return self._sorted(self._winners & self._losers)

    @cached_property
    def non_comparable(self) -> tuple[Token, ...]:
        """Tokens without a relation."""
        return tuple(x for x in self.vocabulary if x not in self._comparable)

    @property
    def leaves_some(self) -> bool:
        """Whether some token has no relation, without listing them."""
        return len(self._comparable) < len(self.vocabulary)

    @cached_property
    def _winners(self) -> frozenset[Token]:
        return frozenset(winner for winner, _ in self.samples)

    @cached_property
    def _losers(self) -> frozenset[Token]:
        return frozenset(loser for _, loser in self.samples)

    @cached_property
    def _comparable(self) -> frozenset[Token]:
        return self._winners | self._losers

    def _sorted(self, tokens: Iterable[Token]) -> tuple[Token, ...]:
        return tuple(sorted(tokens, key=self._position.__getitem__))

    @cached_property
    def _position(self) -> Mapping[Token, int]:
        return self.positions or {x: i for i, x in enumerate(self.vocabulary)}

    @property
    def relations(self) -> list[tuple[Token, Token]]:
        """All pairs (winner, loser), in vocabulary order."""
        position = self._position
        return sorted(self.samples, key=lambda edge: (position[edge[0]], position[edge[1]]))

    def cycle(self) -> tuple[Token, ...] | None:
        """Tokens x_1 >_q x_2 >_q .. >_q x_1, a witness that the relation's closure is not irreflexive, or None.

        >>> QueryOrder("b", ("a", "b"), {("a", "b"): 0, ("b", "a"): 1}).cycle()
        ('a', 'b')
        """
        if not self.confused:  # each token of a cycle wins and loses; spares the import
            return None
        import networkx as nx

        try:
            edges = nx.find_cycle(self.graph)
        except nx.NetworkXNoCycle:
            return None
        return tuple(edge[0] for edge in edges)


def query_orders(relations: Relations, vocabulary: Sequence[Token]) -> dict[Token, QueryOrder]:
    """The order of every query that heads at least one relation, queries in vocabulary order."""
    names = tuple(vocabulary)
    positions = {x: i for i, x in enumerate(names)}
    orders: dict[Token, QueryOrder] = {}
    heads, starts = np.unique(relations.query, return_index=True)
    bounds = pairwise([*starts, len(relations)])
    for head, (start, end) in zip(heads, bounds, strict=True):
        samples = {
            (names[winner], names[loser]): sample
            for winner, loser, sample in zip(
                relations.winner[start:end].tolist(),
                relations.loser[start:end].tolist(),
                relations.sample[start:end].tolist(),
                strict=True,
            )
        }
        orders[names[head]] = QueryOrder(query=names[head], vocabulary=names, samples=samples, positions=positions)
    return orders
