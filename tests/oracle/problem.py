"""A dataset's document as plain data, read by the rules of docs/commands.md, section Datasets."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any


@dataclass(frozen=True)
class Problem:
    """What the ledger's statements are about.

    Attributes
    ----------
    vocabulary : V tokens
    counts : mapping from (sentence, next token), the N distinct samples, to their multiplicities
    values : mapping from each token to all next tokens that the data give for it
    rows : the embedding, a row of exact numbers a token, or None for one-hot
    """

    vocabulary: tuple[str, ...]
    counts: Mapping[tuple[tuple[str, ...], str], int]
    values: Mapping[str, frozenset[str]]
    rows: tuple[tuple[Fraction, ...], ...] | None

    @property
    def V(self) -> int:
        return len(self.vocabulary)

    @property
    def N(self) -> int:
        return len(self.counts)

    @property
    def L(self) -> int:
        """L_max."""
        return max(len(tokens) for tokens, _ in self.counts)

    @property
    def total(self) -> int:
        return sum(self.counts.values())

    @property
    def n(self) -> dict[str, str]:
        """The collocation; a KeyError on use where it is no function on that token."""
        return {x: next(iter(y)) for x, y in self.values.items() if len(y) == 1}

    def maps(self, x: str, y: str) -> bool:
        """n(x) = y."""
        return y in self.values[x]

    @property
    def gram(self) -> list[list[Fraction]]:
        """All inner products of embeddings."""
        if self.rows is None:
            return [[Fraction(i == j) for j in range(self.V)] for i in range(self.V)]
        return [[sum((a * b for a, b in zip(x, z, strict=True)), Fraction(0)) for z in self.rows] for x in self.rows]


def problem(document: Mapping[str, Any]) -> Problem:
    """A document in the format of dataset files."""
    counts: dict[tuple[tuple[str, ...], str], int] = {}
    for tokens, following, count in _samples(document):
        counts[tokens, following] = counts.get((tokens, following), 0) + count
    used = [x for sentence in document.get("sentences", []) for x in sentence]
    for sample in document.get("samples", []):
        used += [*sample["tokens"], sample["next"]]
    for pair in document.get("next_token", {}).items():
        used += pair
    vocabulary = tuple(document.get("vocabulary", dict.fromkeys(used)))
    values: dict[str, set[str]] = {x: set() for x in vocabulary}
    for x, y in document.get("next_token", {}).items():
        values[x].add(y)
    for tokens, following in counts:
        if len(tokens) == 1:
            values[tokens[0]].add(following)
    rows = document.get("embedding")
    return Problem(
        vocabulary,
        counts,
        {x: frozenset(found) for x, found in values.items()},
        None if rows is None else tuple(tuple(Fraction(a) for a in row) for row in rows),
    )


def _samples(document: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...], str, int]]:
    for sentence in document.get("sentences", []):
        for length in range(1, len(sentence)):
            yield tuple(sentence[:length]), sentence[length], 1
    for sample in document.get("samples", []):
        yield tuple(sample["tokens"]), sample["next"], sample.get("count", 1)
