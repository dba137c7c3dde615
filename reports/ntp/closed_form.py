"""The closed form of W*_kq in Proposition 2, and the condition under which it holds."""

from fractions import Fraction
from itertools import combinations

import networkx as nx

from marginaudit.orders.ntp import QueryOrder, Token
from marginaudit.reports.ntp.run import Run

BRUTE_FORCE = 10
"""With at most this number of optimal tokens every set S of them is tried; with more a maximum flow decides."""

BEATEN = "|N(S)| k >= |S| m for every set S of the optimal tokens"


def closed_form_value(order: QueryOrder, token: Token) -> Fraction:
    """m/(k+m) on the k optimal tokens of a query, -k/(k+m) on its m non-optimal ones, 0 elsewhere."""
    k, m = len(order.optimal), len(order.non_optimal)
    if token in order.optimal:
        return Fraction(m, k + m)
    return Fraction(-k, k + m) if token in order.non_optimal else Fraction(0)


def hall_condition(order: QueryOrder) -> bool:
    """|N(S)| k >= |S| m for every set S of the k optimal tokens, m non-optimal ones.

    >>> graph = nx.DiGraph([("a", "q"), ("b", "q"), ("b", "x"), ("b", "y")])
    >>> hall_condition(QueryOrder("q", tuple("abqxy"), graph))
    False
    """
    k, m = len(order.optimal), len(order.non_optimal)
    if k <= BRUTE_FORCE:
        beaten = {x: set(order.graph.successors(x)) for x in order.optimal}
        return all(
            len(set().union(*(beaten[x] for x in S))) * k >= size * m
            for size in range(1, k + 1)
            for S in combinations(order.optimal, size)
        )
    network: nx.DiGraph[object] = nx.DiGraph()
    network.add_edges_from(("source", x, {"capacity": m}) for x in order.optimal)
    network.add_edges_from((x, "sink", {"capacity": k}) for x in order.non_optimal)
    network.add_edges_from(order.graph.edges, capacity=k * m)
    return bool(nx.maximum_flow_value(network, "source", "sink") == k * m)


def not_beaten_enough(run: Run) -> str | None:
    """A query without that condition, or None."""
    return next((f"query {q!r} fails it" for q, order in run.dataset.orders.items() if not hall_condition(order)), None)
