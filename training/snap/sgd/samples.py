"""Sampled sequences as counts: of a sequence the model sees only how often each token stands before the query."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from marginaudit.orders.arrays import Floats
from marginaudit.orders.snap import SequenceClasses

Integers = NDArray[np.int64]


class Classes(NamedTuple):
    """The classes as arrays; a class's tokens are those that occur in it.

    Attributes
    ----------
    label : (classes,) array
        Column of the next token in Y.
    query : (classes,) array
        Row of the query in Z.
    first : (classes + 1,) array
        Where each class's part of ``token`` begins.
    token : (pairs of a class and one of its tokens,) array
        Rows in Y, columns in Z: positions in `SequenceClasses.contextual`.
    probability : array of that shape
        P(l|n).
    """

    label: Integers
    query: Integers
    first: Integers
    token: Integers
    probability: Floats


class Samples(NamedTuple):
    """Samples in the order in which they are used.

    Attributes
    ----------
    number : (samples,) array
        The class of each.
    counts : (samples, most tokens of a class) array
        How often each token of the class occurs, in the order of `Classes.token`.
    """

    number: Integers
    counts: Integers


def classes_of(data: SequenceClasses) -> Classes:
    """The arrays of a dataset."""
    column = {token: i for i, token in enumerate(data.tokens)}
    row = {token: i for i, token in enumerate(data.contextual)}
    asked = {query: i for i, query in enumerate(data.queries)}
    return Classes(
        label=np.array([column[c.next] for c in data.classes]),
        query=np.array([asked[c.query] for c in data.classes]),
        first=np.cumsum([0, *(len(c.support) for c in data.classes)]),
        token=np.array([row[token] for c in data.classes for token in c.support]),
        probability=np.array([c.probabilities[token] for c in data.classes for token in c.support]),
    )


def drawn(classes: Classes, frequency: Floats, samples: int, length: int, rng: np.random.Generator) -> Samples:
    """Samples of a class each, and of ``length`` tokens that are independent given the class."""
    sizes = np.diff(classes.first)
    number = rng.choice(len(sizes), size=samples, p=frequency)
    count = np.zeros((samples, sizes.max()), dtype=np.int64)
    for n, size in enumerate(sizes.tolist()):
        members = np.flatnonzero(number == n)
        probability = classes.probability[classes.first[n] : classes.first[n + 1]]
        count[members, :size] = rng.multinomial(length, probability / probability.sum(), size=len(members))
    return Samples(number, count)
