"""min sum_i m_i x_i^2 subject to x_winner - x_loser >= 1 on the edges of an acyclic graph, in rational arithmetic.

A dual active-set method (Goldfarb and Idnani 1983). Active edges, whose constraints hold with equality, form a
forest: with m_i x_i = sum of +- multipliers at node i, raising the multiplier of another edge by tau moves the tree of
its winner up by tau/mass and that of its loser down, each as a whole, and changes the multipliers in the two trees by
tau times the share of mass beyond them. An edge whose multiplier would become negative is dropped. An edge within one
tree moves no node: its multiplier replaces those along the tree's path until one of them is 0.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from marginaudit.margins.errors import CertificateError
from marginaudit.margins.exact import component_edges
from marginaudit.margins.rows import Indices


@dataclass(frozen=True, eq=False)
class WeightedMargin:
    """The solution with its multipliers.

    Attributes
    ----------
    mass : (nodes,) integer array
        Positive weights m.
    winner, loser : (edges,) integer arrays
    x : tuple of Fraction, one per node
    multiplier : tuple of Fraction, one per edge
        m_i x_i = sum of the multipliers of edges that i wins, minus those of edges that it loses.
    """

    mass: Indices
    winner: Indices
    loser: Indices
    x: tuple[Fraction, ...]
    multiplier: tuple[Fraction, ...]

    @property
    def norm_squared(self) -> Fraction:
        """sum m x^2."""
        return sum((m * x**2 for m, x in zip(self.mass.tolist(), self.x, strict=True)), Fraction(0))

    @property
    def slack(self) -> tuple[Fraction, ...]:
        """x_winner - x_loser - 1 of each edge."""
        return tuple(self.x[a] - self.x[j] - 1 for a, j in zip(self.winner.tolist(), self.loser.tolist(), strict=True))

    def verify(self) -> None:
        """Check the optimality conditions exactly: feasible, multipliers >= 0, stationary, complementary.

        Raises
        ------
        CertificateError
            A condition fails.
        """
        pulled = [Fraction(0)] * len(self.x)
        ends = zip(self.winner.tolist(), self.loser.tolist(), strict=True)
        for (a, j), slack, multiplier in zip(ends, self.slack, self.multiplier, strict=True):
            if slack < 0:
                raise CertificateError("a second-level margin is below 1")
            if multiplier < 0:
                raise CertificateError("a second-level multiplier is negative")
            if multiplier > 0 and slack > 0:
                raise CertificateError("a second-level multiplier is positive on a slack constraint")
            pulled[a] += multiplier
            pulled[j] -= multiplier
        if pulled != [m * x for m, x in zip(self.mass.tolist(), self.x, strict=True)]:
            raise CertificateError("the second-level multipliers do not add up to the solution")


def weighted_margin(mass: Indices, winner: Indices, loser: Indices) -> WeightedMargin:
    """Solve and verify.

    >>> import numpy as np
    >>> found = weighted_margin(np.array([1, 2, 1]), np.array([0, 1]), np.array([1, 2]))
    >>> [str(x) for x in found.x], [str(m) for m in found.multiplier]
    (['1', '0', '-1'], ['1', '1'])

    Raises
    ------
    ValueError
        The edges have a directed cycle.
    CertificateError
        The result does not meet the optimality conditions.
    """
    forest = _Forest(mass.tolist(), list(zip(winner.tolist(), loser.tolist(), strict=True)))
    for edges, *_ in component_edges(winner, loser, len(mass)):
        forest.satisfy(edges.tolist())
    found = WeightedMargin(mass, winner, loser, tuple(forest.x), tuple(forest.multiplier))
    found.verify()
    return found


class _Forest:
    """The iterate: x, multipliers, and the active edges by node."""

    def __init__(self, mass: list[int], ends: list[tuple[int, int]]) -> None:
        self.mass = mass
        self.ends = ends
        self.x = [Fraction(0)] * len(mass)
        self.multiplier = [Fraction(0)] * len(ends)
        self.active: list[set[int]] = [set() for _ in mass]

    def satisfy(self, edges: Sequence[int]) -> None:
        """Make all these constraints hold; they share no node with other edges."""
        while violated := [edge for edge in edges if self._slack(edge) < 0]:
            for edge in violated:
                if self._slack(edge) < 0:
                    self._activate(edge)

    def _slack(self, edge: int) -> Fraction:
        a, j = self.ends[edge]
        return self.x[a] - self.x[j] - 1

    def _activate(self, edge: int) -> None:
        """Raise the edge's multiplier until its constraint holds."""
        a, j = self.ends[edge]
        while True:
            tree = self._tree(a)
            if any(node == j for node, _, _ in tree):
                self._replace(edge, tree)
                continue
            other = self._tree(j)
            rates = self._rates(tree, up=True) | self._rates(other, up=False)
            mass, other_mass = (sum(self.mass[node] for node, _, _ in part) for part in (tree, other))
            full = -self._slack(edge) / (Fraction(1, mass) + Fraction(1, other_mass))
            limits = {f: self.multiplier[f] / -rate for f, rate in rates.items() if rate < 0}
            tau = min([full, *limits.values()])
            for f, rate in rates.items():
                self.multiplier[f] += tau * rate
            self.multiplier[edge] += tau
            for node, _, _ in tree:
                self.x[node] += tau / mass
            for node, _, _ in other:
                self.x[node] -= tau / other_mass
            if tau == full:
                self._join(edge)
                return
            self._drop(min(limits, key=limits.__getitem__))

    def _replace(self, edge: int, tree: list[tuple[int, int, int]]) -> None:
        """Move multiplier from the path between the edge's ends to the edge, until one on the path is 0."""
        a, j = self.ends[edge]
        step = {node: (parent, f) for node, parent, f in tree}
        path, node = {}, j
        while node != a:
            parent, f = step[node]
            path[f] = 1 if self.ends[f][0] == parent else -1
            node = parent
        limits = {f: self.multiplier[f] for f, sign in path.items() if sign > 0}
        if not limits:
            raise ValueError("the edges have a directed cycle")
        out = min(limits, key=limits.__getitem__)
        tau = limits[out]
        for f, sign in path.items():
            self.multiplier[f] -= sign * tau
        self.multiplier[edge] += tau
        self._drop(out)

    def _tree(self, root: int) -> list[tuple[int, int, int]]:
        """(node, parent, active edge between them) of the root's tree, parents first."""
        found, seen = [(root, root, -1)], {root}
        for node, _, _ in found:
            for f in self.active[node]:
                other = sum(self.ends[f]) - node
                if other not in seen:
                    seen.add(other)
                    found.append((other, node, f))
        return found

    def _rates(self, tree: list[tuple[int, int, int]], *, up: bool) -> dict[int, Fraction]:
        """Rates of the multipliers as the tree moves up or down by unit force at its root."""
        below = {node: self.mass[node] for node, _, _ in tree}
        rates = {}
        total = sum(below.values())
        for node, parent, f in reversed(tree[1:]):
            below[parent] += below[node]
            rates[f] = Fraction(below[node], total) * (1 if (self.ends[f][0] == node) == up else -1)
        return rates

    def _join(self, edge: int) -> None:
        for node in self.ends[edge]:
            self.active[node].add(edge)

    def _drop(self, edge: int) -> None:
        for node in self.ends[edge]:
            self.active[node].remove(edge)
