"""The shortest scores with a margin of 1 along orders of height one, exactly, by minimum cuts.

Under one query the problem is min sum w^2 s.t. w_i - w_j >= 1 on the edges of a bipartite graph of k
optimal tokens i and m non-optimal ones j. With u_i = w_i and u_j = w_j + 1 it is the isotonic regression
of the data 0 on the optimal and 1 on the non-optimal tokens under u_i >= u_j, whose mean is c = m/(k+m).

Its solution has u < c exactly on the smallest lower set L = S + N(S) that minimises the sum of data - c,
that is |N(S)| k - |S| m up to a factor: a minimum cut of the network source -> i (capacity m), i -> j
(unbounded), j -> sink (capacity k), its source side grown from the source. L and the rest U can be solved separately: a
lower set L' of U with a negative sum would make L + L' better than L, and an upper set of L with a positive sum could
be moved to U; hence their solutions stay below and above c, the edges from U to L are slack and the joint solution is
feasible. No edge runs from S to U. If the cut is trivial, the flow saturates, u = c on all tokens, and flow/(k+m) are
the multipliers.

The result does not rest on this argument: :meth:`ExactScores.verify` checks the optimality conditions in integers.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
import scipy  # its subpackages load when first used
from numpy.typing import NDArray

from marginaudit.margins.errors import CertificateError
from marginaudit.margins.rows import Indices
from marginaudit.orders import Relations


@dataclass(frozen=True, eq=False)
class ExactScores:
    """An exact solution on the (query, token) pairs in a relation, with its multipliers.

    Attributes
    ----------
    query, token : (pairs,)
        Token indices, sorted by (query, token).
    numerator, denominator : (pairs,)
        The score of each pair. In orders of height one m_b/(k_b+m_b) or -k_b/(k_b+m_b), b its block. The
        denominator is at most the number of tokens, the numerator at most its square.
    block : (pairs,)
        The block of each pair, named by its first pair.
    winner, loser : (relations,)
        The two pairs of each relation.
    flow : (relations,)
        Multiplier of each relation times the denominator of its winner.
    """

    query: Indices
    token: Indices
    numerator: Indices
    denominator: Indices
    block: Indices
    winner: Indices
    loser: Indices
    flow: Indices

    @property
    def multiplier_denominator(self) -> Indices:
        """The denominators of the multipliers, shape (relations,)."""
        return self.denominator[self.winner]

    @cached_property
    def norm_squared(self) -> Fraction:
        """The sum of the squared scores."""
        return _grouped_sum(self.numerator**2, self.denominator, power=2)

    def verify(self) -> None:
        """Check the optimality conditions of every row and pair, in integers.

        They are feasibility, nonnegative multipliers, A^T lam = w, and sum(lam) = ||w||^2.

        Raises
        ------
        CertificateError
            A condition fails.
        """
        numerator, denominator, winner, loser = self.numerator, self.denominator, self.winner, self.loser
        over, under = denominator[winner], denominator[loser]
        if np.any(denominator <= 0):
            raise CertificateError("a score has a denominator that is not positive")
        if np.any(numerator[winner] * under - numerator[loser] * over < over * under):
            raise CertificateError("a row has a margin below 1")
        if np.any(self.flow < 0):
            raise CertificateError("a multiplier is negative")
        if np.any((self.flow > 0) & (over != under)):
            raise CertificateError("a multiplier is positive between two blocks")
        pulled = np.zeros_like(numerator)
        np.add.at(pulled, winner, self.flow)
        np.add.at(pulled, loser, -self.flow)
        if np.any(pulled != numerator):
            raise CertificateError("A^T lam differs from w")
        if _grouped_sum(self.flow, over, power=1) != self.norm_squared:
            raise CertificateError("sum(lam) differs from ||w||^2")


def _grouped_sum(numerators: Indices, denominators: Indices, *, power: int) -> Fraction:
    """The sum of numerators/denominators^power."""
    totals = np.zeros(denominators.max(initial=0) + 1, dtype=np.int64)
    np.add.at(totals, denominators, numerators)
    values = np.flatnonzero(totals)
    common = math.lcm(*values.tolist())
    terms = zip(totals[values].tolist(), values.tolist(), strict=True)
    return Fraction(sum(total * (common // value) ** power for total, value in terms), common**power)


def joined(solutions: Sequence[ExactScores]) -> ExactScores:
    """Join the solutions of different queries and verify; relations are sorted by (query, winner, loser).

    Raises
    ------
    CertificateError
        The joint solution does not meet the optimality conditions.
    """
    query, token = (np.concatenate([getattr(part, name) for part in solutions]) for name in ("query", "token"))
    order = np.lexsort((token, query))
    place = np.argsort(order)
    offsets = np.cumsum([0, *(len(part.query) for part in solutions)]).tolist()
    block, winner, loser = (
        place[np.concatenate([getattr(part, name) + at for part, at in zip(solutions, offsets, strict=False)])]
        for name in ("block", "winner", "loser")
    )
    rows = np.lexsort((loser, winner))
    exact = ExactScores(
        query=query[order],
        token=token[order],
        numerator=np.concatenate([part.numerator for part in solutions])[order],
        denominator=np.concatenate([part.denominator for part in solutions])[order],
        block=block[order],
        winner=winner[rows],
        loser=loser[rows],
        flow=np.concatenate([part.flow for part in solutions])[rows],
    )
    exact.verify()
    return exact


def confused_queries(relations: Relations, size: int) -> Indices:
    """Queries under which some token both wins and loses."""
    losing, winning = (relations.query * size + end for end in (relations.loser, relations.winner))
    return np.unique(relations.query[np.isin(losing, winning)])


def solve_exactly(relations: Relations, size: int) -> ExactScores:
    """Exact max-margin scores, verified; no token of the ``size`` both wins and loses under a query.

    Raises
    ------
    ValueError
        A token is confused.
    CertificateError
        The result does not meet the optimality conditions.
    """
    ends = np.concatenate([relations.query * size + relations.winner, relations.query * size + relations.loser])
    # with return_index it sorts stably, which is faster
    pairs, _, ends = np.unique(ends, return_index=True, return_inverse=True)
    winner, loser = ends[: len(relations)], ends[len(relations) :]
    optimal = np.zeros(len(pairs), dtype=bool)
    optimal[winner] = True
    if np.any(optimal[loser]):
        raise ValueError("got a confused token, expected relations in which no token wins and loses")
    k, m, block = np.zeros((3, len(pairs)), dtype=np.int64)
    flow = np.zeros(len(relations), dtype=np.int64)

    open_rows = np.arange(len(relations))
    while len(open_rows):
        tail, head = winner[open_rows], loser[open_rows]
        part = components(tail, head, len(pairs))
        members = _occurring(np.concatenate([tail, head]), len(pairs))
        winners = np.bincount(part[members[optimal[members]]], minlength=len(pairs))
        losers = np.bincount(part[members[~optimal[members]]], minlength=len(pairs))
        k[members], m[members] = winners[part[members]], losers[part[members]]
        first = np.full(len(pairs), len(pairs))
        np.minimum.at(first, part[members], members)
        block[members] = first[part[members]]
        complete = np.bincount(part[tail], minlength=len(pairs)) == winners * losers
        done = complete[part[tail]]
        flow[open_rows[done]] = 1  # lam = 1/(k+m) on every edge of a complete block
        open_rows = open_rows[~done]
        if len(open_rows):
            flow[open_rows], open_rows = _cut(winner[open_rows], loser[open_rows], k, m, part, open_rows)

    exact = ExactScores(
        query=pairs // size,
        token=pairs % size,
        numerator=np.where(optimal, m, -k),
        denominator=k + m,
        block=block,
        winner=winner,
        loser=loser,
        flow=flow,
    )
    exact.verify()
    return exact


def _occurring(places: Indices, size: int) -> Indices:
    """Distinct places below ``size``, in order: `numpy.unique` without sorting."""
    occurs = np.zeros(size, dtype=bool)
    occurs[places] = True
    return np.flatnonzero(occurs)


def components(tail: Indices, head: Indices, size: int) -> Indices:
    """Number of the connected component of each node of an undirected graph, shape (size,)."""
    graph = scipy.sparse.coo_array((np.ones(len(tail), dtype=np.int8), (tail, head)), shape=(size, size))
    return np.asarray(scipy.sparse.csgraph.connected_components(graph, directed=False)[1], dtype=np.int64)


def component_edges(tail: Indices, head: Indices, size: int) -> Iterator[tuple[Indices, Indices, Indices, Indices]]:
    """Components of an undirected graph with edges: edges, nodes, and the edges' ends as indices of these nodes.

    >>> tail, head = np.array([0, 2, 0]), np.array([1, 3, 4])
    >>> [(rows.tolist(), nodes.tolist()) for rows, nodes, _, _ in component_edges(tail, head, 6)]
    [([0, 2], [0, 1, 4]), ([1], [2, 3])]
    """
    part = components(tail, head, size)[tail]
    order = np.argsort(part, kind="stable")
    for rows in np.split(order, np.flatnonzero(np.diff(part[order])) + 1):
        nodes, ends = np.unique(np.concatenate([tail[rows], head[rows]]), return_inverse=True)
        yield rows, nodes, ends[: len(rows)], ends[len(rows) :]


def _cut(tail: Indices, head: Indices, k: Indices, m: Indices, part: Indices, rows: Indices) -> tuple[Indices, Indices]:
    """Maximum flow through all components at once; k and m are those of each pair's component, ``part``.

    Returns the flow on every edge, and the rows of unsaturated components without the edges across their minimum cut,
    which carry no flow.

    Raises
    ------
    CertificateError
        An unsaturated component has no edge across its cut.
    """
    nodes = _occurring(np.concatenate([tail, head]), len(k))
    place = np.empty(len(k), dtype=np.int64)
    place[nodes] = np.arange(len(nodes))
    tail, head = place[tail], place[head]
    k, m, part = k[nodes], m[nodes], part[nodes]
    source, sink = len(nodes), len(nodes) + 1
    winners, losers = _occurring(tail, len(nodes)), _occurring(head, len(nodes))
    starts = np.concatenate([np.full(len(winners), source), losers, tail])
    stops = np.concatenate([winners, np.full(len(losers), sink), head])
    # At most m enters a winner, so a capacity of m + 1 on its edges is never reached.
    capacity = np.concatenate([m[winners], k[losers], m[tail] + 1])
    network = scipy.sparse.csr_array(
        (capacity.astype(np.int32), (starts, stops)), shape=(len(nodes) + 2, len(nodes) + 2)
    )
    flow = scipy.sparse.csgraph.maximum_flow(network, source, sink).flow[tail, head].astype(np.int64)

    sent = np.zeros(len(nodes), dtype=np.int64)
    np.add.at(sent, tail, flow)
    short = winners[sent[winners] < m[winners]]
    starved = np.zeros(len(place), dtype=bool)
    starved[part[short]] = True
    some = np.flatnonzero(starved[part[tail]])
    tail, head, of = tail[some], head[some], part[tail[some]]
    reached = reachable(tail, head, flow[some], short, len(nodes))
    across = reached[tail] != reached[head]
    if np.any(np.bincount(of[across], minlength=len(place))[of] == 0):
        raise CertificateError("a flow is not a maximum flow")
    return flow, rows[some[~across]]


def reachable(tail: Indices, head: Indices, flow: Indices, starts: Indices, size: int) -> NDArray[np.bool_]:
    """Nodes reachable in the residual network from winners with spare capacity."""
    used = flow > 0
    row = np.concatenate([np.full(len(starts), size), tail, head[used]])
    column = np.concatenate([starts, head, tail[used]])
    residual = scipy.sparse.csr_array((np.ones(len(row), dtype=np.int8), (row, column)), shape=(size + 1, size + 1))
    reached = np.zeros(size + 1, dtype=bool)
    reached[scipy.sparse.csgraph.breadth_first_order(residual, size, return_predecessors=False)] = True
    return reached[:size]
