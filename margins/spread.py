"""The dual solution of a hard-margin problem with the largest least multiplier.

Constraints are edges x_winner - x_loser >= 1 of a graph, multipliers a flow on the tight ones with the solution as
divergence. The bound on the gradient's drift from its limit needs the least multiplier of a flow that is positive on
every edge that can carry one; solvers find vertices of the dual polytope, which are 0 on many.
"""

from dataclasses import dataclass

import numpy as np
import scipy  # its subpackages load when first used

from marginaudit.margins.errors import SolverFailure
from marginaudit.margins.exact import component_edges
from marginaudit.margins.rows import Indices
from marginaudit.orders.arrays import Floats

FEASIBILITY = 1e-10
"""Feasibility tolerance of the solver at a node; the true residual is computed from its solution."""


@dataclass(frozen=True, eq=False)
class Spread:
    """Multipliers on edges, with their residual.

    Attributes
    ----------
    multiplier : (edges,) array
    residual : float
        Euclidean length of the solution minus the multipliers' divergence.
    """

    multiplier: Floats
    residual: float


def spread(winner: Indices, loser: Indices, solution: Floats) -> Spread:
    """Multipliers on these edges with the largest minimum, component by component of the graph.

    Parameters
    ----------
    winner, loser : (edges,) integer arrays
        Ends of the edges with a positive multiplier in some dual solution (`support`).
    solution : (nodes,) array
        Divergence of the multipliers: at each node, the sum over edges that it wins minus that over edges that it
        loses.

    Raises
    ------
    SolverFailure
        The solver fails on the linear program.

    >>> over, under = np.array([0, 0, 1, 1]), np.array([2, 3, 2, 3])  # two tokens that both beat two
    >>> spread(over, under, np.array([0.5, 0.5, -0.5, -0.5])).multiplier.tolist()
    [0.25, 0.25, 0.25, 0.25]
    """
    nodes, multiplier = len(solution), np.zeros(len(winner))
    for rows, tokens, over, under in component_edges(winner, loser, nodes):
        multiplier[rows] = _spread_in(over, under, solution[tokens])
    divergence = np.bincount(winner, multiplier, nodes) - np.bincount(loser, multiplier, nodes)
    return Spread(multiplier, float(np.linalg.norm(solution - divergence)))


def is_star(tail: Indices, head: Indices, nodes: int) -> bool:
    """Whether a connected graph is a star with all edges from, or all edges to, its centre."""
    return len(tail) == nodes - 1 and 1 in (len(set(tail.tolist())), len(set(head.tolist())))


def _spread_in(winner: Indices, loser: Indices, solution: Floats) -> Floats:
    """The same for a connected graph: maximise s subject to divergence = solution, every multiplier >= s."""
    edges, nodes = len(winner), len(solution)
    if is_star(winner, loser, nodes):
        outer = loser if len(set(winner.tolist())) == 1 else winner
        return np.abs(solution[outer])  # a star: an edge's multiplier is the divergence at its outer end
    balance = np.bincount(winner, minlength=nodes) - np.bincount(loser, minlength=nodes)
    # unknowns: the excess of each multiplier over the least one, and the least one
    entries = np.concatenate([np.ones(edges), -np.ones(edges), balance])
    row = np.concatenate([winner, loser, np.arange(nodes)])
    column = np.concatenate([np.tile(np.arange(edges), 2), np.full(nodes, edges)])
    matrix = scipy.sparse.csr_array((entries, (row, column)), shape=(nodes, edges + 1))
    found = scipy.optimize.linprog(  # type: ignore[call-overload]  # no sparse matrices in its stubs
        np.append(np.zeros(edges), -1.0),
        A_eq=matrix,
        b_eq=solution,
        bounds=[(0, None)] * edges + [(None, None)],
        method="highs",
        options={"primal_feasibility_tolerance": FEASIBILITY, "dual_feasibility_tolerance": FEASIBILITY},
    )
    if found.x is None:
        raise SolverFailure(f"the dual solution with the largest least multiplier: {found.message}")
    return np.asarray(found.x[:-1] + found.x[-1])
