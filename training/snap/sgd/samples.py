"""Sampling of sequences as counts: the model depends only on the counts of tokens before the query."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from marginaudit.orders.arrays import Floats, Integers
from marginaudit.orders.jit import compiled
from marginaudit.orders.snap import SequenceClasses

Words = NDArray[np.uint64]

PER_BINOMIAL = 16
"""Number of tokens drawn one by one in the time of one binomial count."""

DRAWN_AT_ONCE = 2**16
"""Limit on the tokens whose random numbers are in memory at once."""

BITS = 32
"""Bits of a random number, half a 64-bit word: probabilities are right to a relative 2^-32 times the tokens."""


class Classes(NamedTuple):
    """Classes as arrays; the tokens of a class are those that occur in it.

    Attributes
    ----------
    label : (classes,) array
        Column of the next token in Y.
    query : (classes,) array
        Row of the query in Z.
    first : (classes + 1,) array
        Start of each class's slice of ``token``.
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


class ClassSamples(NamedTuple):
    """Samples in order of use.

    Attributes
    ----------
    number : (samples,) array
        Class of each sample.
    counts : (samples, most tokens of a class) array
        Count of each token of the class, in the order of `Classes.token`.
    """

    number: Integers
    counts: Integers


def classes_of(data: SequenceClasses) -> Classes:
    """Class arrays of a dataset."""
    row = {token: i for i, token in enumerate(data.contextual)}
    return Classes(
        label=np.array([data.index[c.next] for c in data.classes]),
        query=data.asked,
        first=np.cumsum([0, *(len(c.support) for c in data.classes)]),
        token=np.array([row[token] for c in data.classes for token in c.support]),
        probability=np.array([c.probabilities[token] for c in data.classes for token in c.support]),
    )


def drawn(classes: Classes, frequency: Floats, samples: int, length: int, rng: np.random.Generator) -> ClassSamples:
    """Draw samples: a class, and ``length`` tokens that are independent given the class."""
    sizes = np.diff(classes.first)
    number = rng.choice(len(sizes), size=samples, p=frequency)
    count = np.zeros((samples, sizes.max()), dtype=np.int64)
    for n, size in enumerate(sizes.tolist()):
        members = np.flatnonzero(number == n)
        probability = classes.probability[classes.first[n] : classes.first[n + 1]]
        probability = probability / probability.sum()
        if length > PER_BINOMIAL * size:
            count[members, :size] = rng.multinomial(length, probability, size=len(members))
            continue
        own, tokens = urns(probability)
        shares = np.rint(own * 2.0**BITS).astype(np.uint64)
        for some in np.array_split(members, len(members) * length // DRAWN_AT_ONCE + 1):
            words = rng.bit_generator.random_raw((len(some), (length + 1) // 2))
            tally(words, length, shares, tokens, count, some)
    return ClassSamples(number, count)


def urns(probability: Floats) -> tuple[Floats, Integers]:
    """Urns of Walker's alias method: the share of each urn's own token, and its two tokens, the other one first.

    A token is drawn by a uniform urn and a position in it.

    >>> own, tokens = urns(np.array([0.5, 0.25, 0.25]))
    >>> own.tolist(), tokens.tolist()
    ([1.0, 0.75, 0.75], [[0, 0], [0, 1], [0, 2]])
    """
    own, other = len(probability) * probability, np.arange(len(probability))
    small, large = np.flatnonzero(own < 1).tolist(), np.flatnonzero(own >= 1).tolist()
    while small and large:
        poor, rich = small.pop(), large[-1]
        other[poor] = rich
        own[rich] -= 1 - own[poor]
        if own[rich] < 1:
            small.append(large.pop())
    own[small + large] = 1.0  # up to rounding
    return own, np.stack([other, np.arange(len(probability))], axis=1)


@compiled
def tally(words: Words, length: int, shares: Words, tokens: Integers, count: Integers, rows: Integers) -> None:
    """Add ``length`` tokens to the given rows of ``count``, drawn by the halves of random words, lower halves first.

    A half times the number of urns gives the urn as integer part and the position in it as fraction. The code has no
    branch, because half of its predictions would fail.

    Parameters
    ----------
    words : (rows, half the tokens drawn, rounded up) array
    length : int
        Tokens to draw per row.
    shares : (urns,) array
        Share of each urn's own token, times 2^32.
    tokens : (urns, 2) array
    count : (all samples, tokens) array
    rows : (rows,) array
    """
    below, bits, urns = np.uint64(2**BITS - 1), np.uint64(BITS), np.uint64(len(shares))
    for s in range(len(rows)):
        into = count[rows[s]]
        for t in range(length):
            word = words[s, t // 2]
            place = (word >> bits if t % 2 else word & below) * urns
            urn = place >> bits
            into[tokens[urn, np.int64((place & below) < shares[urn])]] += 1
