"""Samples that meet Assumption 1 together under each query, for a given collocation.

Without confused tokens a query's tokens split into winners and others, and a sample fits if exactly one of its tokens
is a winner, the x with n(x) its next token. Samples of any such split meet Assumption 1, and queries are independent.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from marginaudit.orders.jit import compiled
from marginaudit.orders.ntp.realize.reduced_samples import ReducedSamples
from marginaudit.orders.relations import Indices

Mask = NDArray[np.bool_]


def answered(samples: ReducedSamples, source: Indices) -> Indices:
    """Place of the token x with n(x) = y in each sample; `NONE` if missing or not eligible."""
    return _answered(samples.start, samples.token, samples.eligible, samples.next, source)


def kept(samples: ReducedSamples, source: Indices, winner: Mask) -> Mask:
    """Samples that meet Assumption 1 together if the tokens at the marked places win under their query."""
    return _kept(samples.start, answered(samples, source), winner)


def allowed(samples: ReducedSamples, winner: Mask) -> Mask:
    """Places of tokens x that may have the next token as n(x), given these winners."""
    return _allowed(samples.start, samples.eligible, winner)


def at_query(samples: ReducedSamples) -> Mask:
    """Mask of the places with the query's token."""
    return _at_query(samples.start, samples.token, samples.query)


def ascend(samples: ReducedSamples, source: Indices, winner: Mask) -> Mask:
    """Local search for winners of every query that keep at least as many samples as the given ones.

    Tokens are added or removed one at a time while more samples are kept, from three starts: the given winners, no
    winners, and the query alone. The best of the three is taken for each query.
    """
    return _ascend(
        samples.vocabulary_size,
        samples.query_start,
        samples.query,
        samples.count,
        samples.start,
        samples.token,
        answered(samples, source),
        winner,
    )


@compiled
def _answered(start: Indices, token: Any, eligible: Mask, following: Indices, source: Indices) -> Indices:
    place = np.full(len(following), -1, dtype=np.int64)
    for s in range(len(following)):
        for i in range(start[s], start[s + 1]):
            if token[i] == source[following[s]] and eligible[i]:
                place[s] = i
    return place


@compiled
def _kept(start: Indices, place: Indices, winner: Mask) -> Mask:
    found = np.zeros(len(place), dtype=np.bool_)
    for s in range(len(place)):
        alone = winner[start[s] : start[s + 1]].sum() == 1
        found[s] = place[s] >= 0 and (start[s + 1] - start[s] == 1 or (alone and winner[place[s]]))
    return found


@compiled
def _allowed(start: Indices, eligible: Mask, winner: Mask) -> Mask:
    found = np.zeros(len(winner), dtype=np.bool_)
    for s in range(len(start) - 1):
        alone = winner[start[s] : start[s + 1]].sum() == 1
        for i in range(start[s], start[s + 1]):
            found[i] = eligible[i] and (start[s + 1] - start[s] == 1 or (alone and winner[i]))
    return found


@compiled
def _at_query(start: Indices, token: Any, query: Indices) -> Mask:
    found = np.zeros(len(token), dtype=np.bool_)
    for s in range(len(query)):
        for i in range(start[s], start[s + 1]):
            found[i] = token[i] == query[s]
    return found


@compiled
def _ascend(
    V: int,
    query_start: Indices,
    query: Indices,
    count: Indices,
    start: Indices,
    token: Any,
    place: Indices,
    winner: Mask,
) -> Mask:
    best = np.zeros(len(token), dtype=np.bool_)
    weight = np.zeros(V, dtype=np.int64)  # samples that a token could win
    degree = np.zeros(V + 1, dtype=np.int64)
    given = np.zeros(V, dtype=np.bool_)
    for block in range(len(query_start) - 1):
        lo, hi = query_start[block], query_start[block + 1]
        q = query[lo]
        weight[:] = 0
        degree[:] = 0
        for s in range(lo, hi):
            if place[s] >= 0 and start[s + 1] - start[s] > 1:
                weight[token[place[s]]] += count[s]
                for i in range(start[s], start[s + 1]):
                    degree[token[i] + 1] += 1
        ends = np.cumsum(degree)
        holders = np.empty(ends[V], dtype=np.int64)
        filled = ends[:V].copy()
        for s in range(lo, hi):
            if place[s] >= 0 and start[s + 1] - start[s] > 1:
                for i in range(start[s], start[s + 1]):
                    holders[filled[token[i]]] = s
                    filled[token[i]] += 1
        could_win = np.flatnonzero(weight)
        could_win = could_win[np.argsort(-weight[could_win], kind="mergesort")]
        given[:] = False
        for i in range(start[lo], start[hi]):
            given[token[i]] |= winner[i] and weight[token[i]] > 0

        most = -1
        kept_best = given
        for attempt in range(3):
            wins = given.copy() if attempt == 0 else np.zeros(V, dtype=np.bool_)
            if attempt == 2:
                wins[q] = weight[q] > 0
            inside = np.zeros(hi - lo, dtype=np.int64)  # winners of each sample
            for x in np.flatnonzero(wins):
                for s in holders[ends[x] : ends[x + 1]]:
                    inside[s - lo] += 1
            better = True
            while better:
                better = False
                for x in could_win:
                    gain = 0
                    for s in holders[ends[x] : ends[x + 1]]:
                        w, others = token[place[s]], inside[s - lo] - wins[x]
                        without = others == 1 and w != x and wins[w]
                        within = others == 0 and w == x
                        gain += count[s] * (int(within) - int(without))
                    if (gain < 0) if wins[x] else (gain > 0):
                        better = True
                        step = -1 if wins[x] else 1
                        wins[x] = not wins[x]
                        for s in holders[ends[x] : ends[x + 1]]:
                            inside[s - lo] += step
            value = 0
            for s in range(lo, hi):
                if place[s] >= 0 and start[s + 1] - start[s] > 1 and inside[s - lo] == 1 and wins[token[place[s]]]:
                    value += count[s]
            if value > most:
                most, kept_best = value, wins
        for i in range(start[lo], start[hi]):
            best[i] = kept_best[token[i]]
    return best
