"""A dataset: samples of next-token prediction over one vocabulary."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from marginaudit.orders.arrays import read_only
from marginaudit.orders.errors import InputError
from marginaudit.orders.notebook import html_table
from marginaudit.orders.ntp.collocation import Collocation
from marginaudit.orders.ntp.partial_order import QueryOrder, query_orders
from marginaudit.orders.ntp.relations import Encoded, relations
from marginaudit.orders.reading import Token
from marginaudit.orders.relations import Relations
from marginaudit.orders.text import counted, printable, shown

MOST_SAMPLES = 2**53
"""Limit on the samples of a dataset, with repetitions: float64 is exact for counts and 1/pi_min up to it."""


class Sample(NamedTuple):
    """A sentence X = [x_1 .. x_l], of which the last token is the query, with its next token y."""

    tokens: tuple[Token, ...]
    next: Token

    @property
    def query(self) -> Token:
        """The last token, x_l."""
        return self.tokens[-1]

    @property
    def bag(self) -> Counter[Token]:
        """c(x), the multiplicity of each token in the sentence."""
        return Counter(self.tokens)


@dataclass(frozen=True, eq=False)
class Dataset:
    """Distinct samples with their multiplicities, over one vocabulary.

    Made by :func:`marginaudit.orders.ntp.read_dataset`, from a parsed document by
    :func:`marginaudit.orders.ntp.dataset_from_document`, or here from valid sentences.

    Attributes
    ----------
    vocabulary : tuple of V tokens
    samples : tuple of N distinct samples, in order of first occurrence
    counts : tuple of N positive integers
        Multiplicity of each sample, at most `MOST_SAMPLES` in total.
    next_token : mapping
        Explicit values of the collocation, in addition to length-1 samples.
    embedding : (vocabulary, dimension) array or None
        Row x is token x's embedding; None for one-hot.

    Raises
    ------
    InputError
        The counts sum to more than `MOST_SAMPLES`.

    >>> data = Dataset.from_sentences("tiny", [["S", "V", "O"], ["V", "O", "S"]])
    >>> [("".join(s.tokens), s.next) for s in data.samples]
    [('S', 'V'), ('SV', 'O'), ('V', 'O'), ('VO', 'S')]
    >>> data.collocation.function
    {'S': 'V', 'V': 'O'}
    """

    name: str
    vocabulary: tuple[Token, ...]
    samples: tuple[Sample, ...]
    counts: tuple[int, ...]
    next_token: Mapping[Token, Token] = field(default_factory=dict)
    embedding: NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        require_countable(self.counts, f"dataset {printable(self.name)}: counts")

    @classmethod
    def from_sentences(
        cls, name: str, sentences: Iterable[Sequence[Token]], *, vocabulary: Sequence[Token] | None = None
    ) -> "Dataset":
        """Dataset of all prefix samples ([x_1 .. x_i], x_{i+1}) of the sentences."""
        sentences = [tuple(s) for s in sentences]
        counts: Counter[Sample] = Counter()
        for sentence in sentences:
            counts.update(prefix_samples(sentence))
        names = tuple(dict.fromkeys(chain.from_iterable(sentences))) if vocabulary is None else tuple(vocabulary)
        return cls(name, names, tuple(counts), tuple(counts.values()))

    @property
    def V(self) -> int:
        """Number of tokens in the vocabulary."""
        return len(self.vocabulary)

    @property
    def N(self) -> int:
        """Number of distinct samples."""
        return len(self.samples)

    @cached_property
    def L_max(self) -> int:
        """Length of the longest sample, without the next token."""
        return max(len(s.tokens) for s in self.samples)

    @cached_property
    def index(self) -> dict[Token, int]:
        """Position of each token in the vocabulary."""
        return {x: i for i, x in enumerate(self.vocabulary)}

    @cached_property
    def frequencies(self) -> NDArray[np.float64]:
        """pi_n, shape (samples,): multiplicity over the total, length-1 samples included."""
        total = sum(self.counts)
        return read_only(np.array([count / total for count in self.counts]))

    @cached_property
    def smallest_frequency(self) -> Fraction:
        """pi_min, exactly."""
        return Fraction(min(self.counts), sum(self.counts))

    @cached_property
    def embeddings(self) -> NDArray[np.float64]:
        """The embedding matrix, shape (vocabulary, dimension), one-hot by default."""
        return read_only(np.eye(self.V) if self.embedding is None else self.embedding.view())

    @cached_property
    def collocation(self) -> Collocation:
        """n, from ``next_token`` and the length-1 samples [x] -> n(x)."""
        read: dict[Token, dict[Token, None]] = {x: {} for x in self.vocabulary}
        for x, y in self.next_token.items():
            read[x][y] = None
        for sample in self.samples:
            if len(sample.tokens) == 1:
                read[sample.tokens[0]][sample.next] = None
        return Collocation({x: tuple(values) for x, values in read.items()})

    @cached_property
    def encoded(self) -> Encoded:
        """The samples as arrays of token indices."""
        index, size = self.index, self.V
        lengths = [len(s.tokens) for s in self.samples]
        every = chain.from_iterable(sample.tokens for sample in self.samples)
        token = np.fromiter(map(index.__getitem__, every), dtype=np.int32, count=sum(lengths))
        owner = np.repeat(np.arange(self.N, dtype=np.int32), lengths)
        following = np.array([index[s.next] for s in self.samples], dtype=np.int64)
        pairs = [index[x] * size + index[y] for x, values in self.collocation.values.items() for y in values]
        found = Encoded(
            token=token,
            owner=owner,
            query=token[np.cumsum(lengths) - 1].astype(np.int64),
            next=following,
            optimal=np.zeros(len(token), dtype=bool),
            vocabulary_size=size,
        )
        for block in found.blocks():
            code = token[block].astype(np.int64) * size + following[owner[block]]
            found.optimal[block] = np.isin(code, np.array(pairs, dtype=np.int64))
        return found

    @cached_property
    def relations(self) -> Relations:
        """Every relation of Definition 1, as arrays."""
        return relations(self.encoded)

    @cached_property
    def orders(self) -> dict[Token, QueryOrder]:
        """The partial order of every query that heads a relation."""
        return query_orders(self.relations, self.vocabulary)

    def _repr_html_(self) -> str:
        rows = [(" ".join(s.tokens), s.next, n) for s, n in zip(self.samples, self.counts, strict=True)]
        title = f"{self.name}: {counted(self.V, 'token')}, {counted(self.N, 'sample')}"
        return html_table(title, ("sample", "next token", "count"), rows)


def require_countable(counts: Iterable[int], where: str) -> None:
    """Raise if the counts sum to more than `MOST_SAMPLES`.

    Raises
    ------
    InputError
        The sum is larger; the message includes ``where``.
    """
    total = sum(counts)
    if total > MOST_SAMPLES:
        expected = f"at most {MOST_SAMPLES} (2^53, up to where float64 has every integer)"
        raise InputError(where, got=f"{shown(total)} samples, repetitions counted", expected=expected)


def prefix_samples(sentence: Sequence[Token]) -> list[Sample]:
    """The samples ([x_1 .. x_i], x_{i+1}), i = 1 .. length - 1, of a sentence."""
    words = tuple(sentence)
    return [Sample(words[:i], words[i]) for i in range(1, len(words))]
