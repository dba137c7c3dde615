"""Proposition 2 of arXiv 2409.17335, the closed form of W*_kq, checked query by query."""

from collections.abc import Iterable, Mapping
from fractions import Fraction

import numpy as np

from marginaudit.margins.errors import CertificateError
from marginaudit.margins.exact import ExactScores
from marginaudit.margins.ntp.solution import ClosedForm
from marginaudit.orders.arrays import Floats
from marginaudit.orders.ntp import Dataset, QueryOrder, Token


def decide(exact: ExactScores, vocabulary: tuple[Token, ...]) -> dict[Token, ClosedForm]:
    """Decide exactly whether |N(S)| k >= |S| m for every set S of optimal tokens, which is when the formula holds.

    It holds iff all blocks of the query have the same ratio of k_b to m_b. Otherwise the optimal tokens of the block
    with the lowest value, which contains all their losers, are a violating S, then reduced to a minimal one.
    """
    optimal = exact.numerator > 0
    size = len(vocabulary)
    k = np.bincount(exact.query[optimal], minlength=size)[exact.query]
    m = np.bincount(exact.query[~optimal], minlength=size)[exact.query]
    differs = exact.numerator * (k + m) != np.where(optimal, m, -k) * exact.denominator
    judged = {vocabulary[q]: ClosedForm(True, None) for q in np.flatnonzero(np.bincount(exact.query)).tolist()}
    heads = exact.query[exact.winner]
    for q in np.unique(exact.query[differs]).tolist():
        rows = slice(*np.searchsorted(heads, [q, q + 1]).tolist())
        witness = tuple(vocabulary[exact.token[i]] for i in _violating_set(exact, rows))
        judged[vocabulary[q]] = ClosedForm(False, witness)
    return judged


def _violating_set(exact: ExactScores, rows: slice) -> list[int]:
    """Minimal set S of optimal tokens with |N(S)| k < |S| m under one query, as indices of pairs (token, query)."""
    beaten: dict[int, set[int]] = {}
    for i, j in zip(exact.winner[rows].tolist(), exact.loser[rows].tolist(), strict=True):
        beaten.setdefault(i, set()).add(j)
    k, m = len(beaten), len(set().union(*beaten.values()))

    def violates(chosen: list[int]) -> bool:
        return len(set().union(*(beaten[i] for i in chosen))) * k < len(chosen) * m

    lowest = min(beaten, key=lambda i: Fraction(int(exact.numerator[i]), int(exact.denominator[i])))
    found = [i for i in sorted(beaten) if exact.block[i] == exact.block[lowest]]
    found = next(([i] for i in found if violates([i])), found)
    for i in list(found):
        fewer = [other for other in found if other != i]
        if violates(fewer):
            found = fewer
    if not violates(found):
        raise CertificateError("the lowest block of a query does not refute Proposition 2's formula")
    return found


def compare_exactly(
    dataset: Dataset, queries: Iterable[Token], weights: Mapping[Token, Mapping[Token, Fraction]]
) -> dict[Token, ClosedForm]:
    """Compare with exact weights, {query: {key: x^T W*_kq q}} without zeros."""
    judged = {}
    for query in queries:
        order, column = dataset.orders[query], weights.get(query, {})
        k, m = len(order.optimal), len(order.non_optimal)
        formula = dict.fromkeys(order.optimal, Fraction(m, k + m)) | dict.fromkeys(
            order.non_optimal, Fraction(-k, k + m)
        )
        witness = tuple(x for x in dataset.vocabulary if x in formula and column.get(x, 0) != formula[x])
        judged[query] = ClosedForm(not witness, witness or None)
    return judged


def compare(
    dataset: Dataset, queries: Mapping[Token, QueryOrder], scores: Floats, radius: Floats
) -> dict[Token, ClosedForm]:
    """Compare with numerical scores x^T W q, shape (key, query), known within ``radius``, of the same shape."""
    judged = {}
    for query, order in queries.items():
        formula, known = np.zeros(dataset.V), np.ones(dataset.V, dtype=bool)
        k, m = len(order.optimal), len(order.non_optimal)
        formula[[dataset.index[x] for x in order.optimal]] = m / (k + m)
        formula[[dataset.index[x] for x in order.non_optimal]] = -k / (k + m)
        known[[dataset.index[x] for x in order.confused]] = False
        column = dataset.index[query]
        differs = known & (np.abs(scores[:, column] - formula) > radius[:, column])
        witness = tuple(dataset.vocabulary[x] for x in np.flatnonzero(differs))
        judged[query] = ClosedForm(not witness, witness or None)
    return judged
