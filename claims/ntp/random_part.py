"""Random subset of samples or tokens."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from marginaudit.orders.ntp import Dataset

SEED = 2409_17335

MOST_TERMS = 100
"""Most samples or tokens in an identity, which is a sum over them. A random subset replaces a larger set."""

MOST_ENTRIES = 20_000_000
"""Most terms times entries of a weight matrix. Large vocabularies get a smaller subset."""


def some_samples(dataset: Dataset, rng: np.random.Generator) -> Dataset:
    """The dataset with a random subset of its samples, sized by `some`."""
    kept, part = some(dataset.N, "samples", dataset.embeddings.size, rng)
    if not part:
        return dataset
    return replace(
        dataset, samples=tuple(dataset.samples[i] for i in kept), counts=tuple(dataset.counts[i] for i in kept)
    )


def some(number: int, things: str, entries: int, rng: np.random.Generator) -> tuple[NDArray[np.int64], str]:
    """Sorted indices of a random subset and `in_part`; each index costs ``entries`` entries of a matrix.

    >>> some(5, "tokens", 25, np.random.default_rng(0))
    (array([0, 1, 2, 3, 4]), '')
    >>> some(1000, "tokens", 10**6, np.random.default_rng(0))[1]
    '20 of 1000 tokens, a random part, stand for all.'
    """
    most = min(MOST_TERMS, max(1, MOST_ENTRIES // entries))
    if number <= most:
        return np.arange(number), ""
    return np.sort(rng.choice(number, size=most, replace=False)), in_part(most, number, things)


def in_part(taken: int, number: int, things: str) -> str:
    """Description of the subset; "" for all."""
    return f"{taken} of {number} {things}, a random part, stand for all." if taken < number else ""
