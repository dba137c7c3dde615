"""Tight constraints of a hard-margin problem that can carry a multiplier, decided exactly from one dual solution.

Constraints are edges x_winner - x_loser >= 1 of a graph, multipliers a flow on the tight ones. All dual
solutions have the same divergence, so two of them differ by a circulation: a tight edge carries a positive
multiplier in some solution iff it does in the given one or lies on a cycle of the residual graph, which has
the arc winner -> loser of each tight edge and loser -> winner of each that carries a positive multiplier.
That is, iff both its ends are in one strong component. The mean of such solutions is positive on all of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import scipy  # its subpackages load when first used
from numpy.typing import NDArray

from marginaudit.margins.rows import Indices


@dataclass(frozen=True, eq=False)
class Support:
    """The tight edges, and the components between which they cannot carry a multiplier.

    Attributes
    ----------
    tight : (edges,) bool array
        x_winner - x_loser = 1.
    carried : (edges,) bool array
        Tight, with a positive multiplier in some dual solution.
    component : (nodes,) integer array
        Number of each node's strong component in the residual graph, 0 .. components - 1. A node without tight edges is
        a component by itself.
    size : (components,) integer array
        Number of nodes of each component.
    """

    tight: NDArray[np.bool_]
    carried: NDArray[np.bool_]
    component: Indices
    size: Indices

    @property
    def uncarried(self) -> NDArray[np.bool_]:
        """Tight, with multiplier 0 in every dual solution, shape (edges,)."""
        return self.tight & ~self.carried

    @property
    def degenerate(self) -> bool:
        """Whether a tight edge has multiplier 0 in every dual solution."""
        return bool(self.uncarried.any())


def support(
    winner: Indices, loser: Indices, slack: Sequence[Fraction], multiplier: Sequence[Fraction], nodes: int
) -> Support:
    """Classify the edges.

    Parameters
    ----------
    winner, loser : (edges,) integer arrays
        The nodes of each constraint.
    slack, multiplier : (edges,) sequences of Fraction
        x_winner - x_loser - 1 at an optimal solution, and one dual solution.

    >>> zero, half = Fraction(0), Fraction(1, 2)
    >>> winner, loser = np.array([0, 2, 0]), np.array([1, 3, 3])
    >>> found = support(winner, loser, [zero] * 3, [half, half, zero], 4)  # 0 -> 1, 2 -> 3, 0 -> 3 with 0
    >>> found.carried.tolist(), found.uncarried.tolist()
    ([True, True, False], [False, False, True])
    >>> complete = support(np.append(winner, 2), np.append(loser, 1), [zero] * 4, [half, half, zero, zero], 4)
    >>> complete.degenerate
    False
    """
    tight = np.array([value == 0 for value in slack], dtype=bool)
    positive = tight & np.array([value > 0 for value in multiplier], dtype=bool)
    tail = np.concatenate([winner[tight], loser[positive]])
    head = np.concatenate([loser[tight], winner[positive]])
    residual = scipy.sparse.coo_array((np.ones(len(tail), dtype=np.int8), (tail, head)), shape=(nodes, nodes))
    _, label = scipy.sparse.csgraph.connected_components(residual, directed=True, connection="strong")
    component = np.asarray(label, dtype=np.int64)
    return Support(
        tight=tight,
        carried=tight & (component[winner] == component[loser]),
        component=component,
        size=np.bincount(component),
    )
