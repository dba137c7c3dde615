"""A function through given values and gradients, with scipy alone: what a certificate's worst function is as a program.

f(x) = mu |x|^2/2 + max over weights w of sum w_i (f_i - |g_i|^2/(2 K) + g_i.(x - x_i + g_i/K)) - |sum w_i g_i|^2/(2 K),
with K = L - mu, values and gradients less those of mu |x|^2/2: the Moreau envelope of a maximum of affine functions.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import LinearConstraint, minimize

Floats = NDArray[np.float64]


@dataclass
class Envelope:
    """A function of curvature between mu and L = mu + 1/inverse, through rows of x, g and f."""

    x: Floats
    g: Floats
    f: Floats
    mu: float
    inverse: float

    def weights(self, x: Floats, inverse: float) -> Floats:
        """The maximal weights for a curvature."""
        g = self.g - self.mu * self.x
        shifted = self.x - self.inverse * g
        level = self.f - self.mu / 2 * (self.x**2).sum(1) - self.inverse / 2 * (g**2).sum(1)
        height = level + (g * (x - shifted)).sum(1)

        def objective(w: Floats) -> Any:
            slope = w @ g
            return -(w @ height - inverse / 2 * slope @ slope)

        found = minimize(  # type: ignore[call-overload]
            objective,
            np.full(len(g), 1 / len(g)),
            jac=lambda w: -(height - inverse * g @ (w @ g)),
            bounds=[(0.0, 1.0)] * len(g),
            constraints=LinearConstraint(np.ones((1, len(g))), 1, 1),
            method="SLSQP",
            options={"ftol": 1e-16, "maxiter": 500},
        )
        return np.asarray(found.x)

    def gradient(self, x: Floats) -> Floats:
        """The gradient, or a subgradient."""
        return np.asarray(self.weights(x, self.inverse) @ (self.g - self.mu * self.x) + self.mu * x)

    def value(self, x: Floats) -> float:
        """f(x)."""
        g = self.g - self.mu * self.x
        w = self.weights(x, self.inverse)
        level = self.f - self.mu / 2 * (self.x**2).sum(1) - self.inverse / 2 * (g**2).sum(1)
        lines = level + (g * (x - self.x + self.inverse * g)).sum(1)
        return float(w @ lines - self.inverse / 2 * (w @ g) @ (w @ g) + self.mu / 2 * x @ x)

    def proximal(self, x: Floats, gamma: float) -> Floats:
        """The proximal step."""
        shrunk = 1 + gamma * self.mu
        slope = self.weights(x / shrunk, self.inverse + gamma / shrunk) @ (self.g - self.mu * self.x)
        return np.asarray((x - gamma * slope) / shrunk)


def coordinates(certificate: dict[str, Any]) -> dict[str, Floats]:
    """The points of a certificate's worst case, in an orthonormal basis."""
    worst = certificate["worst_case"]
    length = np.sqrt([fraction(c) for c in worst["squared_lengths"]])
    return {name: np.array([fraction(c) for c in row]) * length for name, row in worst["points"].items()}


def envelope(certificate: dict[str, Any], number: int = 0) -> Envelope:
    """The worst function of a certificate."""
    worst, function = certificate["worst_case"], certificate["problem"]["functions"][number]
    points = coordinates(certificate)
    zero = np.zeros(len(worst["squared_lengths"]))

    def vector(terms: dict[str, str]) -> Floats:
        return np.asarray(sum((fraction(c) * points[name] for name, c in terms.items()), zero))

    def number_of(expression: dict[str, Any]) -> float:
        return sum(fraction(c) * fraction(worst["values"][name]) for name, c in expression.get("values", {}).items())

    rows = function["evaluations"]
    p = {key: fraction(c) for key, c in function["parameters"].items()}
    mu = -p["L"] if function["class"] == "smooth" else p.get("mu", 0.0)
    return Envelope(
        np.array([vector(row["x"]) for row in rows]),
        np.array([vector(row["g"]) for row in rows]),
        np.array([number_of(row["f"]) for row in rows]),
        mu,
        1 / (p["L"] - mu) if "L" in p else 0.0,
    )


def fraction(text: str) -> float:
    numerator, denominator = text.split("/")
    return int(numerator) / int(denominator)
