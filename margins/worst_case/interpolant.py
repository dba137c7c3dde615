"""The function behind a one-dimensional worst case, at every point: value, gradient and proximal step in rationals."""

from dataclasses import dataclass
from fractions import Fraction

from marginaudit.margins.worst_case.solution import WorstFunction
from marginaudit.margins.worst_case.verify import Function, Linear

ZERO = Fraction(0)

CURVATURES = ("convex", "strongly convex", "smooth convex", "smooth strongly convex", "smooth", "Lipschitz convex")
"""Classes with an interpolating function of this form."""


@dataclass(frozen=True)
class Interpolant:
    """A function of one variable that takes given values and slopes, of curvature between mu and L.

    f(x) - mu x^2/2 is the conjugate of p(y) + y^2/(2 (L - mu)), with p convex and piecewise linear; without L, of p.

    Attributes
    ----------
    corners : (slope y, value p(y)) of each corner of p, from left to right
    mu : least curvature
    inverse : 1/(L - mu), or 0 for a function that need not be smooth
    length : squared length of the unit of x; slopes times it are derivatives
    """

    corners: list[tuple[Fraction, Fraction]]
    mu: Fraction
    inverse: Fraction
    length: Fraction

    def _slope(self, x: Fraction, curvature: Fraction) -> Fraction:
        """The y with x in the subdifferential of p at y, plus curvature times y; the least for curvature 0."""
        for (y, p), (y_next, p_next) in zip(self.corners, self.corners[1:], strict=False):
            rise = (p_next - p) / (y_next - y)
            if x - curvature * y <= rise:
                return y
            if x - curvature * y_next < rise:
                return (x - rise) / curvature
        return self.corners[-1][0]

    def gradient(self, x: Fraction) -> Fraction:
        """The gradient, or the least subgradient."""
        return (self._slope(x, self.inverse) + self.mu * x) / self.length

    def value(self, x: Fraction) -> Fraction:
        """f(x)."""
        y = self._slope(x, self.inverse)
        return x * y - self._p(y) - self.inverse * y**2 / 2 + self.mu * x**2 / 2

    def proximal(self, x: Fraction, step: Fraction) -> Fraction:
        """The minimiser z of f(z) + |z - x|^2 / (2 step)."""
        gamma = step / self.length
        shrunk = 1 + gamma * self.mu
        return (x - gamma * self._slope(x / shrunk, self.inverse + gamma / shrunk)) / shrunk

    def _p(self, y: Fraction) -> Fraction:
        for (left, p), (right, p_right) in zip(self.corners, self.corners[1:], strict=False):
            if left <= y <= right:
                return p + (p_right - p) * (y - left) / (right - left)
        return self.corners[0][1]


def interpolant(function: Function, worst: WorstFunction) -> Interpolant:
    """Reconstruct the function of a one-dimensional worst case.

    Raises
    ------
    ValueError
        The worst case is not one-dimensional, or the class has no such form.
    """
    if len(worst.squared_lengths) != 1 or function.name not in CURVATURES:
        dimension = len(worst.squared_lengths)
        raise ValueError(f"got a worst {function.name} function on R^{dimension}, expected one of {CURVATURES} on R")
    length = worst.squared_lengths[0]
    L, mu = function.parameters.get("L"), function.parameters.get("mu", ZERO)
    if function.name == "smooth" and L is not None:
        mu = -L
    inverse = ZERO if L is None else 1 / ((L - mu) * length)
    mu = mu * length

    def coordinate(combination: Linear) -> Fraction:
        return sum((c * worst.points[name][0] for name, c in combination.items()), ZERO)

    lowest: dict[Fraction, Fraction] = {}
    for evaluation in function.evaluations:
        x, f = coordinate(evaluation.x), worst.number(evaluation.f)
        y = coordinate(evaluation.g) * length - mu * x
        p = x * y - (f - mu * x**2 / 2) - inverse * y**2 / 2
        lowest[y] = min(p, lowest.get(y, p))
    return Interpolant(_hull(sorted(lowest.items())), mu, inverse, length)


def _hull(points: list[tuple[Fraction, Fraction]]) -> list[tuple[Fraction, Fraction]]:
    """Corners of the lower convex hull."""
    corners: list[tuple[Fraction, Fraction]] = []
    for y, p in points:
        while len(corners) > 1:
            (a, p_a), (b, p_b) = corners[-2:]
            if (p_b - p_a) * (y - b) < (p - p_b) * (b - a):
                break
            corners.pop()
        corners.append((y, p))
    return corners
