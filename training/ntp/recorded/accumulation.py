"""Means of means: gradients of micro-batches or processes of unequal size, averaged with equal weights.

Each part divides by its own number of samples, so samples of a smaller part get more weight than pi. This is a known
mistake of gradient accumulation, and of data parallel training.
"""

from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from marginaudit.orders.arrays import Floats
from marginaudit.orders.ntp import Dataset
from marginaudit.training.ntp.model.classes import class_of_samples
from marginaudit.training.ntp.recorded.gradients import Stage2Loss
from marginaudit.training.ntp.recorded.rules import Stage

MOST_SAMPLES, MOST_PARTS = 10_000, 64
"""Limits on the samples with repetitions, and on the size of a micro-batch and the number of processes."""

NEAREST = 3
"""Number of splits tried, of those whose means are nearest to a step's direction."""


def split_stages(stage: Stage, loss: Stage2Loss, gradients: Floats, change: Floats) -> Iterator[tuple[str, Stage]]:
    """Stages with the means of splits whose gradients are nearest to a change, in words and from the nearest on.

    Parameters
    ----------
    gradients : (entries, classes) array
        Gradients of the classes of samples at the step.
    change : (entries,) array
    """
    along, found = -change / np.linalg.norm(change), []
    for words, weights in split_means(loss.dataset):
        gradient = gradients @ weights
        found.append((float(np.linalg.norm(gradient / np.linalg.norm(gradient) - along)), words, weights))
    for _, words, weights in sorted(found, key=lambda one: one[0])[:NEAREST]:
        other = copy(loss)
        other.weights = weights
        yield words, replace(stage, loss=other)


def split_means(dataset: Dataset) -> Iterator[tuple[str, Floats]]:
    """Weights of the classes of samples in means of means, of each way to split the samples into unequal parts."""
    sample = np.repeat(np.arange(dataset.N), dataset.counts)
    if len(sample) > MOST_SAMPLES:
        return
    of_class, n, places = class_of_samples(dataset)[sample], len(sample), np.arange(len(sample))
    lengths = np.array([len(one.tokens) for one in dataset.samples])[sample]
    sentence = np.append(0, np.cumsum(lengths[1:] <= lengths[:-1]))
    kinds: tuple[tuple[str, Callable[[int], NDArray[np.int64]]], ...] = (
        ("samples accumulated", lambda k: places // k),
        ("sentences accumulated", lambda k: sentence // k),
        ("processes averaged", lambda k: places % k),
    )
    for kind, part in kinds:
        for k in range(1, min(n, MOST_PARTS + 1)):
            of = part(k)
            sizes = np.bincount(of)
            if len(sizes) > 1 and sizes.min() < sizes.max():
                weights = np.bincount(of_class, 1 / (len(sizes) * sizes[of]))
                words = f"{k} {kind}" if kind.startswith("processes") else f"means of {k} {kind}"
                yield words, np.asarray(weights)
