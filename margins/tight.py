"""The shortest scores with a margin of 1 along acyclic orders, exactly, from a numerical solution.

Under one query the problem is min sum w^2 s.t. w_i - w_j >= 1 on the edges of an acyclic graph. Each component of the
tight edges has integer differences w_i - w_j and, as A^T lam sums to 0, sum 0. So w follows from these integers, the
rounded numerical differences, and its denominators are at most the component's size. Multipliers with A^T lam = w are a
flow along tight edges from the tokens with w > 0 to those with w < 0: an integer maximum flow finds one if it exists. A
tight edge without a multiplier may join two components without harm.

The result rests on :meth:`ExactScores.verify`, not on the numerical solution.
"""

import numpy as np
import scipy  # its subpackages load when first used
from numpy.typing import NDArray

from marginaudit.margins.exact import ExactScores, components
from marginaudit.margins.rows import Indices
from marginaudit.orders import Relations
from marginaudit.orders.arrays import Floats

SLACKS_OF_TIGHT_ROWS = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8)
"""Slacks below which a row counts as tight, tried in turn. Between components of a and b tokens the slack of a row
is 0 or at least 1/(a b); a solution with a relative gap of 1e-12 may have 1e-6 in place of 0."""

LARGEST_FLOW = np.iinfo(np.int32).max
"""Largest capacity of scipy's maximum flow; reached by orders of some 2000 tokens in one chain."""


def solve_near(relations: Relations, size: int, scores: Floats) -> dict[int, ExactScores]:
    """Verified exact solutions near given scores (key, query), by query, for the queries with one.

    Raises
    ------
    CertificateError
        A result does not meet the optimality conditions.
    """
    found = {}
    for query in np.unique(relations.query).tolist():
        rows = relations.query == query
        winner, loser = relations.winner[rows], relations.loser[rows]
        for slack in SLACKS_OF_TIGHT_ROWS:
            exact = _solve_query(query, winner, loser, scores[:, query], slack)
            if exact is not None:
                found[query] = exact
                break
    return found


def _solve_query(query: int, winner: Indices, loser: Indices, column: Floats, slack: float) -> ExactScores | None:
    token, ends = np.unique(np.concatenate([winner, loser]), return_inverse=True)
    winner, loser = ends[: len(winner)], ends[len(winner) :]
    w = column[token]
    near = w[winner] - w[loser] < 1 + slack
    part = components(winner[near], loser[near], len(token))
    block = np.unique(part, return_index=True)[1][part]
    height = np.rint(w - w[block]).astype(np.int64)
    denominator = np.bincount(part)[part]
    total = np.zeros_like(height)
    np.add.at(total, part, height)
    numerator = denominator * height - total[part]

    over, under = denominator[winner], denominator[loser]
    slacks = numerator[winner] * under - numerator[loser] * over - over * under
    if np.any(slacks < 0):
        return None
    flow = flow_on_tight(winner, loser, (slacks == 0) & (part[winner] == part[loser]), numerator)
    if flow is None:
        return None
    exact = ExactScores(
        query=np.full_like(token, query),
        token=token,
        numerator=numerator,
        denominator=denominator,
        block=block,
        winner=winner,
        loser=loser,
        flow=flow,
    )
    exact.verify()
    return exact


def flow_on_tight(winner: Indices, loser: Indices, tight: NDArray[np.bool_], supply: Indices) -> Indices | None:
    """A flow on the tight edges with the given divergence, or None."""
    givers, takers = np.flatnonzero(supply > 0), np.flatnonzero(supply < 0)
    total = int(supply[givers].sum())
    if total > LARGEST_FLOW:
        return None
    source, sink = len(supply), len(supply) + 1
    edges = int(np.count_nonzero(tight))
    starts = np.concatenate([np.full(len(givers), source), takers, winner[tight]])
    stops = np.concatenate([givers, np.full(len(takers), sink), loser[tight]])
    capacity = np.concatenate([supply[givers], -supply[takers], np.full(edges, total)])
    network = scipy.sparse.csr_array((capacity.astype(np.int32), (starts, stops)), shape=(sink + 1, sink + 1))
    carried = scipy.sparse.csgraph.maximum_flow(network, source, sink)
    if carried.flow_value != total:
        return None
    return np.where(tight, carried.flow[winner, loser], 0).astype(np.int64)
