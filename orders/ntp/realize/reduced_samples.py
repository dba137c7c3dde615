"""Samples reduced to query, next token and set of tokens, on which alone Assumption 1 depends."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marginaudit.orders.jit import compiled
from marginaudit.orders.ntp.dataset import Dataset
from marginaudit.orders.ntp.realize.words import Indices32, Text
from marginaudit.orders.relations import Indices


@dataclass(frozen=True, eq=False)
class ReducedSamples:
    """Distinct samples, sorted by query, each with the distinct tokens of its sentence.

    Attributes
    ----------
    vocabulary_size : int
        V.
    sentence : (positions,)
        Tokens of sentences; sample s is ``sentence[first[s] : first[s] + length[s]]``.
    first, length, query, next, count : (samples,)
    start : (samples + 1,)
        Start of each sample's distinct tokens in ``token``.
    token : (places,)
        Distinct tokens in order of first occurrence, sample by sample.
    eligible : (places,)
        Whether the token x may have the next token as n(x): all tokens, or under Assumption 3 those not outnumbered by
        another token of the sentence.
    """

    vocabulary_size: int
    sentence: Indices32
    first: Indices
    length: Indices
    query: Indices
    next: Indices
    count: Indices
    start: Indices
    token: Indices32
    eligible: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.query)

    @property
    def total(self) -> int:
        """Number of samples, with repetitions."""
        return int(self.count.sum())

    @cached_property
    def size(self) -> Indices:
        """Number of distinct tokens of each sample."""
        return np.diff(self.start)

    @cached_property
    def query_start(self) -> Indices:
        """Start of each query's samples, and the end of the last query's."""
        changes = np.flatnonzero(np.diff(self.query)) + 1
        return np.concatenate(([0], changes, [len(self)]))

    def tokens_of(self, sample: int) -> list[int]:
        """The sentence of a sample."""
        first = self.first[sample]
        tokens: list[int] = self.sentence[first : first + self.length[sample]].tolist()
        return tokens


def alike(samples: ReducedSamples) -> Indices:
    """Class of each sample by query and set of tokens, on which its winners depend.

    >>> alike(samples_of_dataset(Dataset.from_sentences("x", ["abab", "baab"]))).tolist()
    [0, 2, 2, 2, 3, 1]
    """
    owner = np.repeat(np.arange(len(samples)), samples.size)
    token = np.sort(owner * samples.vocabulary_size + samples.token) - owner * samples.vocabulary_size
    number, known = np.empty(len(samples), dtype=np.int64), 0
    for size in np.unique(samples.size).tolist():
        here = np.flatnonzero(samples.size == size)
        rows = np.column_stack([samples.query[here], token[samples.start[here, None] + np.arange(size)]])
        found = np.unique(rows, axis=0, return_inverse=True)[1]
        number[here], known = known + found, known + int(found.max()) + 1
    return number


def samples_of(text: Text, *, majority: bool = False) -> ReducedSamples:
    """All prefix samples of a text.

    A sample is a path in the tree of prefixes, so equal ones are found level by level, without a table of sentences.
    With ``majority`` only tokens that meet Assumption 3 are eligible.
    """
    V, start = len(text.vocabulary), text.start[:-1]
    size = np.diff(text.start)
    node = text.token[start].astype(np.int64)
    levels = []
    for length in range(1, text.longest + 1):
        active = np.flatnonzero(size > length)
        code = node[active] * V + text.token[start[active] + length]
        _, one, path, count = np.unique(code, return_index=True, return_inverse=True, return_counts=True)
        levels.append(np.stack([start[active[one]], np.full(len(one), length), count]))
        node[active] = path
    first, long, count = np.concatenate(levels, axis=1)
    del levels, node, active, code, one, path
    return _samples(V, text.token, first, long, text.token[first + long].astype(np.int64), count, majority=majority)


def samples_of_dataset(dataset: Dataset, *, majority: bool = False) -> ReducedSamples:
    """The samples of a dataset.

    >>> samples = samples_of_dataset(Dataset.from_sentences("x", ["aba"]))
    >>> [(samples.tokens_of(s), int(samples.next[s])) for s in range(len(samples))]
    [([0], 1), ([0, 1], 0)]
    """
    encoded = dataset.encoded
    long = np.bincount(encoded.owner)
    first, count = np.cumsum(long) - long, np.array(dataset.counts)
    return _samples(dataset.V, encoded.token, first, long, encoded.next, count, majority=majority)


def _samples(
    V: int, sentence: Indices32, first: Indices, length: Indices, following: Indices, count: Indices, *, majority: bool
) -> ReducedSamples:
    query = sentence[first + length - 1].astype(np.int64)
    order = np.argsort(query, kind="stable")
    first, length = first[order], length[order]
    start, token, eligible = _distinct(V, sentence, first, length, majority)
    return ReducedSamples(
        V, sentence, first, length, query[order], following[order], count[order], start, token, eligible
    )


@compiled
def _distinct(V: int, sentence: Indices32, first: Indices, length: Indices, majority: bool) -> Any:
    """Start of each sample's distinct tokens, the tokens, and their eligibility."""
    places = 0
    times = np.zeros(V, dtype=np.int32)
    for s in range(len(first)):
        for i in range(first[s], first[s] + length[s]):
            places += times[sentence[i]] == 0
            times[sentence[i]] += 1
        for i in range(first[s], first[s] + length[s]):
            times[sentence[i]] = 0
    start = np.zeros(len(first) + 1, dtype=np.int64)
    token = np.empty(places, dtype=np.int32)
    eligible = np.ones(places, dtype=np.bool_)
    at = 0
    for s in range(len(first)):
        most = 0
        for i in range(first[s], first[s] + length[s]):
            x = sentence[i]
            if times[x] == 0:
                token[at] = x
                at += 1
            times[x] += 1
            most = max(most, times[x])
        start[s + 1] = at
        for place in range(start[s], at):
            eligible[place] = not majority or times[token[place]] == most
            times[token[place]] = 0
    return start, token, eligible
