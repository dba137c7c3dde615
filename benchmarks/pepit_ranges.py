"""Ranges of parameters that the docstrings of PEPit's examples state, and whether the example's own are inside.

Usage: python benchmarks/pepit_ranges.py
A range is Python on the example's arguments, next to the docstring's words for it.
"""

import inspect
import math
from typing import Any

from pepit_source import compiled, examples, loaded

STEP, UNIT = "gamma <= 1/L", "gamma == 1/L"

AT_MOST, ZERO_MU = r"When :math:`\\gamma \\leqslant \\frac{1}{L}`", r":math:`\\mu=0`"

EQUAL = r"when :math:`\\gamma=\\frac{1}{L}`"

RANGES: dict[str, tuple[str, str]] = {
    "composite_convex_minimization.accelerated_douglas_rachford_splitting": (
        "alpha < 1/L",
        r"and :math:`\\alpha < \\frac{1}{L}`",
    ),
    "composite_convex_minimization.accelerated_proximal_gradient_simplified": ("mu == 0", f"for {ZERO_MU}"),
    "composite_convex_minimization.douglas_rachford_splitting": (
        "0 <= n <= 10 and alpha == theta == L == 1",
        r"for when :math:`0\\leqslant n \\leqslant 10` in the case where :math:`\\alpha=\\theta=L=1`",
    ),
    "composite_convex_minimization.douglas_rachford_splitting_contraction": (
        "theta == 1",
        r"for when :math:`\\theta=1`",
    ),
    "composite_convex_minimization.frank_wolfe": ("R == inf", "when R = infinity"),
    "composite_convex_minimization.no_lips_in_bregman_divergence": (
        STEP,
        r"for any :math:`\\gamma \\leq \\frac{1}{L}`",
    ),
    "composite_convex_minimization.no_lips_in_function_value": (STEP, r"for any :math:`\\gamma \\leq \\frac{1}{L}`"),
    "fixed_point_problems.krasnoselskii_mann_constant_step_sizes": (
        "1/2 <= gamma <= 1",
        "step-size between 1/2 and 1",
    ),
    "inexact_proximal_methods.accelerated_inexact_forward_backward": (
        "0 < zeta < 1",
        r"some parameter :math:`\\zeta\\in (0,1)`",
    ),
    "inexact_proximal_methods.relatively_inexact_proximal_point_algorithm": (
        "sigma >= 0",
        r"some parameter :math:`\\sigma\\geqslant 0`",
    ),
    "low_dimensional_worst_cases_scenarios.gradient_descent": (STEP, AT_MOST),
    "low_dimensional_worst_cases_scenarios.inexact_gradient": (
        "0 <= epsilon <= 1",
        r"with :math:`0 \\leqslant \\varepsilon \\leqslant 1`",
    ),
    "nonconvex_optimization.gradient_descent": (STEP, AT_MOST),
    "nonconvex_optimization.no_lips_1": ("gamma == 1/(2*L)", "step-size (equal to 1/(2*L) for guarantee)"),
    "nonconvex_optimization.no_lips_2": (
        "gamma == 1/(2*L)",
        r"step-size (equal to :math:`\\frac{1}{2L}` for guarantee)",
    ),
    "potential_functions.accelerated_gradient_method": (UNIT, EQUAL),
    "potential_functions.gradient_descent_lyapunov_1": (UNIT, EQUAL),
    "potential_functions.gradient_descent_lyapunov_2": (UNIT, EQUAL),
    "stochastic_and_randomized_convex_minimization.randomized_coordinate_descent_smooth_convex": (STEP, AT_MOST),
    "stochastic_and_randomized_convex_minimization.randomized_coordinate_descent_smooth_strongly_convex": (
        STEP,
        AT_MOST,
    ),
    "unconstrained_convex_minimization.accelerated_gradient_convex_simplified": ("mu == 0", f"When {ZERO_MU}"),
    "unconstrained_convex_minimization.accelerated_proximal_point": (
        "A0 > 0",
        ":math:`A_0` is a positive number",
    ),
    "unconstrained_convex_minimization.gradient_descent": (STEP, AT_MOST),
    "unconstrained_convex_minimization.gradient_descent_lc": (
        'gamma <= 2/(Lg*LM**2) and 0 <= mug <= Lg and 0 <= muM <= LM and (typeM == "sym" or muM == 0)',
        r"For general and skew-symmetric matrices, :math:`\\mu_M` must be set to 0",
    ),
    "unconstrained_convex_minimization.gradient_descent_qg_convex": (
        "gamma < 1/L",
        r"When :math:`\\gamma < \\frac{1}{L}`",
    ),
    "unconstrained_convex_minimization.gradient_descent_quadratics": (
        "gamma <= 2/L and 0 <= mu <= L",
        r"When :math:`\\gamma \\leqslant \\frac{2}{L}` and :math:`0 \\leqslant \\mu \\leqslant L`",
    ),
    "unconstrained_convex_minimization.heavy_ball_momentum": (
        "0 < alpha <= 1/L",
        r"\\alpha \\in (0, \\frac{1}{L}]",
    ),
    "unconstrained_convex_minimization.inexact_accelerated_gradient": (
        "epsilon == 0",
        r"When :math:`\\varepsilon=0`",
    ),
    "unconstrained_convex_minimization.inexact_gradient_exact_line_search": (
        "0 <= epsilon < 1",
        r"with :math:`0 \\leqslant \\varepsilon < 1`",
    ),
}
"""By example, where its docstring states a range."""


def against_the_range(name: str) -> str:
    """Cell of the table: whether the example's arguments are inside its stated range, and the range."""
    short = name.removeprefix("PEPit.examples.")
    if short not in RANGES:
        return "none stated"
    condition, _ = RANGES[short]
    namespace = arguments(name) | {"inf": math.inf}
    exec(compiled(f"inside = {condition}", short), namespace)
    return f"{'inside' if namespace['inside'] else 'outside'}: {condition.replace('==', '=').replace('**', '^')}"


def arguments(name: str) -> dict[str, Any]:
    """Arguments of the docstring's call, by name; nothing is solved."""
    function, namespace, lines = loaded(name)
    found: dict[str, Any] = {}

    def called(*given: Any, **named: Any) -> tuple[None, None]:
        bound = inspect.signature(function).bind(*given, **named)
        bound.apply_defaults()
        found.update(bound.arguments)
        return None, None

    namespace[function.__name__] = called
    for line in lines:
        exec(line, namespace)
        if found:
            break
    return {**namespace, **found}


if __name__ == "__main__":
    for example in examples():
        print(f"{example.removeprefix('PEPit.examples.')}: {against_the_range(example)}")
