"""The relations of Definition 1 as arrays of queries, winners and losers."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from itertools import pairwise, starmap

import numpy as np
from numpy.typing import NDArray

from marginaudit.orders.relations import Indices, Relations

BLOCK = 2**21
"""Positions processed at a time, to limit memory."""


@dataclass(frozen=True)
class Encoded:
    """The samples as token indices, position by position, in 32 bits: long sentences have many prefixes.

    Attributes
    ----------
    token : (positions,)
        Index of the token at each position, samples one after the other.
    owner : (positions,)
        Sample of each position.
    query, next : (samples,)
        Index of each sample's last token, and of its next token.
    optimal : (positions,)
        Mask of the positions with n(x_l) = y (the optimal positions of eq. 3).
    """

    token: NDArray[np.int32]
    owner: NDArray[np.int32]
    query: Indices
    next: Indices
    optimal: NDArray[np.bool_]
    vocabulary_size: int

    def blocks(self) -> Iterator[slice]:
        """All positions, in blocks of whole samples with about `BLOCK` positions."""
        starts = np.flatnonzero(np.diff(self.owner, prepend=-1))
        first = set(np.searchsorted(starts, np.arange(BLOCK, len(self.owner), BLOCK)).tolist())
        cuts = [int(starts[i]) for i in sorted(first) if i < len(starts)]  # np.unique would import numpy.ma
        return starmap(slice, pairwise([0, *cuts, len(self.owner)]))


def relations(encoded: Encoded) -> Relations:
    """Definition 1: x >_q x' if a sample ending in q holds both and n(x) = y, n(x') != y.

    Source: arXiv 2409.17335, Definition 1. The pairs are also those of the rows of eq. 3. An x' without a value of n
    counts as n(x') != y, so it loses.
    """
    return together([_relations(encoded, block) for block in encoded.blocks()], encoded.vocabulary_size)


def together(found: Sequence[Relations], size: int) -> Relations:
    """Merge the relations of several blocks of samples; blocks and result as `each_once` returns them."""
    if len(found) == 1:
        return found[0]
    columns = {field.name: np.concatenate([getattr(one, field.name) for one in found]) for field in fields(Relations)}
    return each_once(Relations(**columns), size)


def _relations(encoded: Encoded, block: slice) -> Relations:
    """The relations of a block's samples."""
    size, optimal = encoded.vocabulary_size, encoded.optimal[block]
    owner, token = encoded.owner[block].astype(np.int64), encoded.token[block].astype(np.int64)
    win_owner, winner = _distinct(owner[optimal], token[optimal], size)
    lose_owner, loser = _distinct(owner[~optimal], token[~optimal], size)

    first = np.searchsorted(lose_owner, win_owner, side="left")
    losers_met = np.searchsorted(lose_owner, win_owner, side="right") - first
    left = np.repeat(np.arange(len(winner)), losers_met)
    offset = np.arange(len(left)) - np.repeat(np.cumsum(losers_met) - losers_met, losers_met)
    right = first[left] + offset

    sample = win_owner[left]
    return each_once(Relations(encoded.query[sample], winner[left], loser[right], sample), size)


def each_once(found: Relations, size: int) -> Relations:
    """Unique sorted relations, each with the first of its samples; ``size`` tokens."""
    code = (found.query * size + found.winner) * size + found.loser
    code, kept = np.unique(code, return_index=True)
    return Relations(query=code // size**2, winner=code // size % size, loser=code % size, sample=found.sample[kept])


def _distinct(owner: Indices, token: Indices, size: int) -> tuple[Indices, Indices]:
    code = np.sort(owner * size + token)
    code = code[np.diff(code, prepend=-1) > 0]
    return code // size, code % size
