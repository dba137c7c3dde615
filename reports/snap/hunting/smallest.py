"""Enumeration of the smallest sequence classes, smallest first."""

from collections.abc import Iterator
from itertools import combinations_with_replacement, permutations

from marginaudit.orders.snap import SequenceClasses

NAMES = tuple("abcdefgh")
"""Token names; contextual tokens, queries and next tokens share them to keep the number small."""

MOST_CLASSES = 3
MOST_TOKENS = 3

TENTHS = ((10,), (5, 5), (4, 6), (1, 9), (2, 8), (4, 3, 3))
"""Probabilities of the tokens of a class, in any order.

Two classes of 0.4 on one token and 0.6 on their own meet Assumption 2, and so do two that share tokens of which each is
rare in one of them.
"""

VOCABULARIES = (0, 1, 2, 1000)
"""Numbers of unnamed tokens, and M = 1000, where range R starts."""

Row = tuple[int, ...]


def smallest_classes() -> Iterator[SequenceClasses]:
    """All classes of up to three over up to three tokens, up to the names of both, with one query and a few M.

    Probabilities are those of `TENTHS`.
    """
    for K in range(1, MOST_CLASSES + 1):
        for tokens in range(1, MOST_TOKENS + 1):
            for rows in _matrices(K, tokens):
                named = max(K, tokens)
                for more in VOCABULARIES:
                    yield _classes(rows, max(named, more) if more == max(VOCABULARIES) else named + more)


def _matrices(K: int, tokens: int) -> Iterator[tuple[Row, ...]]:
    """Rows of tenths in which every token occurs, up to renaming of classes and tokens."""
    seen = set()
    for rows in combinations_with_replacement(_rows(tokens), K):
        columns = list(zip(*rows, strict=True))
        if all(map(any, columns)):
            same = {tuple(sorted(zip(*order, strict=True))) for order in permutations(columns)}
            if min(same) not in seen:
                seen.add(min(same))
                yield rows


def _rows(tokens: int) -> list[Row]:
    return sorted(
        {
            row
            for tenths in TENTHS
            if len(tenths) <= tokens
            for row in permutations((*tenths, *[0] * (tokens - len(tenths))))
        }
    )


def _classes(rows: tuple[Row, ...], M: int) -> SequenceClasses:
    listed = [
        (following, NAMES[0], {token: tenths / 10 for token, tenths in zip(NAMES, row, strict=False) if tenths})
        for following, row in zip(NAMES, rows, strict=False)
    ]
    return SequenceClasses.from_weights("hunted", M, listed)
