"""The largest part of a text that meets Assumption 1: the best part found, and an upper bound."""

from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter, itemgetter
from typing import Any

import numpy as np

from marginaudit.orders.ntp.realize.matching import best_matching, pair_weights
from marginaudit.orders.ntp.realize.program import answers, program, relaxed, solved
from marginaudit.orders.ntp.realize.reduced_samples import ReducedSamples
from marginaudit.orders.ntp.realize.winners import Mask, allowed, ascend, at_query, kept
from marginaudit.orders.reading import Token
from marginaudit.orders.relations import Indices

EXACT = 1_500
"""Limit on the number of k_Sxy of an integer program."""

RELAXED = 6_000
"""Limit on the number of k_Sxy of a linear relaxation."""

NODES = 50
"""Limit on nodes of branch and bound; unlike a time limit, it gives the same result on every machine."""


@dataclass(frozen=True, eq=False)
class Part:
    """Subset of the samples that meets Assumption 1.

    Attributes
    ----------
    kept : (samples,)
        Mask of these samples.
    source : (tokens,)
        The token x with n(x) = y for each y, as far as the part determines it.
    fits : int
        Largest number of samples that fit one collocation.
    lower : int
        Number of these samples, with repetitions.
    upper : int
        Upper bound on the number of samples of any part.
    method : str
        Methods of both bounds.
    """

    kept: Mask
    source: Indices
    fits: int
    lower: int
    upper: int
    method: str


def largest_part(samples: ReducedSamples) -> Part:
    """Find the largest part, with an upper bound.

    n and the winners of every query are improved in turn, from two starts: the collocation that fits the most samples,
    and that of next tokens right after the query. The upper bound is the number of samples that fit one collocation.
    For few samples that differ in query, next token or set of tokens, the linear relaxation of the integer program
    (`RELAXED`) and branch and bound (`EXACT`) give another start and bound.
    """
    source, fits = best_matching(pair_weights(samples, samples.eligible))
    upper, by = fits, "matching"
    follower = at_query(samples)
    ends = [
        _improved(samples, source, np.zeros(len(samples.token), dtype=np.bool_)),
        _improved(samples, _matched(samples, follower), follower),
    ]
    found = answers(samples) if max(ends, key=_lower).lower < upper and _kinds(samples) <= RELAXED else None
    if found is not None and len(found.place) <= RELAXED:
        written = program(samples, found)
        values, most = relaxed(written)
        upper, by = min((upper, by), (most, "linear relaxation"), key=itemgetter(0))
        ends.append(_improved(samples, written.source(values), written.winner(values)))
        if len(found.place) <= EXACT and max(ends, key=_lower).lower < upper:
            best_values, most = solved(written, NODES)
            upper, by = min((upper, by), (most, "branch and bound"), key=itemgetter(0))
            if best_values is not None:
                ends.append(_improved(samples, written.source(best_values), written.winner(best_values)))
    best = max(ends, key=_lower)
    how = "exact" if best.lower == upper else "alternating maximisation"
    return Part(best.kept, best.source, fits, best.lower, upper, f"{how}; bound by {by}")


def _kinds(samples: ReducedSamples) -> int:
    """Number of pairs of query and next token, a lower bound on the number of distinct reduced samples."""
    return len(np.unique(samples.query * samples.vocabulary_size + samples.next))


@dataclass(frozen=True, eq=False)
class _End:
    kept: Mask
    source: Indices
    lower: int


_lower = attrgetter("lower")


def _improved(samples: ReducedSamples, source: Indices, winner: Mask) -> _End:
    """Improve winners and n in turn, each with the other fixed, until neither keeps more samples."""
    lower = -1
    while True:
        winner = ascend(samples, source, winner)
        stays = kept(samples, source, winner)
        value = int(samples.count[stays].sum())
        if value <= lower:
            return _End(stays, source, value)
        lower, source = value, _matched(samples, winner)


def _matched(samples: ReducedSamples, winner: Mask) -> Indices:
    """The best n for fixed winners."""
    return best_matching(pair_weights(samples, allowed(samples, winner)))[0]


def document_of(part: Part, samples: ReducedSamples, vocabulary: Sequence[Token], name: str) -> dict[str, Any]:
    """The part as the JSON form of a dataset over its tokens, with an iterator of samples.

    n is completed to an arbitrary injective map.
    """
    following = samples.next[part.kept]
    there = np.zeros(samples.vocabulary_size, dtype=np.bool_)
    there[samples.token[np.repeat(part.kept, samples.size)]] = True
    there[following] = True
    used = np.flatnonzero(there).tolist()
    inverse = {int(part.source[y]): y for y in np.unique(following).tolist()}
    free = iter(sorted(set(used) - set(inverse.values())))
    return {
        "name": name,
        "vocabulary": [vocabulary[x] for x in used],
        "samples": (
            {"tokens": [vocabulary[x] for x in samples.tokens_of(s)], "next": vocabulary[samples.next[s]]}
            | ({"count": int(samples.count[s])} if samples.count[s] > 1 else {})
            for s in np.flatnonzero(part.kept).tolist()
        ),
        "next_token": {vocabulary[x]: vocabulary[inverse[x] if x in inverse else next(free)] for x in used},
    }
