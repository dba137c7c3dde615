"""The assumptions of the NTP ledger as predicates that return a witness.

Assumption 1 of arXiv 2409.17335 is `collocation`, `injective`, `next_from_sentence`,
`well_defined_orders` and `no_confused_tokens`; Assumption 2 is `orthonormal`; Assumption 3 is
`optimal_majority`; `prefix_closed` is from its section 3.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from marginaudit.orders.arrays import UNIT_ROUNDOFF
from marginaudit.orders.assumption import Witness
from marginaudit.orders.ntp.dataset import Dataset, Sample

ASSUMPTION_1 = ("collocation", "injective", "next_from_sentence", "well_defined_orders", "no_confused_tokens")
ASSUMPTION_2 = ("orthonormal",)
ASSUMPTION_3 = ("optimal_majority",)
SETTING = ("prefix_closed",)
"""Section 3: "Notably, if X = [x_1, .., x_L] in D_0, then for any l < L, ([x_1, .., x_l], x_{l+1}) is .. a sample"."""

BLOCK = 1000
"""Rows of the Gram matrix computed at a time."""

ORTHONORMAL_TOLERANCE = 1e-12
"""Largest entry of |E E^T - I| attributed to the rounding of a rotation in float64."""

UNROUNDED = 2.0**-26
"""Unit whose multiples have products, and sums of these below 2, that are exact in float64."""


def collocation(dataset: Dataset) -> Witness:
    """n is a function on the whole vocabulary; the witness is a token without exactly one value."""
    for x, values in dataset.collocation.values.items():
        if len(values) != 1:
            return {"token": x, "next_tokens": list(values)}
    return None


def injective(dataset: Dataset) -> Witness:
    """No two tokens share a next token; the witness is such a pair."""
    owner: dict[str, str] = {}
    for x, values in dataset.collocation.values.items():
        for y in values:
            if owner.setdefault(y, x) != x:
                return {"tokens": [owner[y], x], "next": y}
    return None


def next_from_sentence(dataset: Dataset) -> Witness:
    """Each sample's next token is n(x) for a token x of its sentence; the witness is a sample without such an x."""
    encoded = dataset.encoded
    answered = np.zeros(dataset.N, dtype=bool)
    answered[encoded.owner[encoded.optimal]] = True
    missing = np.flatnonzero(~answered)
    return {"sample": _document(dataset.samples[missing[0]])} if len(missing) else None


def well_defined_orders(dataset: Dataset) -> Witness:
    """The closure of each query's relation is a strict partial order; the witness is a cycle."""
    for query, order in dataset.orders.items():
        cycle = order.cycle()
        if cycle is not None:
            edges = zip(cycle, (*cycle[1:], cycle[0]), strict=True)
            samples = [dataset.samples[order.samples[edge]] for edge in edges]
            return {"query": query, "cycle": list(cycle), "samples": [_document(s) for s in samples]}
    return None


def no_confused_tokens(dataset: Dataset) -> Witness:
    """No token both wins and loses under one query; the witness is such a token, with the two samples."""
    for query, order in dataset.orders.items():
        for token in order.confused:
            beaten, wins = next((x, sample) for (y, x), sample in order.samples.items() if y == token)
            winner, loses = next((y, sample) for (y, x), sample in order.samples.items() if x == token)
            return {
                "query": query,
                "token": token,
                "beats": {"token": beaten, "sample": _document(dataset.samples[wins])},
                "beaten_by": {"token": winner, "sample": _document(dataset.samples[loses])},
            }
    return None


def orthonormal(dataset: Dataset) -> Witness:
    """The embeddings are orthonormal up to rounding; the witness is the pair furthest from it.

    A pair of equal tokens means an embedding of another norm than 1.
    """
    E = dataset.embedding
    if E is None:
        return None
    furthest, i, j = -1.0, 0, 0
    for first in range(0, dataset.V, BLOCK):
        rows = E[first : first + BLOCK]
        with np.errstate(over="ignore", invalid="ignore"):
            deviation = np.abs(rows @ E.T - np.eye(len(rows), dataset.V, k=first))
        deviation[np.isnan(deviation)] = np.inf
        at, other = divmod(int(np.argmax(deviation)), dataset.V)
        if deviation[at, other] > furthest:
            furthest, i, j = float(deviation[at, other]), first + at, other
    if furthest <= ORTHONORMAL_TOLERANCE:
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        product = float(E[i] @ E[j])
    return {
        "tokens": [dataset.vocabulary[i], dataset.vocabulary[j]],
        "inner_product": product if np.isfinite(product) else None,
        "expected": float(i == j),
    }


def gram_deviation(dataset: Dataset) -> float:
    """Upper bound on the largest entry of |E E^T - I| for the float64 embeddings E.

    0.0 proves exact orthonormality. The bound is exact if float64 multiplies the embeddings without rounding; otherwise
    it includes the rounding of a sum of d products, about d 1e-16. Infinite if a product overflows. The spectral norm
    of E E^T - I is at most V times as large.

    >>> from dataclasses import replace
    >>> data = Dataset.from_sentences("ab", ["aba"])
    >>> gram_deviation(data), gram_deviation(replace(data, embedding=np.array([[0.5, 0], [0, 1]])))
    (0.0, 0.75)
    """
    E = dataset.embedding
    if E is None:
        return 0.0
    size = np.abs(E)
    with np.errstate(over="ignore", invalid="ignore"):
        deviation, products = np.abs(E @ E.T - np.eye(dataset.V)), size @ size.T
        if np.all(products < 2) and np.all(np.rint(E / UNROUNDED) == E / UNROUNDED):
            return float(deviation.max())
        roundings = E.shape[1] * UNIT_ROUNDOFF  # d roundings per sum, and one for ``products``
        error = roundings / (1 - 2 * roundings) * products
        bound = float(np.max(deviation + error) * (1 + 16 * UNIT_ROUNDOFF))  # 16: the roundings of these lines
    return bound if np.isfinite(bound) else np.inf


def optimal_majority(dataset: Dataset) -> Witness:
    """In each sample, there are at least as many optimal positions as positions of any other token.

    The witness is a sample, with a token that outnumbers its optimal positions.
    """
    encoded, size = dataset.encoded, dataset.V
    optimal = np.bincount(encoded.owner[encoded.optimal], minlength=dataset.N)
    for block in encoded.blocks():
        others = ~encoded.optimal[block]
        code = encoded.owner[block][others].astype(np.int64) * size + encoded.token[block][others]
        code, multiplicity = np.unique(code, return_counts=True)
        short = np.flatnonzero(multiplicity > optimal[code // size])
        if len(short):
            n, token = divmod(int(code[short[0]]), size)
            return {
                "sample": _document(dataset.samples[n]),
                "optimal_positions": int(optimal[n]),
                "token": dataset.vocabulary[token],
                "multiplicity": int(multiplicity[short[0]]),
            }
    return None


def prefix_closed(dataset: Dataset) -> Witness:
    """Every prefix ([x_1 .. x_i], x_{i+1}) of a sample is a sample; the witness is a missing one.

    Checked for i = l - 1 only: the shorter prefixes are those of this one.
    """
    present = set(dataset.samples)
    for sample in dataset.samples:
        prefix = Sample(sample.tokens[:-1], sample.query)
        if prefix.tokens and prefix not in present:
            return {"sample": _document(sample), "missing": _document(prefix)}
    return None


ASSUMPTIONS: Mapping[str, Callable[[Dataset], Witness]] = {
    predicate.__name__: predicate
    for predicate in (
        collocation,
        injective,
        next_from_sentence,
        well_defined_orders,
        no_confused_tokens,
        orthonormal,
        optimal_majority,
        prefix_closed,
    )
}
"""The predicates by name, in the order of the ledger."""


def _document(sample: Sample) -> dict[str, Any]:
    return {"tokens": list(sample.tokens), "next": sample.next}
