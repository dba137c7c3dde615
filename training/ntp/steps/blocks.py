"""The classes as the compiled step goes through them: sixteen side by side, those with the same tokens in turn."""

from typing import Any, NamedTuple

import numpy as np

from marginaudit.training.ntp.model.edges import Edges
from marginaudit.training.ntp.steps.iterate import Floats
from marginaudit.training.ntp.steps.lanes import LANES

SIDE_BY_SIDE = int(LANES)

DEEPEST = 8
"""Classes of a piece, at most: where one set of tokens has many classes, their pieces lie side by side."""

APART = 32
"""How far apart neighbours in a block were before: those of one query add to the same sums, one after the other."""


class Blocks(NamedTuple):
    """Pieces of classes that have the same merged edges, `SIDE_BY_SIDE` pieces in a block.

    All classes of a piece look up the same odds, add to the same fluxes and have one query, so that a block does so
    once. The longest pieces come first; where a piece, or the last block, has fewer classes, frequency and ratios are
    0. Classes with equal merged edges and equal ratios are one.

    Attributes
    ----------
    size, rounds : (blocks,) arrays
        Edges of each of the block's classes, and classes of its longest piece.
    number : array
        Block by block, merged edges, shape (size, pieces).
    query : array
        Block by block, shape (pieces,).
    ratio, frequency : arrays
        Block by block and round by round, shapes (size, pieces) and (pieces,).
    """

    size: Any
    rounds: Any
    number: Any
    query: Any
    ratio: Floats
    frequency: Floats


def in_blocks(edges: Edges, number: Any, ratio: Floats) -> Blocks:
    """The classes in blocks; ``number`` and ``ratio`` are (edges,) arrays."""
    sizes = np.diff(edges.first)
    blocks = [block for size in np.unique(sizes) for block in _of_size(int(size), sizes == size, edges, number, ratio)]
    size, rounds, numbers, query, ratios, frequency = zip(*blocks, strict=True)
    return Blocks(
        np.array(size, np.uint64),
        np.array(rounds, np.uint64),
        np.concatenate(numbers).astype(np.uint32),
        np.concatenate(query).astype(np.uint32),
        np.concatenate(ratios),
        np.concatenate(frequency),
    )


def _of_size(size: int, same: Any, edges: Edges, number: Any, ratio: Floats) -> list[Blocks]:
    at = edges.first[:-1][same, np.newaxis] + np.arange(size)
    rows = np.concatenate([number[at], ratio[at]], axis=1)
    order = np.lexsort(rows.T[::-1])
    first = _changes(rows[order])
    frequency = np.append(np.add.reduceat(edges.frequency[same][order], first), 0.0)
    query = np.append(edges.query[same][order][first], 0)
    rows = rows[order][first]
    alike = _changes(rows[:, :size])
    place = np.arange(len(rows)) - np.repeat(alike, np.diff(alike, append=len(rows)))
    piece = np.flatnonzero(place % DEEPEST == 0)
    many = np.diff(piece, append=len(rows))
    window, lane = np.divmod(np.arange(len(piece)), SIDE_BY_SIDE * APART)
    longest = np.lexsort((lane % APART, window, -many))
    absent = len(rows)
    rows = np.append(rows, np.zeros((1, 2 * size)), axis=0)
    blocks = []
    for start in range(0, len(piece), SIDE_BY_SIDE):
        chosen = longest[start : start + SIDE_BY_SIDE]
        down = np.arange(many[chosen[0]])[:, np.newaxis]
        member = np.full((len(down), SIDE_BY_SIDE), absent)
        member[:, : len(chosen)] = np.where(down < many[chosen], piece[chosen] + down, absent)
        blocks.append(
            Blocks(
                size,
                len(down),
                rows[member[0], :size].T.ravel(),
                query[member[0]],
                rows[member, size:].swapaxes(1, 2).ravel(),
                frequency[member].ravel(),
            )
        )
    return blocks


def _changes(rows: Any) -> Any:
    """Where a row differs from the one before, and 0."""
    return np.concatenate([[0], 1 + np.flatnonzero((rows[1:] != rows[:-1]).any(axis=1))])
