"""The samples of stage 2 as arrays: equal (query, bag, next) merged, one edge per distinct token."""

from collections import Counter
from dataclasses import dataclass
from typing import TypeAlias
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from marginaudit.orders.ntp import Dataset

Indices: TypeAlias = NDArray[np.int64]

Key: TypeAlias = tuple[int, tuple[tuple[int, int, int], ...], int]
"""Query, the (label, token, multiplicity) of the bag, and next token."""


@dataclass(frozen=True, eq=False)
class SampleClasses:
    """Samples merged by (query, bag, next token), on which alone the loss of eq. 1 depends.

    Edges are the pairs (class, distinct token of its sentence), sorted by class, then by the token's
    label n(x), then by token. A slot is a run of edges of one class with one label.

    Attributes
    ----------
    query, next, answer : (classes,) integer arrays
        Query token, next token y, and the slot of label y (-1 where no token of the sentence has it).
    frequency : (classes,) array
        Summed pi.
    edge_class, token, multiplicity : (edges,) integer arrays
    optimal : (edges,) bool array
        n(token) = y.
    slot : (edges,) integer array
    first_edge, first_slot : (classes,) integer arrays
        Where each class begins.
    slot_class, slot_label, slot_first_edge : (slots,) integer arrays
    key, pair_query : (pairs,) integer arrays
        The pairs (token, query) that occur, sorted by query, then key.
    pair : (edges,) integer array
    """

    query: Indices
    next: Indices
    answer: Indices
    frequency: NDArray[np.float64]
    edge_class: Indices
    token: Indices
    multiplicity: Indices
    optimal: NDArray[np.bool_]
    slot: Indices
    first_edge: Indices
    first_slot: Indices
    slot_class: Indices
    slot_label: Indices
    slot_first_edge: Indices
    key: Indices
    pair_query: Indices
    pair: Indices

    def __len__(self) -> int:
        return len(self.query)


def class_of_samples(dataset: Dataset) -> Indices:
    """The class in `sample_classes` of each sample."""
    keys = _keys(dataset)
    place = {key: i for i, key in enumerate(sorted(set(keys)))}
    return np.array([place[key] for key in keys], dtype=np.int64)


def sample_classes(dataset: Dataset) -> SampleClasses:
    """Merge the samples.

    >>> from marginaudit.orders.ntp import Dataset, Sample
    >>> samples = (Sample(("a", "b", "q"), "b"), Sample(("b", "a", "q"), "b"))
    >>> data = Dataset("two", ("a", "b", "q"), samples, (1, 3), next_token={"a": "b", "b": "q", "q": "a"})
    >>> classes = sample_classes(data)
    >>> len(classes), classes.frequency.tolist(), classes.token.tolist(), classes.optimal.tolist()
    (1, [1.0], [2, 0, 1], [False, True, False])

    Raises
    ------
    CollocationError
        n is not a function on the whole vocabulary.
    """
    if dataset not in _MERGED:
        _MERGED[dataset] = _merged(dataset)
    return _MERGED[dataset]


_MERGED: WeakKeyDictionary[Dataset, SampleClasses] = WeakKeyDictionary()
"""The classes of datasets in use."""


def _merged(dataset: Dataset) -> SampleClasses:
    counts: Counter[Key] = Counter()
    for key, count in zip(_keys(dataset), dataset.counts, strict=True):
        counts[key] += count
    merged = sorted(counts)
    total = sum(dataset.counts)

    query = np.array([q for q, _, _ in merged], dtype=np.int64)
    following = np.array([y for _, _, y in merged], dtype=np.int64)
    rows = np.array([(k, *entry) for k, (_, bag, _) in enumerate(merged) for entry in bag], dtype=np.int64).reshape(
        -1, 4
    )
    edge_class, label, token, multiplicity = rows.T
    slots, slot_first_edge, slot = np.unique(edge_class * dataset.V + label, return_index=True, return_inverse=True)
    slot_class, slot_label = slots // dataset.V, slots % dataset.V
    answer = np.full(len(merged), -1, dtype=np.int64)
    answered = np.flatnonzero(slot_label == following[slot_class])
    answer[slot_class[answered]] = answered
    pairs, pair = np.unique(query[edge_class] * dataset.V + token, return_inverse=True)
    every_class = np.arange(len(merged))
    return SampleClasses(
        query=query,
        next=following,
        answer=answer,
        frequency=np.array([counts[k] / total for k in merged]),
        edge_class=edge_class,
        token=token,
        multiplicity=multiplicity,
        optimal=label == following[edge_class],
        slot=slot,
        first_edge=np.searchsorted(edge_class, every_class),
        first_slot=np.searchsorted(slot_class, every_class),
        slot_class=slot_class,
        slot_label=slot_label,
        slot_first_edge=slot_first_edge,
        key=pairs % dataset.V,
        pair_query=pairs // dataset.V,
        pair=pair,
    )


def _keys(dataset: Dataset) -> list[Key]:
    """Key of each sample."""
    n, index = dataset.collocation.require_function(), dataset.index
    places = {x: (index[n[x]], index[x]) for x in dataset.vocabulary}
    return [
        (
            index[sample.query],
            tuple(sorted((*places[x], times) for x, times in sample.bag.items())),
            index[sample.next],
        )
        for sample in dataset.samples
    ]
