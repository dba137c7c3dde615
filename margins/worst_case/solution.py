"""Proved ends of a worst case."""

from fractions import Fraction
from typing import Any, NamedTuple

from marginaudit.margins.worst_case.verify import Linear


class Proof(NamedTuple):
    """A proof of "performance <= bound": multipliers of metrics, constraints, and inequalities by function."""

    bound: Fraction
    metrics: list[Fraction]
    constraints: list[Fraction]
    functions: list[list[tuple[str, int, int, Fraction]]]


class WorstFunction(NamedTuple):
    """A function with a performance of at least ``value``: its points in an orthogonal basis, and its values."""

    value: Fraction
    squared_lengths: list[Fraction]
    points: dict[str, list[Fraction]]
    values: dict[str, Fraction]

    def dot(self, u: list[Fraction], v: list[Fraction]) -> Fraction:
        """The scalar product of two vectors of coordinates."""
        return sum((d * a * b for d, a, b in zip(self.squared_lengths, u, v, strict=True)), Fraction(0))

    def number(self, expression: Linear) -> Any:
        """The value of an expression."""
        total: Any = Fraction(0)
        for term, c in expression.items():
            if len(term) == 2:
                total += c * self.dot(self.points[term[0]], self.points[term[1]])
            elif term:
                total += c * self.values[term[0]]
            else:
                total += c
        return total
