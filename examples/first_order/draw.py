"""Draw the worst function of gradient descent, with the run that attains the bound.

Usage: python examples/first_order/draw.py [THEOREM] [--steps 3] [--out worst.png]
For theorems with a worst function of one variable: gradient-descent, gradient-descent-contraction, nesterov,
proximal-point.
"""

import argparse
import sys
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np

from marginaudit.margins.worst_case.from_pepit import from_pepit
from marginaudit.margins.worst_case.interpolant import interpolant
from marginaudit.margins.worst_case.scalar import exactly
from marginaudit.margins.worst_case.solve import worst_case
from marginaudit.margins.worst_case.verify import read_problem

sys.path.insert(0, str(Path(__file__).parent))
from theorems import THEOREMS

POINTS = 400


def drawn(name: str, n: int) -> plt.Figure:
    """The worst function of a theorem, and the points where it is evaluated."""
    theorem = next(theorem for theorem in THEOREMS if theorem.name == name)
    p = SimpleNamespace(**theorem.instance(n))
    found = worst_case(from_pepit(theorem.problem(exactly(p))), theorem.bound(p))
    if found.function is None:
        raise ValueError(f"got no worst function of {name}, expected one")
    function = read_problem(found.problem, "").functions[0]
    f = interpolant(function, found.function)
    unit = float(f.length) ** 0.5
    x = [
        sum((c * found.function.points[point][0] for point, c in e.x.items()), Fraction(0))
        for e in function.evaluations
    ]
    values = [float(f.value(point)) for point in x]
    width = float(max(x) - min(x)) or 1.0
    shown = [Fraction(point) for point in np.linspace(float(min(x)) - width / 4, float(max(x)) + width / 4, POINTS)]
    figure, axes = plt.subplots(layout="constrained")
    axes.plot([float(point) * unit for point in shown], [float(f.value(point)) for point in shown])
    axes.plot([float(point) * unit for point in x], values, "o")
    for k, (point, value) in enumerate(zip(x, values, strict=True)):
        label = "$x_\\star$" if function.is_minimum(k) else f"$x_{k - 1}$"
        axes.annotate(label, (float(point) * unit, value), textcoords="offset points", xytext=(4, 6))
    axes.set(xlabel="$x$", ylabel="$f(x)$", title=f"{name}, n = {n}: worst case {found.lower}")
    return figure


def main() -> None:
    """Draw, and write the figure."""
    parser = argparse.ArgumentParser(description="Draw a worst function of one variable.")
    parser.add_argument("theorem", nargs="?", default="gradient-descent")
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--out", default="worst.png")
    given = parser.parse_args()
    drawn(given.theorem, given.steps).savefig(given.out, dpi=150)


if __name__ == "__main__":
    main()
