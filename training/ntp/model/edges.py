"""The reduced model of stage 2: one edge from a sentence's optimal token to each of its other ones.

Where the tokens are orthonormal, all margins of W_ov are one A, every sentence holds exactly one token with
the answer's label and no label twice, the loss depends only on the score differences s_a - s_j between a
sentence's optimal token a and its other tokens j.
"""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from marginaudit.training.ntp.model.classes import SampleClasses

Floats: TypeAlias = NDArray[np.float64]
Indices: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Edges:
    """The edges of the classes that hold two or more distinct tokens.

    Attributes
    ----------
    frequency : (classes,) array
        Summed pi.
    query : (classes,) integer array
        Query token; equal ones are neighbours.
    optimal : (classes,) integer array
        The pair (optimal token, query).
    absent : (classes,) integer array
        Number of labels without a token in the sentence, V - m.
    first : (classes + 1,) integer array
        Where each class's edges begin.
    owner, other : (edges,) integer arrays
        The class, and the pair (other token, query).
    log_ratio : (edges,) array
        log(c_j / c_a) of the multiplicities.
    """

    frequency: Floats
    query: Indices
    optimal: Indices
    absent: Indices
    first: Indices
    owner: Indices
    other: Indices
    log_ratio: Floats

    def __len__(self) -> int:
        return len(self.other)


@dataclass(frozen=True, eq=False)
class MergedEdges:
    """Edges merged by their pair (optimal, other), on which alone the late gradient depends.

    Once attention is one-hot to double precision, the gradient is, up to one common factor, that of
    the sum over merged edges of weight * exp(-(s_winner - s_loser)).

    Attributes
    ----------
    winner, loser : (merged edges,) integer arrays
        The pairs (optimal token, query) and (other token, query), sorted.
    weight : (merged edges,) array
        Sum over the classes of pi c_j / c_a.
    number : (edges,) integer array
        The merged edge of each edge.
    """

    winner: Indices
    loser: Indices
    weight: Floats
    number: Indices

    def __len__(self) -> int:
        return len(self.winner)


def no_reduction(classes: SampleClasses) -> str | None:
    """Reason why the classes have no reduced model, or None."""
    if (classes.answer < 0).any():
        return "the next token of a sample is n(x) of no token of its sentence"
    if len(classes.slot_class) != len(classes.edge_class):
        return "two tokens of one sentence have the same next token under n"
    return None


def sentence_edges(classes: SampleClasses, V: int) -> Edges:
    """The edges of classes that have a reduced model (`no_reduction` is None).

    >>> from marginaudit.orders.ntp import CASES
    >>> from marginaudit.training.ntp import sample_classes
    >>> edges = sentence_edges(sample_classes(CASES["example-1"]()), 4)
    >>> len(edges), edges.first.tolist(), edges.absent.tolist()
    (6, [0, 1, 2, 4, 5, 6], [2, 2, 1, 2, 2])
    """
    size = np.bincount(classes.edge_class, minlength=len(classes))
    working = size > 1
    best = classes.slot_first_edge[classes.answer]
    number = np.cumsum(working) - 1
    kept = working[classes.edge_class] & ~classes.optimal
    ratio = classes.multiplicity[kept] / classes.multiplicity[best][classes.edge_class[kept]]
    return Edges(
        frequency=classes.frequency[working],
        query=classes.query[working],
        optimal=classes.pair[best[working]],
        absent=V - size[working],
        first=np.concatenate([[0], np.cumsum(size[working] - 1)]),
        owner=number[classes.edge_class[kept]],
        other=classes.pair[kept],
        log_ratio=np.log(ratio),
    )


def merged_edges(edges: Edges, pairs: int) -> MergedEdges:
    """Merge edges with equal pairs."""
    code, number = np.unique(edges.optimal[edges.owner] * pairs + edges.other, return_inverse=True)
    share = edges.frequency[edges.owner] * np.exp(edges.log_ratio)
    weight = np.bincount(number, share, len(code)).astype(np.float64)
    return MergedEdges(code // pairs, code % pairs, weight, number)
