"""Heavy ball with explicit constants: Ghadimi, Feyzmahdavian, Johansson (arXiv 1412.7457), and rates on quadratics.

The abstract was read in the authors' words, the formulas of the theorem as the course notes "Heavy Ball Method" of
github.com/MerkulovDaniil/optim copy them; the rate on quadratics is the notes' own. Left out, as their theorems could
not be read: warm-up (arXiv 2510.03164) and momentum under drift (arXiv 2601.12238).

Usage: marginaudit audit --claims examples/light/heavy_ball.py
       marginaudit hunt heavy-ball.quadratic --claims examples/light/heavy_ball.py
"""

from dataclasses import replace
from fractions import Fraction
from typing import Any

from PEPit import PEP
from PEPit.functions import SmoothConvexFunction

from marginaudit import (
    Bounded,
    Claim,
    Evidence,
    Series,
    Severity,
    WorstCase,
    floats,
    integers,
    quoted,
    rederived,
    refuted,
)

INSTANCES = {
    "short": {"T": 2, "L": Fraction(1), "beta": Fraction(1, 2), "alpha": Fraction(1, 4)},
    "at-the-turn": {"T": 3, "L": Fraction(2), "beta": Fraction(1, 2), "alpha": Fraction(1, 4)},
    "gradient-descent": {"T": 3, "L": Fraction(1), "beta": Fraction(0), "alpha": Fraction(1)},
    "long": {"T": 2, "L": Fraction(1), "beta": Fraction(1, 4), "alpha": Fraction(5, 4)},
    "longest": {"T": 1, "L": Fraction(1), "beta": Fraction(1, 2), "alpha": Fraction(99, 100)},
    "no-step": {"T": 0, "L": Fraction(1), "beta": Fraction(1, 10), "alpha": Fraction(17, 10)},
    "beyond": {"T": 4, "L": Fraction(1), "beta": Fraction(0), "alpha": Fraction(3)},
    "two-modes": {"T": 12, "r": Fraction(2), "share": Fraction(0), "x": Fraction(1), "y": Fraction(1)},
    "three-modes": {"T": 20, "r": Fraction(3), "share": Fraction(1, 2), "x": Fraction(3), "y": Fraction(-2)},
    "steepest": {"T": 20, "r": Fraction(10), "share": Fraction(1), "x": Fraction(0), "y": Fraction(1)},
    "round": {"T": 8, "r": Fraction(1), "share": Fraction(0), "x": Fraction(1), "y": Fraction(2)},
}


def averaged(p: Any) -> PEP:
    """f(mean of x_0, .., x_T) - f* of heavy ball from x_{-1} = x_0, |x_0 - x*| <= 1, on a smooth convex f."""
    pep = PEP()
    f = pep.declare_function(SmoothConvexFunction, L=p.L)
    solution = f.stationary_point()
    x = before = total = pep.set_initial_point()
    pep.set_initial_condition((x - solution) ** 2 <= 1)
    for _ in range(p.T):
        x, before = x - p.alpha * f.gradient(x) + p.beta * (x - before), x
        total = total + x
    share = p.L / (p.L * (p.T + 1))  # a rational as the parameters are, and not a float
    pep.set_performance_metric(f(share * total) - f(solution))
    return pep


def short_bound(p: Any) -> Fraction:
    """The first case of the bound, for |x_0 - x*| = 1."""
    return Fraction(p.L * p.beta / (1 - p.beta) + (1 - p.beta) / p.alpha) / (2 * (p.T + 1))


def long_bound(p: Any) -> Fraction:
    """The second case of the bound, for |x_0 - x*| = 1."""
    room = 2 * (1 - p.beta) - p.alpha * p.L
    return Fraction(p.L * p.beta + (1 - p.beta) ** 2 / p.alpha) / (2 * (p.T + 1) * room)


def of_smooth(p: Any) -> bool:
    """An L-smooth convex f."""
    return "alpha" in p


def stable(p: Any) -> bool:
    """0 <= beta < 1, 0 < alpha < 2 (1 - beta)/L."""
    return bool(0 <= p.beta < 1 and 0 < p.alpha * p.L < 2 * (1 - p.beta))


def long_step(p: Any) -> bool:
    """alpha > (1 - beta)/L."""
    return bool(p.alpha * p.L > 1 - p.beta)


def of_quadratic(p: Any) -> bool:
    """A quadratic f with mu = 1, L = r^2."""
    return "r" in p


def rate(p: Any) -> Fraction:
    """(sqrt kappa - 1)/(sqrt kappa + 1), for kappa = r^2."""
    return Fraction((p.r - 1) / (p.r + 1))


def distances(p: Any) -> Series:
    """|x_k - x*|^2/|x_0 - x*|^2 for k = 1, .., T, from x_0 = (x, 1, y); curvatures mu, one between, and L."""
    L = p.r**2
    curvatures = (Fraction(1), 1 + p.share * (L - 1), L)
    alpha, beta = 4 / (p.r + 1) ** 2, rate(p) ** 2
    now = before = (p.x, Fraction(1), p.y)
    start, found = sum(v**2 for v in now), []
    for _ in range(p.T):
        steps = zip(curvatures, now, before, strict=True)
        now, before = tuple((1 - alpha * c) * v + beta * (v - u) for c, v, u in steps), now
        found.append(sum(v**2 for v in now) / start)
    return Series(found, 0, range(1, p.T + 1), evidence=Evidence.EXACT)


def times(factor: Any) -> Any:
    """Upper bound (factor(p, k) rate^k)^2, by p and the steps."""
    return lambda p, steps: [(factor(p, k) * rate(p) ** k) ** 2 for k in map(int, steps)]


CESARO = Claim(
    id="heavy-ball.cesaro",
    source="arXiv 1412.7457, the theorem on smooth convex functions",
    theorem="Theorem 1",
    statement="Heavy ball on an L-smooth convex f, with x the mean of x_0, .., x_T: f(x) - f* <= R^2/(2 (T + 1)) "
    "(L beta/(1 - beta) + (1 - beta)/alpha) for alpha <= (1 - beta)/L, R^2/(2 (T + 1) (2 (1 - beta) - alpha L)) "
    "(L beta + (1 - beta)^2/alpha) from there to 2 (1 - beta)/L, where R = |x_0 - x*|.",
    formula=r"f(\bar x_T)-f^\star\le\begin{cases}\frac{\lVert x_0-x^\star\rVert^2}{2(T+1)}\big(\frac{L\beta}{1-\beta}"
    r"+\frac{1-\beta}{\alpha}\big)&\alpha\le\frac{1-\beta}{L}\\\frac{\lVert x_0-x^\star\rVert^2}"
    r"{2(T+1)(2(1-\beta)-\alpha L)}\big(L\beta+\frac{(1-\beta)^2}{\alpha}\big)&\alpha\ge\frac{1-\beta}{L}\end{cases}",
    assumptions=(of_smooth, stable),
    judgement=WorstCase(averaged, lambda p: long_bound(p) if long_step(p) else short_bound(p)),
    box={"T": integers(0, 2), "L": floats(1, 4), "beta": floats(0, Fraction(9, 10)), "alpha": floats(0, 2)},
    source_words=quoted(
        "abstract",
        "the Cesaro average of the iterates converges to the optimum at a rate of O(1/k)",
        "The formulas are as the course notes copy them. x_{-1} = x_0, as the notes' iteration starts.",
    ),
)

SHORT_ONLY = replace(
    CESARO,
    id="heavy-ball.cesaro.control",
    statement="The first case of the bound for every alpha < 2 (1 - beta)/L, which is false.",
    formula="",
    assumptions=(of_smooth, stable, long_step),
    judgement=WorstCase(averaged, short_bound),
    control_of="heavy-ball.cesaro",
)

NOTES = "github.com/MerkulovDaniil/optim, docs/methods/fom/heavy_ball.md"

QUADRATIC = Claim(
    id="heavy-ball.quadratic",
    source=NOTES,
    theorem="Heavy ball quadratic convergence",
    statement="Heavy ball on a quadratic with alpha = 4/(sqrt L + sqrt mu)^2, beta = rho^2: "
    "|x_k - x*| <= rho^k |x_0 - x*|, where rho = (sqrt kappa - 1)/(sqrt kappa + 1). Both sides are squared here.",
    formula=r"\lVert x_k-x^*\rVert_2\le\Big(\frac{\sqrt\kappa-1}{\sqrt\kappa+1}\Big)^k\lVert x_0-x^*\rVert",
    assumptions=(of_quadratic,),
    judgement=Bounded(distances, upper=times(lambda p, k: 1)),
    standing=refuted(
        None,
        severity=Severity.SLIP,
        wrong="The rate is asymptotic, and a bound for every k has a factor linear in k.",
        weakest="the first step that the answer names",
    ),
    instead="the bound with the factor $1+(1+\\rho)k$, attained in the steepest direction: there the "
    "iteration's matrix has one eigenvector, of the double eigenvalue $-\\rho$, and $x_k=(1+(1+\\rho)k)(-\\rho)^kx_0$.",
    defence="The notes derive a spectral radius, so the rate is asymptotic; they name no x_1, and from x_1 - x* = "
    "((1 + beta) I - alpha A)(x_0 - x*)/2, which needs x*, the printed bound is true.",
    box={
        "T": integers(1, 6),
        "r": floats(1, 10),
        "share": floats(0, 1),
        "x": floats(-2, 2),
        "y": floats(-2, 2),
    },
    source_words=quoted(
        f"{NOTES}, section Heavy ball quadratic convergence",
        "converges linearly: |x_k - x*|_2 <= ((sqrt kappa - 1)/(sqrt kappa + 1))^k |x_0 - x*|",
        "x_{-1} = x_0, that is x_1 = x_0 - alpha f'(x_0), the usual start; the notes leave it open.",
    ),
)

REDERIVED = replace(
    QUADRATIC,
    id="heavy-ball.quadratic.rederived",
    statement="The same with the factor 1 + (1 + rho) k: |x_k - x*| <= (1 + (1 + rho) k) rho^k |x_0 - x*|.",
    formula=r"\lVert x_k-x^*\rVert_2\le(1+(1+\rho)k)\rho^k\lVert x_0-x^*\rVert",
    judgement=Bounded(distances, upper=times(lambda p, k: 1 + (1 + rate(p)) * k)),
    instead="",
    defence="",
    source_words=rederived("heavy-ball.quadratic", mended="with a factor linear in k"),
)

TOO_FEW = replace(
    REDERIVED,
    id="heavy-ball.quadratic.control",
    statement="The same with the factor 1 + k, which is false.",
    formula="",
    judgement=Bounded(distances, upper=times(lambda p, k: 1 + k)),
    control_of="heavy-ball.quadratic.rederived",
)

CLAIMS = (CESARO, SHORT_ONLY, QUADRATIC, REDERIVED, TOO_FEW)
