"""Enumeration of the smallest datasets, smallest first."""

from collections.abc import Iterator
from itertools import combinations, combinations_with_replacement, permutations

import networkx as nx

from marginaudit.orders.ntp import Dataset, Sample, Token

NAMES = tuple("abcdefgh")

LARGEST_VOCABULARY = 3
LONGEST = 3
MOST_SAMPLES = 3


def smallest_datasets() -> Iterator[Dataset]:
    """All datasets of up to three samples of two or three tokens over up to three tokens, n injective.

    Samples are enumerated up to the order of tokens before the query, on which no statement about free samples
    depends, and collocations up to renaming of tokens. Each next token is n of a token in its sentence.
    """
    for amount in range(1, MOST_SAMPLES + 1):
        for size in range(1, LARGEST_VOCABULARY + 1):
            names = NAMES[:size]
            for n in _collocations(names):
                for samples in combinations(_samples(names, n), amount):
                    yield Dataset("hunted", names, samples, (1,) * amount, next_token=n)


def _collocations(names: tuple[Token, ...]) -> Iterator[dict[Token, Token]]:
    """One permutation of each cycle type."""
    seen = set()
    for values in permutations(names):
        n = dict(zip(names, values, strict=True))
        lengths = tuple(sorted(map(len, nx.weakly_connected_components(nx.DiGraph(n.items())))))
        if lengths not in seen:
            seen.add(lengths)
            yield n


def _samples(names: tuple[Token, ...], n: dict[Token, Token]) -> list[Sample]:
    return [
        Sample((*others, query), n[winner])
        for length in range(2, LONGEST + 1)
        for query in names
        for others in combinations_with_replacement(names, length - 1)
        for winner in sorted({*others, query})
    ]
