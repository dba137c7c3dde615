"""Seeded generators of sequence classes that meet Assumption 2.

All first choose f_n by the squares of its entries, of sum 1; P(l|n) is f_n divided by its sum.
"""

import math

import numpy as np

from marginaudit.orders.arrays import Floats
from marginaudit.orders.reading import Token
from marginaudit.orders.snap.classes import SequenceClasses
from marginaudit.orders.text import counted

INSIDE = 0.02
"""Share of a range, on a logarithmic scale, kept free at either end against rounding."""

ROOM = 1 + 1e-9
"""Least ratio of a range's ends: above rounding of an empty range, below that of M = 144 K^2 + 1 for K up to 1000."""

SKEW = 1.25
"""Largest ratio of an entry f of a token common to two classes to that of equal entries."""

HALVINGS = 12
"""Number of mixtures of a random with a regular overlap before the regular one is used."""


def single_common_dataset(
    *, K: int, M: int, seed: int, queries: int = 1, distinct: tuple[int, int] = (1, 4), name: str = "single-common"
) -> SequenceClasses:
    """Classes with one common token, present in each; Assumption 2 holds.

    With a_n the common token's entry of f_n, E = a a^T - diag(a^2): one eigenvalue is at most (K-1) max a^2, the others
    lie between -max a^2 and -min a^2. So a^2 is drawn between 6/sqrt(M) and 1/(K (K-1)).

    Parameters
    ----------
    K : int
        Number of classes, at least 2.
    M : int
        Vocabulary size, more than 36 K^2 (K-1)^2.
    queries : int
        Number of query tokens, at most K.
    distinct : (least, most)
        Distinct tokens of each class.

    Raises
    ------
    ValueError
        There are no such classes.
    """
    rng = np.random.default_rng(seed)
    least, most = _range(K, M, K * (K - 1))
    least = _between(rng, least, most)
    squares = [_between(rng, least, min(most, 1.5 * least)) for _ in range(K)]
    classes = [
        _weights({"c1": math.sqrt(square)}, n, 1 - square, _random_shares(rng, distinct))
        for n, square in enumerate(squares)
    ]
    return _dataset(rng, name, M, queries, classes)


def symmetric_dataset(
    *,
    K: int,
    M: int,
    seed: int,
    common: tuple[int, int] = (2, 4),
    distinct: tuple[int, int] = (1, 4),
    name: str = "symmetric",
) -> SequenceClasses:
    """Classes of one query, equal up to the names of distinct tokens; Assumption 2 and Corollary 2 hold.

    All overlaps equal some e, so the eigenvalues of E are (K-1) e and -e.

    Parameters
    ----------
    K : int
        Number of classes, at least 2.
    M : int
        Vocabulary size, more than 36 K^2 (K-1)^2.
    common, distinct : (least, most)
        Common tokens in all, and distinct tokens of each class.

    Raises
    ------
    ValueError
        There are no such classes.
    """
    rng = np.random.default_rng(seed)
    e = _between(rng, *_range(K, M, K * (K - 1)))
    shared = np.sqrt(e * _random_shares(rng, common))
    own = _random_shares(rng, distinct)
    named = {f"c{i}": float(f) for i, f in enumerate(shared, start=1)}
    return _dataset(rng, name, M, 1, [_weights(named, n, 1 - e, own) for n in range(K)])


def weakly_correlated_dataset(
    *, K: int, M: int, seed: int, queries: int = 1, distinct: tuple[int, int] = (1, 4), name: str = "weakly-correlated"
) -> SequenceClasses:
    """Random classes that meet Assumption 2: first E, then a nonnegative F with F^T F = I + E.

    E is a random nonnegative symmetric matrix with diagonal 0; mixing with a regular matrix and scaling bring its
    eigenvalues between 6/sqrt(M) and 1/K. F has, in half of the draws, a token common to all classes, one common to
    each pair for the rest of its overlap, and distinct tokens for the rest of each norm: rows of such an E sum to less
    than 1.

    Parameters
    ----------
    K : int
        Number of classes, at least 2.
    M : int
        Vocabulary size, more than 36 K^2 for even K, 144 K^2 for odd K.
    queries : int
        Number of query tokens, at most K.
    distinct : (least, most)
        Distinct tokens of each class.

    Raises
    ------
    ValueError
        There are no such classes.
    """
    rng = np.random.default_rng(seed)
    E = random_overlap(rng, K, M)
    above = E[np.triu_indices(K, 1)]
    shared = math.sqrt(above.min() * rng.uniform(0, 1)) if rng.integers(2) else 0.0
    common: list[dict[Token, float]] = [{"c0": shared} if shared else {} for _ in range(K)]
    for number, (i, j) in enumerate(zip(*np.triu_indices(K, 1), strict=True), start=1):
        rest = E[i, j] - shared**2
        if rest > 0:
            skew = SKEW ** rng.uniform(-1, 1)
            common[i][f"c{number}"], common[j][f"c{number}"] = math.sqrt(rest) * skew, math.sqrt(rest) / skew
    classes = [
        _weights(found, n, 1 - sum(f**2 for f in found.values()), _random_shares(rng, distinct))
        for n, found in enumerate(common)
    ]
    return _dataset(rng, name, M, queries, classes)


def _range(K: int, M: int, inverse: int) -> tuple[float, float]:
    """The range from 6/sqrt(M) to 1/``inverse``; raises if empty."""
    if K < 2 or 36 * inverse**2 >= M:
        raise ValueError(f"no such classes with K={K}, M={M}: K >= 2 and a larger M are needed for Assumption 2")
    return 6 / math.sqrt(M), 1 / inverse


def _between(rng: "np.random.Generator", least: float, most: float) -> float:
    """A random number in a range, uniform on a logarithmic scale."""
    return float(least * (most / least) ** rng.uniform(INSIDE, 1 - INSIDE))


def random_overlap(rng: "np.random.Generator", K: int, M: int) -> Floats:
    """A random overlap matrix E with absolute eigenvalues between 6/sqrt(M) and 1/K."""
    least, most = _range(K, M, K)
    regular = _regular_overlap(rng, K)
    upper = np.triu(rng.uniform(size=(K, K)) * (rng.uniform(size=(K, K)) < rng.uniform(0.2, 2)), 1)
    for mixed in (*(0.5**i for i in range(HALVINGS)), 0.0):
        E: Floats = mixed * (upper + upper.T) + (1 - mixed) * regular
        sizes = np.abs(np.linalg.eigvalsh(E))
        if 0 < sizes.max() * least * ROOM < sizes.min() * most:
            E *= _between(rng, least / sizes.min(), most / sizes.max())
            return E
    raise ValueError(f"no such classes with K={K}, M={M}: Assumption 2 needs a larger M")


def _regular_overlap(rng: "np.random.Generator", K: int) -> Floats:
    """Overlapping pairs of classes, with one triple for odd K: eigenvalues 1 and -1; 1, -1/2 and -1/2."""
    order = rng.permutation(K)
    groups = [order[i : i + 2] for i in range(3 * (K % 2), K, 2)]
    if K % 2:
        groups.append(order[:3])
    E = np.zeros((K, K))
    for group in groups:
        E[np.ix_(group, group)] = (1 - np.eye(len(group))) / (len(group) - 1)
    return E


def _random_shares(rng: "np.random.Generator", amount: tuple[int, int]) -> Floats:
    """Random shares of sum 1; their number is drawn from the range ``amount``."""
    parts: Floats = rng.uniform(0.2, 1, int(rng.integers(*amount, endpoint=True)))
    parts /= parts.sum()
    return parts


def _weights(common: dict[Token, float], n: int, left: float, parts: Floats) -> dict[Token, float]:
    """Entries of f_n: the given ones, and distinct tokens that share the rest of the squared norm 1."""
    own = {f"d{n + 1}.{i}": float(f) for i, f in enumerate(np.sqrt(left * parts), start=1)}
    return common | own


def _dataset(
    rng: "np.random.Generator", name: str, M: int, queries: int, weights: list[dict[Token, float]]
) -> SequenceClasses:
    """Classes n1 .. nK of the queries q1 .., with at least one class per query."""
    K = len(weights)
    if not 1 <= queries <= K:
        raise ValueError(f"{queries} queries for {counted(K, 'class', 'classes')}")
    chosen = rng.permutation([*range(queries), *rng.integers(queries, size=K - queries)])
    classes = [(f"n{n + 1}", f"q{chosen[n] + 1}", weights[n]) for n in range(K)]
    return SequenceClasses.from_weights(name, M, classes)
