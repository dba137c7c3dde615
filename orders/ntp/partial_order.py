"""One partial order per query, as a networkx graph, and its four classes of tokens."""

from collections.abc import Mapping, Sequence
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
    """The relation >_q of one query; an edge of ``graph`` runs from the winner to the loser.

    Its attribute ``sample`` is the index of the first sample with this relation. The four classes partition the
    vocabulary, in its order.

    Source: arXiv 2409.17335, Definition 1 and the list of classes after it.

    >>> import networkx as nx
    >>> order = QueryOrder("O", ("S", "V", "O", "P"), nx.DiGraph([("O", "S"), ("O", "V")]))
    >>> order.optimal, order.non_optimal, order.confused, order.non_comparable
    (('O',), ('S', 'V'), (), ('P',))
    """

    query: Token
    vocabulary: tuple[Token, ...]
    graph: "nx.DiGraph[Token]"
    positions: Mapping[Token, int] | None = field(default=None, repr=False, compare=False)
    """Positions of the tokens in the vocabulary, if known."""

    @cached_property
    def optimal(self) -> tuple[Token, ...]:
        """Tokens that only win."""
        return self._tokens(beats=True, beaten=False)

    @cached_property
    def non_optimal(self) -> tuple[Token, ...]:
        """Tokens that only lose."""
        return self._tokens(beats=False, beaten=True)

    @cached_property
    def confused(self) -> tuple[Token, ...]:
        """Tokens that both win and lose."""
        return self._tokens(beats=True, beaten=True)

    @cached_property
    def non_comparable(self) -> tuple[Token, ...]:
        """Tokens without a relation."""
        return tuple(x for x in self.vocabulary if x not in self.graph)

    @property
    def leaves_some(self) -> bool:
        """Whether some token has no relation, without listing them."""
        return len(self.graph) < len(self.vocabulary)

    def _tokens(self, *, beats: bool, beaten: bool) -> tuple[Token, ...]:
        graph = self.graph
        found = (x for x in graph if bool(graph.out_degree(x)) == beats and bool(graph.in_degree(x)) == beaten)
        return tuple(sorted(found, key=self._position.__getitem__))

    @cached_property
    def _position(self) -> Mapping[Token, int]:
        return self.positions or {x: i for i, x in enumerate(self.vocabulary)}

    @property
    def relations(self) -> list[tuple[Token, Token]]:
        """All pairs (winner, loser), in vocabulary order."""
        position = self._position
        return sorted(self.graph.edges, key=lambda edge: (position[edge[0]], position[edge[1]]))

    def cycle(self) -> tuple[Token, ...] | None:
        """Tokens x_1 >_q x_2 >_q .. >_q x_1, a witness that the relation's closure is not irreflexive, or None.

        >>> import networkx as nx
        >>> QueryOrder("b", ("a", "b"), nx.DiGraph([("a", "b"), ("b", "a")])).cycle()
        ('a', 'b')
        """
        import networkx as nx

        try:
            edges = nx.find_cycle(self.graph)
        except nx.NetworkXNoCycle:
            return None
        return tuple(edge[0] for edge in edges)


def query_orders(relations: Relations, vocabulary: Sequence[Token]) -> dict[Token, QueryOrder]:
    """The order of every query that heads at least one relation, queries in vocabulary order."""
    import networkx as nx

    names = tuple(vocabulary)
    positions = {x: i for i, x in enumerate(names)}
    orders: dict[Token, QueryOrder] = {}
    heads, starts = np.unique(relations.query, return_index=True)
    bounds = pairwise([*starts, len(relations)])
    for head, (start, end) in zip(heads, bounds, strict=True):
        graph: nx.DiGraph[Token] = nx.DiGraph()
        graph.add_edges_from(
            (names[winner], names[loser], {"sample": sample})
            for winner, loser, sample in zip(
                relations.winner[start:end].tolist(),
                relations.loser[start:end].tolist(),
                relations.sample[start:end].tolist(),
                strict=True,
            )
        )
        orders[names[head]] = QueryOrder(query=names[head], vocabulary=names, graph=graph, positions=positions)
    return orders
