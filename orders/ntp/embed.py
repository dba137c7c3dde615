"""Interpolation from one-hot tokens to embeddings that are not orthonormal, and their coherence."""

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from marginaudit.orders.arrays import Floats
from marginaudit.orders.ntp.dataset import Dataset


def unit(tokens: int, dimension: int, seed: int) -> Floats:
    """Random unit vectors, shape (tokens, dimension): uniform on the sphere."""
    drawn = gaussian(tokens, dimension, seed)
    drawn /= np.linalg.norm(drawn, axis=1, keepdims=True)
    return drawn


def gaussian(tokens: int, dimension: int, seed: int) -> Floats:
    """Vectors of independent normal entries with mean 0 and variance 1/dimension."""
    return np.random.default_rng(seed).normal(scale=dimension**-0.5, size=(tokens, dimension))


KINDS: Mapping[str, Callable[[int, int, int], Floats]] = {"unit": unit, "gaussian": gaussian}
"""Random embeddings, by name."""


def between(end: Floats, share: float) -> Floats:
    """(1 - share) I + share E in the larger of V and d dimensions, with E the ``end``, shape (V, d).

    >>> between(np.array([[1.0], [1.0]]), 0.5)
    array([[1. , 0. ],
           [0.5, 0.5]])
    """
    V, d = end.shape
    embedding = (1 - share) * np.eye(V, max(V, d))
    embedding[:, :d] += share * end
    return embedding


def embedded(dataset: Dataset, embedding: Floats) -> Dataset:
    """The dataset with these embeddings."""
    return replace(dataset, embedding=embedding)


def coherence(embedding: Floats) -> float:
    """The largest |cos| between two tokens with nonzero embeddings; 0 without two such tokens.

    >>> coherence(np.array([[1.0, 0.0], [3.0, 4.0]]))
    0.6
    """
    largest = np.abs(embedding).max(axis=1, keepdims=True)
    scaled = embedding / np.where(largest > 0, largest, 1)
    norms = np.linalg.norm(scaled, axis=1, keepdims=True)
    directions = scaled / np.where(norms > 0, norms, 1)
    cosines = np.abs(directions @ directions.T)
    np.fill_diagonal(cosines, 0)
    return float(cosines.max())
