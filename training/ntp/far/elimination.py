"""Sparse decompositions of mu I plus the Laplacian of a weighted graph, the sum of rate (e_a - e_j)(e_a - e_j)^T.

For every mu with a positive real part it is L D L^T without pivoting. The graph of the merged edges is nearly a forest:
eliminated in an order of least degree, L has hardly more entries than there are edges.

Source: the row-by-row decomposition is that of T. A. Davis, Algorithm 849: a concise sparse Cholesky factorization
package, ACM TOMS 31 (2005).
"""

from typing import Any, NamedTuple, TypeAlias

import numpy as np
import scipy  # its subpackages load when first used
from numpy.typing import NDArray

from marginaudit.orders.jit import compiled
from marginaudit.training.ntp.model.edges import Floats, Indices

Numbers: TypeAlias = NDArray[Any]
"""Real or complex."""

Factors: TypeAlias = tuple[Indices, Numbers, Numbers]
"""Rows and values of L's entries below the diagonal, column by column, and 1/D."""


class Elimination(NamedTuple):
    """An order of a graph's nodes for elimination, and where its factors have entries.

    Attributes
    ----------
    node : (nodes,) integer array
        The node at each place of the order.
    first : (nodes + 1,) integer array
        Where each place's entries of ``neighbour`` and ``edge`` begin.
    neighbour, edge : (edges,) integer arrays
        The earlier places with an edge to a place, and those edges.
    parent : (nodes,) integer array
        The first later place with an entry in the column of a place; -1 without one.
    start : (nodes + 1,) integer array
        Where each column of L begins.
    """

    node: Indices
    first: Indices
    neighbour: Indices
    edge: Indices
    parent: Indices
    start: Indices


def elimination(winner: Indices, loser: Indices, nodes: int) -> Elimination:
    """The elimination of a graph with these edges, in an order of least degree."""
    edges = len(winner)
    ends = np.concatenate([winner, loser]), np.concatenate([loser, winner])
    graph = scipy.sparse.csc_array((np.full(2 * edges, -1.0), ends), shape=(nodes, nodes))
    shifted = scipy.sparse.csc_array(graph + scipy.sparse.diags_array(1.0 - graph.sum(axis=0)))
    place = scipy.sparse.linalg.splu(shifted, permc_spec="MMD_AT_PLUS_A", options={"SymmetricMode": True}).perm_c
    earlier, later = np.sort([place[winner], place[loser]], axis=0)
    order = np.argsort(later, kind="stable")
    first = np.concatenate([[0], np.cumsum(np.bincount(later, minlength=nodes))])
    parent, start = columns_of(first, earlier[order])
    return Elimination(np.argsort(place), first, earlier[order], order, parent, start)


@compiled
def columns_of(first: Indices, neighbour: Indices) -> tuple[Indices, Indices]:
    """The elimination tree, and where the columns of L begin; see `Elimination`."""
    nodes = len(first) - 1
    parent, seen = np.full(nodes, -1), np.full(nodes, -1)
    start = np.zeros(nodes + 1, dtype=np.int64)
    for k in range(nodes):
        seen[k] = k
        for p in range(first[k], first[k + 1]):
            i = neighbour[p]
            while seen[i] != k:
                if parent[i] < 0:
                    parent[i] = k
                start[i + 1] += 1
                seen[i] = k
                i = parent[i]
    return parent, np.cumsum(start)


@compiled
def decomposed(known: Elimination, rate: Floats, diagonal: Numbers) -> Factors:
    """The decomposition of mu I plus the Laplacian, whose diagonal is ``diagonal``, by node.

    Row by row: row k of L solves a triangular system with the rows above.
    """
    nodes = len(known.node)
    row, value = np.empty(known.start[-1], dtype=np.int64), np.empty(known.start[-1], dtype=diagonal.dtype)
    end, inverse = known.start[:-1].copy(), diagonal[known.node]
    work, seen = np.zeros_like(inverse), np.full(nodes, -1)
    path, pattern = np.empty(nodes, dtype=np.int64), np.empty(nodes, dtype=np.int64)
    for k in range(nodes):
        top = nodes
        seen[k] = k
        for p in range(known.first[k], known.first[k + 1]):
            i = known.neighbour[p]
            work[i] -= rate[known.edge[p]]
            size = 0
            while seen[i] != k:
                path[size] = i
                size += 1
                seen[i] = k
                i = known.parent[i]
            while size > 0:
                size -= 1
                top -= 1
                pattern[top] = path[size]
        for p in range(top, nodes):
            i = pattern[p]
            entry = work[i]
            work[i] = 0.0
            for q in range(known.start[i], end[i]):
                work[row[q]] -= value[q] * entry
            scaled = entry * inverse[i]
            inverse[k] -= scaled * entry
            row[end[i]] = k
            value[end[i]] = scaled
            end[i] += 1
        inverse[k] = 1 / inverse[k]
    return row, value, inverse


@compiled
def solved(known: Elimination, row: Indices, value: Numbers, inverse: Numbers, right: Numbers) -> Numbers:
    """The solution of L D L^T g = ``right``, by node."""
    nodes = len(known.node)
    x = right[known.node]
    for k in range(nodes):
        for p in range(known.start[k], known.start[k + 1]):
            x[row[p]] -= value[p] * x[k]
    found = np.empty_like(x)
    for k in range(nodes - 1, -1, -1):
        x[k] *= inverse[k]
        for p in range(known.start[k], known.start[k + 1]):
            x[k] -= value[p] * x[row[p]]
        found[known.node[k]] = x[k]
    return found
