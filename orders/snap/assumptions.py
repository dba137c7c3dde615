"""The assumptions on sequence classes as predicates that return a witness.

Assumption 2 of arXiv 2305.16380 is `wide_vocabulary`, `small_overlap` and `spread_overlap` at attention P(l|n), that of
Z = 0. The last two imply the first: 6/sqrt(M) <= |lambda_i| < 1/K gives M > 36 K^2. Corollary 2 requires `single_query`
(1), `symmetric_classes` (2) and `shared_common` (3); its (4), Z(0) = 0, does not concern the data.

An eigenvalue is compared with its error bar. If the bar straddles the bound, the assumption counts as failed, with a
witness that marks it as undecided; statements that need it are then undecided, too.
"""

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import pairwise, zip_longest

import numpy as np

from marginaudit.orders.assumption import Witness
from marginaudit.orders.reading import Token
from marginaudit.orders.snap.classes import SequenceClasses
from marginaudit.orders.snap.graph import common_tokens, distinct_tokens
from marginaudit.orders.snap.overlap import AttentionOverlap

MUCH_GREATER = 10
"""Factor of "much greater"."""

SAME_PROBABILITY = 2.0**-50
"""Relative difference up to which probabilities are equal: six roundings, from rounding, summing and dividing twice."""

MOST_SHOWN = 10
"""Limit on the tokens in a witness."""


def uniform_classes(dataset: SequenceClasses) -> Witness:
    """All classes are equally frequent; the witness is two that are not."""
    weights = dataset.weights or ()
    for n, (first, weight) in enumerate(pairwise(weights), start=1):
        if weight != first:
            names = dataset.next_tokens[n - 1 : n + 1]
            return {"classes": list(names), "frequencies": [first, weight]}
    return None


def wide_vocabulary(dataset: SequenceClasses) -> Witness:
    """M >> K^2, read as M >= 10 K^2 for K classes; the witness is M and this bound."""
    least = MUCH_GREATER * dataset.K**2
    if least > dataset.M:
        return {"M": dataset.M, "K": dataset.K, "least": least}
    return None


def large_vocabulary(dataset: SequenceClasses) -> Witness:
    """M >> 100 (Theorem 1, Remark 3), read as M >= 1000; the witness is M and this bound."""
    least = MUCH_GREATER * 100
    if least > dataset.M:
        return {"M": dataset.M, "least": least}
    return None


def small_overlap(dataset: SequenceClasses) -> Witness:
    """|lambda_1(E)| < 1/K for the overlap E of K classes; the witness is |lambda_1|."""
    return largest_below(dataset.overlap, Fraction(1, dataset.K))


def overlap_below_one(dataset: SequenceClasses) -> Witness:
    """|lambda_1(E)| < 1 (Lemmas 14, 15, 17); the witness is |lambda_1|.

    -1 is an eigenvalue if the classes' attention is linearly dependent, decided in rational arithmetic.
    """
    found = largest_below(dataset.overlap, Fraction(1))
    if found is not None and found["undecided"] and dependent(dataset):
        return {**found, "undecided": False}
    return found


def dependent(dataset: SequenceClasses) -> bool:
    """Whether the classes' attention P(l|n) is linearly dependent, in rational arithmetic."""
    from flint import fmpq, fmpq_mat  # takes a tenth of a second

    exact = [[fmpq(*p.as_integer_ratio()) for p in row] for row in dataset.P.tolist()]
    return bool(fmpq_mat(exact).rank() < dataset.K)


def largest_below(overlap: AttentionOverlap, bound: Fraction) -> Witness:
    """|lambda_1(E)| < ``bound``, at any attention; the witness is |lambda_1|."""
    largest, error = overlap.largest, overlap.eigenvalue_error
    if Fraction(largest) + Fraction(error) < bound:
        return None
    undecided = Fraction(largest) - Fraction(error) < bound
    return {"largest": largest, "error": error, "below": float(bound), "undecided": undecided}


def spread_overlap(dataset: SequenceClasses) -> Witness:
    """|lambda_i(E)| >= 6/sqrt(M) for all eigenvalues of the overlap E; the witness is the one nearest to 0."""
    return spread_beyond(dataset.overlap, dataset.M)


def spread_beyond(overlap: AttentionOverlap, M: int) -> Witness:
    """Every |lambda_i(E)| >= 6/sqrt(M), at any attention; the witness is the eigenvalue nearest to 0."""
    eigenvalues, error = overlap.eigenvalues, overlap.eigenvalue_error
    nearest = float(eigenvalues[np.argmin(np.abs(eigenvalues))])

    def long_enough(size: Fraction) -> bool:
        return size >= 0 and size**2 * M >= 36

    if long_enough(abs(Fraction(nearest)) - Fraction(error)):
        return None
    undecided = long_enough(abs(Fraction(nearest)) + Fraction(error))
    return {"eigenvalue": nearest, "error": error, "least": 6 / math.sqrt(M), "undecided": undecided}


def equal_overlaps(dataset: SequenceClasses) -> Witness:
    """All off-diagonal entries of E are equal up to rounding (Remark 1); the witness is two that differ."""
    if dataset.K < 2:
        return None
    rows, columns = np.tril_indices(dataset.K, -1)
    entries = dataset.overlap.E[rows, columns]
    least, most = int(np.argmin(entries)), int(np.argmax(entries))
    rounding = 2 * dataset.overlap.relative_error + 4 * SAME_PROBABILITY  # an entry's factors and their two norms
    if entries[most] - entries[least] <= rounding * entries[most]:
        return None
    pairs = [[dataset.next_tokens[columns[i]], dataset.next_tokens[rows[i]]] for i in (least, most)]
    return {"classes": pairs, "overlaps": [float(entries[least]), float(entries[most])]}


def single_common(dataset: SequenceClasses) -> Witness:
    """Exactly one token is common (Theorem 2 (b)); the witness is their number and the first of them."""
    common = common_tokens(dataset)
    return None if len(common) == 1 else {"common": len(common), "tokens": list(common[:MOST_SHOWN])}


def distinct_beside_common(dataset: SequenceClasses) -> Witness:
    """A class has a distinct token under some query with a common token (Theorem 2 (b)).

    The witness is a query with classes without distinct tokens, and a common token in one of them.
    """
    common, witness = set(common_tokens(dataset)), None
    beside = queries_with_distinct(dataset)
    for query, members in dataset.queries.items():
        met = next((token for n in members for token in dataset.classes[n].support if token in common), None)
        if met is not None and query in beside:
            return None
        if met is not None and witness is None:
            witness = {"query": query, "common": met}
    return witness


def queries_with_distinct(dataset: SequenceClasses) -> set[Token]:
    """Queries with a class that has a distinct token."""
    distinct = distinct_tokens(dataset)
    return {c.query for c in dataset.classes if distinct[c.next]}


def dominant_distinct(dataset: SequenceClasses) -> Witness:
    """In some class with distinct tokens one is more probable than the others (Theorem 3 at Z = 0).

    The witness is a class and its two most probable distinct tokens.
    """
    if dominant_tokens(dataset):
        return None
    for c, ranked in zip(dataset.classes, _ranked_distinct(dataset), strict=True):
        if ranked:
            return {"class": c.next, "tokens": ranked[:2], "probability": c.probabilities[ranked[0]]}
    return None


def dominant_tokens(dataset: SequenceClasses) -> dict[Token, Token]:
    """The dominant distinct token, more probable than the others, of each class that has one, by next token.

    >>> data = SequenceClasses.from_weights("two", 9, [("m", "q", {"a": 1, "b": 1}), ("n", "q", {"c": 1, "d": 2})])
    >>> dominant_tokens(data)
    {'n': 'd'}
    """
    found = {}
    for c, ranked in zip(dataset.classes, _ranked_distinct(dataset), strict=True):
        if ranked and not (len(ranked) > 1 and _same(*(c.probabilities[token] for token in ranked[:2]))):
            found[c.next] = ranked[0]
    return found


def single_query(dataset: SequenceClasses) -> Witness:
    """All classes have one query (Corollary 2 (1)); the witness is two with different ones."""
    first = dataset.classes[0]
    for c in dataset.classes:
        if c.query != first.query:
            return {"classes": [first.next, c.next], "queries": [first.query, c.query]}
    return None


def symmetric_classes(dataset: SequenceClasses) -> Witness:
    """The distinct tokens of any two classes can be matched with equal probabilities (Corollary 2 (2)).

    The witness is two classes, with the first differing probabilities in descending order (0 for a missing token).
    """
    ranked = _ranked_distinct(dataset)
    first, *others = (
        [c.probabilities[token] for token in tokens] for c, tokens in zip(dataset.classes, ranked, strict=True)
    )
    for following, found in zip(dataset.next_tokens[1:], others, strict=True):
        for p, q in zip_longest(first, found, fillvalue=0.0):
            if not _same(p, q):
                return {"classes": [dataset.next_tokens[0], following], "probabilities": [p, q]}
    return None


def shared_common(dataset: SequenceClasses) -> Witness:
    """P(l|n) of each common token l is equal for all classes n (Corollary 2 (3)).

    The witness is a common token and two classes with different probabilities.
    """
    first = dataset.classes[0]
    for token in common_tokens(dataset):
        p = first.probabilities.get(token, 0.0)
        for c in dataset.classes:
            q = c.probabilities.get(token, 0.0)
            if not _same(p, q):
                return {"token": token, "classes": [first.next, c.next], "probabilities": [p, q]}
    return None


def _ranked_distinct(dataset: SequenceClasses) -> list[list[Token]]:
    """The distinct tokens of each class, the most probable first."""
    distinct = distinct_tokens(dataset)
    return [sorted(distinct[c.next], key=lambda token: -c.probabilities[token]) for c in dataset.classes]


def _same(p: float, q: float) -> bool:
    return abs(p - q) <= SAME_PROBABILITY * max(p, q)


ASSUMPTIONS: Mapping[str, Callable[[SequenceClasses], Witness]] = {
    predicate.__name__: predicate
    for predicate in (
        uniform_classes,
        wide_vocabulary,
        small_overlap,
        spread_overlap,
        single_common,
        symmetric_classes,
        shared_common,
        single_query,
        distinct_beside_common,
        dominant_distinct,
        equal_overlaps,
        overlap_below_one,
        large_vocabulary,
    )
}
"""The predicates by name."""
