"""Sampling of the classes of batch-1 steps."""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from marginaudit.orders.arrays import Floats, Integers, read_only


def generators(seeds: int, entropy: int) -> Iterator[np.random.Generator]:
    """The states of one generator, one per seed, each in use until the next.

    They are spawned from one SeedSequence: state i is the same for any number of seeds.
    """
    rng = np.random.default_rng(entropy)
    for state in _states(seeds, entropy):
        rng.bit_generator.state = state
        yield rng


@lru_cache(maxsize=4)
def _states(seeds: int, entropy: int) -> list[Mapping[str, Any]]:
    """First states of spawned generators; to spawn one takes as long as two draws of all its counts."""
    return [np.random.default_rng(child).bit_generator.state for child in np.random.SeedSequence(entropy).spawn(seeds)]


def class_sequences(steps: int, frequency: ArrayLike, seeds: int, entropy: int) -> Integers:
    """Class drawn in each step, shape (seeds, steps); shorter sequences are prefixes of longer ones.

    Parameters
    ----------
    frequency : (classes,) array
        P(n), with sum 1.
    seeds, entropy : int
        Number of runs; entropy of their SeedSequence.

    Raises
    ------
    ValueError
        Frequencies are negative or have another sum.

    >>> class_sequences(6, [0.5, 0.25, 0.25], seeds=2, entropy=0).shape
    (2, 6)
    """
    upto = np.cumsum(_require_frequency(frequency))
    drawn = [np.searchsorted(upto[:-1], rng.random(steps), side="right") for rng in generators(seeds, entropy)]
    return np.array(drawn, dtype=np.int64).reshape(seeds, steps)


def class_counts(at: Sequence[int], frequency: ArrayLike, seeds: int, entropy: int) -> Integers:
    """Counts of each class in the first t steps, shape (seeds, records, classes); the last result is cached.

    Between recorded steps the counts grow by one multinomial draw: the same law as single draws, at a cost independent
    of t. A path is reproducible only with equal recorded steps.

    Parameters
    ----------
    at : sequence of int
        Recorded steps t, nondecreasing.
    frequency, seeds, entropy : see `class_sequences`

    Raises
    ------
    ValueError
        Steps decrease or are negative, or see `class_sequences`.

    >>> class_counts([10, 10**18], [0.5, 0.5], seeds=3, entropy=0).sum(axis=2).tolist()
    [[10, 1000000000000000000], [10, 1000000000000000000], [10, 1000000000000000000]]
    """
    p = _require_frequency(frequency)
    return _counts(tuple(at), tuple(p.tolist()), seeds, entropy)


@lru_cache(maxsize=1)
def _counts(at: tuple[int, ...], p: tuple[float, ...], seeds: int, entropy: int) -> Integers:
    """`class_counts`, which the runs of one dataset at several step sizes share."""
    steps = np.asarray(at, dtype=np.int64)
    gaps = steps - np.concatenate([[0], steps[:-1]])
    if (gaps < 0).any():
        raise ValueError(f"at: got {list(at)}, expected steps from 0 on that do not decrease")
    drawn = [rng.multinomial(gaps, p) for rng in generators(seeds, entropy)]
    return read_only(np.cumsum(np.array(drawn, dtype=np.int64).reshape(seeds, len(gaps), len(p)), axis=1))


def _require_frequency(frequency: ArrayLike) -> Floats:
    p = np.asarray(frequency, dtype=np.float64)
    if not (p >= 0).all() or not abs(p.sum() - 1) <= 1e-12:
        raise ValueError(f"frequency: got {p.tolist()}, expected numbers from 0 on of sum 1")
    return p
