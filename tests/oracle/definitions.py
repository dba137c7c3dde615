"""Relations, token classes and assumptions, each from its definition in the ledger by trying everything."""

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product

from tests.oracle.problem import Problem

TOLERANCE = Fraction(1, 10**12)
"""Of Assumption 2: what a rotation in float64 is allowed."""


@dataclass(frozen=True)
class Order:
    """The relation under one query and the partition of the vocabulary by it, in vocabulary order."""

    beats: frozenset[tuple[str, str]]
    optimal: tuple[str, ...]
    non_optimal: tuple[str, ...]
    confused: tuple[str, ...]
    non_comparable: tuple[str, ...]


def orders(p: Problem) -> dict[str, Order]:
    """Definition 1 under every query that heads a relation."""
    found = {}
    for q in p.vocabulary:
        beats = frozenset(
            (x, z)
            for (tokens, y) in p.counts
            if tokens[-1] == q
            for x, z in product(tokens, tokens)
            if p.maps(x, y) and not p.maps(z, y)
        )
        if beats:
            winners, losers = {x for x, _ in beats}, {z for _, z in beats}
            kind = {x: (x in winners, x in losers) for x in p.vocabulary}
            wanted = ((True, False), (False, True), (True, True), (False, False))
            found[q] = Order(beats, *(tuple(x for x in p.vocabulary if kind[x] == one) for one in wanted))
    return found


def assumptions(p: Problem) -> dict[str, bool]:
    """The eight predicates of the interface."""
    pairs = [(x, y) for x in p.vocabulary for y in p.values[x]]
    gram = p.gram
    return {
        "collocation": all(len(p.values[x]) == 1 for x in p.vocabulary),
        "injective": not any(x != z and y == w for (x, y), (z, w) in combinations(pairs, 2)),
        "next_from_sentence": all(any(p.maps(x, y) for x in tokens) for tokens, y in p.counts),
        "well_defined_orders": not any(_has_cycle(order.beats) for order in orders(p).values()),
        "no_confused_tokens": not any(order.confused for order in orders(p).values()),
        "orthonormal": all(abs(gram[i][j] - (i == j)) <= TOLERANCE for i, j in product(range(p.V), repeat=2)),
        "optimal_majority": all(_majority(p, tokens, y) for tokens, y in p.counts),
        "prefix_closed": all(
            (tokens[:length], tokens[length]) in p.counts for tokens, _ in p.counts for length in range(1, len(tokens))
        ),
    }


def _has_cycle(beats: frozenset[tuple[str, str]]) -> bool:
    """Whether the transitive closure relates a token to itself."""
    closure = set(beats)
    while True:
        more = {(x, w) for (x, z), (y, w) in product(closure, closure) if z == y} - closure
        if not more:
            return any(x == z for x, z in closure)
        closure |= more


def _majority(p: Problem, tokens: tuple[str, ...], y: str) -> bool:
    bag = Counter(tokens)
    optimal = sum(count for x, count in bag.items() if p.maps(x, y))
    return all(optimal >= count for x, count in bag.items() if not p.maps(x, y))
