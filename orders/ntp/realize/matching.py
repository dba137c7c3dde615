"""The collocation that fits the most samples: a maximum-weight matching of tokens with next tokens."""

from itertools import pairwise

import numpy as np
import scipy  # its subpackages load when first used
from numpy.typing import NDArray

from marginaudit.orders.ntp.realize.reduced_samples import ReducedSamples
from marginaudit.orders.relations import Indices

PLACES_AT_ONCE = 2**20
"""Places processed at a time."""

NONE = -1
"""Index in place of a missing token."""


def pieces(start: Indices) -> list[tuple[int, int]]:
    """Ranges of samples, each of `PLACES_AT_ONCE` places and less than one sample's more.

    Parameters
    ----------
    start : (samples + 1,)
        Start of each sample's places.
    """
    ends = np.searchsorted(start, np.arange(PLACES_AT_ONCE, start[-1], PLACES_AT_ONCE))
    return list(pairwise(np.unique([0, *ends, len(start) - 1]).tolist()))


def pair_weights(samples: ReducedSamples, allowed: NDArray[np.bool_]) -> "scipy.sparse.csr_array":
    """Number of samples with next token y and x at an allowed place, shape (tokens x, next tokens y)."""
    V = samples.vocabulary_size
    total = scipy.sparse.csr_array((V, V), dtype=np.int64)
    for lo, hi in pieces(samples.start):
        places = slice(samples.start[lo], samples.start[hi])
        here = allowed[places]
        following, count = (
            np.repeat(values[lo:hi], samples.size[lo:hi])[here] for values in (samples.next, samples.count)
        )
        total = total + scipy.sparse.coo_array((count, (samples.token[places][here], following)), shape=(V, V)).tocsr()
    return total


def best_matching(weight: "scipy.sparse.csr_array") -> tuple[Indices, int]:
    """Injective map from tokens to next tokens with the largest weight, and its weight.

    The map is given as its inverse: the token x with n(x) = y for each y, `NONE` if y has no weight.

    >>> best_matching(scipy.sparse.csr_array([[3, 2], [2, 0]]))
    (array([1, 0]), 4)
    """
    V = weight.shape[0]
    pairs = weight.tocoo()
    real = pairs.data > 0
    x, y = pairs.coords[0][real], pairs.coords[1][real]
    # An extra column per token stands for unmatched; adding 1 to every weight keeps these entries nonzero.
    edges = scipy.sparse.coo_array((pairs.data[real] + 1.0, (x, y)), shape=(V, V))
    rows, columns = scipy.sparse.csgraph.min_weight_full_bipartite_matching(
        scipy.sparse.hstack([edges, scipy.sparse.eye_array(V)], format="csr"), maximize=True
    )
    matched = columns < V
    source = np.full(V, NONE, dtype=np.int64)
    source[columns[matched]] = rows[matched]
    chosen = source[y] == x
    return source, int(pairs.data[real][chosen].sum())
