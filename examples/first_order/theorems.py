"""Twelve theorems on first-order methods: each method, its worst-case problem and its printed bound.

A method takes points and oracles, so that it runs on PEPit's points and on numbers alike. Parameters are rationals; the
distance of x_0 from a solution is at most 1, unless said otherwise.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

from PEPit import PEP
from PEPit.functions import (
    ConvexFunction,
    ConvexLipschitzFunction,
    SmoothConvexFunction,
    SmoothFunction,
    SmoothStronglyConvexFunction,
)
from PEPit.operators import MonotoneOperator, NonexpansiveOperator
from PEPit.primitive_steps import proximal_step

from marginaudit.margins.worst_case.scalar import RationalFloat

Oracle = Callable[[Any], Any]
Step = Callable[[Any, Any], Any]


def gradient_descent(x: Any, gradient: Oracle, gamma: Any, n: int) -> Any:
    """x_n of x_{t+1} = x_t - gamma f'(x_t)."""
    for _ in range(n):
        x = x - gamma * gradient(x)
    return x


def proximal_point(x: Any, proximal: Step, gamma: Any, n: int) -> Any:
    """x_n of x_{t+1} = prox(x_t, gamma)."""
    for _ in range(n):
        x = proximal(x, gamma)
    return x


def proximal_gradient(x: Any, gradient: Oracle, proximal: Step, gamma: Any, n: int) -> Any:
    """x_n of x_{t+1} = prox(x_t - gamma f'(x_t), gamma)."""
    for _ in range(n):
        x = proximal(x - gamma * gradient(x), gamma)
    return x


def nesterov(x: Any, gradient: Oracle, L: Any, n: int) -> Any:
    """x_n of x_{t+1} = y_t - f'(y_t)/L, y_{t+1} = x_{t+1} + t/(t + 3) (x_{t+1} - x_t)."""
    y = x
    for t in range(n):
        x, last = y - 1 / L * gradient(y), x
        y = x + exact(Fraction(t, t + 3)) * (x - last)
    return x


def halpern(x: Any, operator: Oracle, n: int) -> Any:
    """x_n of x_{t+1} = x_0/(t + 2) + (1 - 1/(t + 2)) A x_t."""
    start = x
    for t in range(n):
        weight = exact(Fraction(1, t + 2))
        x = weight * start + (1 - weight) * operator(x)
    return x


def krasnoselskii_mann(x: Any, operator: Oracle, gamma: Any, n: int) -> Any:
    """x_n of x_{t+1} = (1 - gamma) x_t + gamma A x_t."""
    for _ in range(n):
        x = (1 - gamma) * x + gamma * operator(x)
    return x


def douglas_rachford(w: Any, first: Step, second: Step, alpha: Any, n: int) -> Any:
    """w_n of x_t = prox_2(w_t), y_t = prox_1(2 x_t - w_t), w_{t+1} = w_t + y_t - x_t."""
    for _ in range(n):
        x = second(w, alpha)
        w = w + first(2 * x - w, alpha) - x
    return w


def exact(value: Fraction) -> RationalFloat:
    """The rational as a scalar for points of PEPit."""
    return RationalFloat(value)


def prox_of(function: Any) -> Step:
    """The proximal step of a function in a problem."""
    return lambda x, gamma: proximal_step(x, function, gamma)[0]


def start_near(pep: PEP, solution: Any, R2: Any = 1) -> Any:
    """A starting point with |x_0 - x*|^2 <= R2."""
    start = pep.set_initial_point()
    pep.set_initial_condition((start - solution) ** 2 <= R2)
    return start


def smooth_problem(p: Any, method: Callable[[Any, Oracle], Any]) -> PEP:
    """f(x_n) - f* for a smooth convex f."""
    pep = PEP()
    f = pep.declare_function(SmoothConvexFunction, L=p.L)
    solution = f.stationary_point()
    start = start_near(pep, solution)
    pep.set_performance_metric(f(method(start, f.gradient)) - f(solution))
    return pep


def gradient_descent_problem(p: Any) -> PEP:
    """f(x_n) - f* of gradient descent on a smooth convex f."""
    return smooth_problem(p, lambda x, gradient: gradient_descent(x, gradient, p.gamma, p.n))


def nesterov_problem(p: Any) -> PEP:
    """f(x_n) - f* of Nesterov's method on a smooth convex f."""
    return smooth_problem(p, lambda x, gradient: nesterov(x, gradient, p.L, p.n))


def contraction_problem(p: Any) -> PEP:
    """|x_n - x*|^2 of gradient descent on a smooth strongly convex f."""
    pep = PEP()
    f = pep.declare_function(SmoothStronglyConvexFunction, L=p.L, mu=p.mu)
    solution = f.stationary_point()
    start = start_near(pep, solution)
    pep.set_performance_metric((gradient_descent(start, f.gradient, p.gamma, p.n) - solution) ** 2)
    return pep


def proximal_gradient_problem(p: Any) -> PEP:
    """|x_n - x*|^2 of the proximal gradient method on f + h."""
    pep = PEP()
    f = pep.declare_function(SmoothStronglyConvexFunction, L=p.L, mu=p.mu)
    h = pep.declare_function(ConvexFunction)
    solution = (f + h).stationary_point()
    start = start_near(pep, solution)
    end = proximal_gradient(start, f.gradient, prox_of(h), p.gamma, p.n)
    pep.set_performance_metric((end - solution) ** 2)
    return pep


def proximal_point_problem(p: Any) -> PEP:
    """f(x_n) - f* of the proximal point method on a convex f."""
    pep = PEP()
    f = pep.declare_function(ConvexFunction)
    solution = f.stationary_point()
    start = start_near(pep, solution)
    before = proximal_point(start, prox_of(f), p.gamma, p.n - 1)
    _, _, value = proximal_step(before, f, p.gamma)
    pep.set_performance_metric(value - f(solution))
    return pep


def subgradient_problem(p: Any) -> PEP:
    """Least f(x_t) - f* of the subgradient method on a convex f of constant M; |x_0 - x*|^2 <= R2."""
    pep = PEP()
    f = pep.declare_function(ConvexLipschitzFunction, M=p.M)
    solution = f.stationary_point()
    x = start_near(pep, solution, p.R2)
    for step in range(p.n + 1):
        gradient, value = f.oracle(x)
        pep.set_performance_metric(value - f(solution))
        if step < p.n:
            x = x - p.gamma * gradient
    return pep


def residual_problem(method: Callable[[Any, Oracle], Any]) -> PEP:
    """|x_n - A x_n|^2 / 4 for a nonexpansive A."""
    pep = PEP()
    A = pep.declare_function(NonexpansiveOperator)
    solution, _, _ = A.fixed_point()
    start = start_near(pep, solution)
    end = method(start, A.gradient)
    pep.set_performance_metric((end - A.gradient(end)) ** 2 / 4)
    return pep


def halpern_problem(p: Any) -> PEP:
    """|x_n - A x_n|^2 / 4 of Halpern's iteration."""
    return residual_problem(lambda x, A: halpern(x, A, p.n))


def krasnoselskii_mann_problem(p: Any) -> PEP:
    """|x_n - A x_n|^2 / 4 of the Krasnoselskii-Mann iteration."""
    return residual_problem(lambda x, A: krasnoselskii_mann(x, A, p.gamma, p.n))


def monotone_problem(p: Any) -> PEP:
    """|x_n - x_{n-1}|^2 of the proximal point method for a monotone A."""
    pep = PEP()
    A = pep.declare_function(MonotoneOperator)
    solution = A.stationary_point()
    start = start_near(pep, solution)
    before = proximal_point(start, prox_of(A), p.alpha, p.n - 1)
    pep.set_performance_metric((proximal_step(before, A, p.alpha)[0] - before) ** 2)
    return pep


def douglas_rachford_problem(p: Any) -> PEP:
    """|w_n - w'_n|^2 of two runs of Douglas-Rachford splitting; |w_0 - w'_0| <= 1."""
    pep = PEP()
    f = pep.declare_function(SmoothStronglyConvexFunction, L=p.L, mu=p.mu)
    h = pep.declare_function(ConvexFunction)
    w, other = pep.set_initial_point(), pep.set_initial_point()
    pep.set_initial_condition((w - other) ** 2 <= 1)
    ends = [douglas_rachford(start, prox_of(f), prox_of(h), p.alpha, p.n) for start in (w, other)]
    pep.set_performance_metric((ends[0] - ends[1]) ** 2)
    return pep


def nonconvex_problem(p: Any) -> PEP:
    """Least |f'(x_t)|^2 of gradient descent on a smooth f with f(x_0) - f(x_n) <= 1."""
    pep = PEP()
    f = pep.declare_function(SmoothFunction, L=p.L)
    x = pep.set_initial_point()
    gradient, first = f.oracle(x)
    value = first
    pep.set_performance_metric(gradient**2)
    for _ in range(p.n):
        x = x - p.gamma * gradient
        gradient, value = f.oracle(x)
        pep.set_performance_metric(gradient**2)
    pep.set_initial_condition(first - value <= 1)
    return pep


@dataclass(frozen=True)
class Theorem:
    """A theorem: the worst case of ``problem`` is at most ``bound``, under ``assumption``.

    Attributes
    ----------
    quotation : PEPit's words, or those of the source
    reading : which text was read, and how
    values : values of the parameters beside n, for n
    outside : the same where the assumption fails and the bound is wrong; None if no such values are known
    """

    name: str
    source: str
    quotation: str
    reading: str
    statement: str
    formula: str
    problem: Callable[[Any], PEP]
    bound: Callable[[Any], Fraction]
    assumption: Callable[[Any], bool]
    assumed: str
    values: Callable[[int], dict[str, Fraction]]
    outside: Callable[[int], dict[str, Fraction]] | None = None

    def instance(self, n: int) -> dict[str, Any]:
        """The parameters."""
        return {"n": n, **self.values(n)}

    def control(self, n: int) -> tuple[dict[str, Any], Fraction]:
        """Parameters inside the assumption, and a bound for which the statement is wrong."""
        found = self.instance(n)
        return found, self.sharper(SimpleNamespace(**found))

    def variant(self, n: int) -> tuple[dict[str, Any], Fraction]:
        """Parameters outside the assumption, and the bound, which is wrong there."""
        if self.outside is None:
            raise ValueError(f"{self.name}: got no parameters outside its assumption, expected some")
        found = {"n": n, **self.outside(n)}
        return found, self.bound(SimpleNamespace(**found))

    def sharper(self, p: Any) -> Fraction:
        """A bound a thousandth sharper."""
        return self.bound(p) * Fraction(999, 1000)


def contraction(p: Any) -> Fraction:
    """max((1 - gamma L)^2, (1 - gamma mu)^2)^n."""
    return Fraction(max((1 - p.gamma * p.L) ** 2, (1 - p.gamma * p.mu) ** 2) ** p.n)


def short_steps(p: Any) -> bool:
    """0 < gamma <= 1/L."""
    return 0 < p.gamma <= 1 / p.L


def contracting(p: Any) -> bool:
    """0 <= gamma <= 2/L, 0 <= mu < L."""
    return 0 <= p.gamma <= 2 / p.L and 0 <= p.mu < p.L


def positive_step(p: Any) -> bool:
    """gamma > 0."""
    return bool(p.gamma > 0)


def balanced_step(p: Any) -> bool:
    """gamma = R/(M sqrt(n + 1)), for R^2 = R2."""
    return bool(p.gamma > 0 and p.gamma**2 * p.M**2 * (p.n + 1) == p.R2)


def any_operator(_: Any) -> bool:
    """No assumption beside the class."""
    return True


def middle_step(p: Any) -> bool:
    """1/2 <= gamma <= (1 + sqrt(n/(n + 1)))/2."""
    return bool(Fraction(1, 2) <= p.gamma and (2 * p.gamma - 1) ** 2 <= Fraction(p.n, p.n + 1))


def long_step(p: Any) -> bool:
    """(1 + sqrt(n/(n + 1)))/2 < gamma <= 1."""
    return bool(p.gamma <= 1 and p.gamma > Fraction(1, 2) and (2 * p.gamma - 1) ** 2 > Fraction(p.n, p.n + 1))


def splitting(p: Any) -> bool:
    """alpha > 0, 0 < mu < L."""
    return bool(p.alpha > 0 and 0 < p.mu < p.L)


def unit_step(p: Any) -> bool:
    """gamma = 1/L."""
    return bool(p.gamma == 1 / p.L)


def mean_power(n: int) -> Fraction:
    """(n/(n + 1))^n / (n + 1)."""
    return Fraction(n, n + 1) ** n / (n + 1)


PEPIT = "The words are PEPit's (0.5.1), which cites the source; the source itself was not read."

THEOREMS = (
    Theorem(
        "gradient-descent",
        "Drori, Teboulle 2014 (arXiv 1206.3209), Theorem 3.1",
        "When gamma <= 1/L, the tight .. guarantee .. [1, Theorem 3.1]: f(x_n) - f* <= L/(4nL gamma + 2) |x_0 - x*|^2",
        PEPIT,
        "Gradient descent on an L-smooth convex f: f(x_n) - f* <= L/(4 n L gamma + 2).",
        r"f(x_n)-f_\star\le\frac{L}{4nL\gamma+2}",
        gradient_descent_problem,
        lambda p: p.L / (4 * p.n * p.L * p.gamma + 2),
        short_steps,
        "0 < gamma <= 1/L",
        lambda _: {"L": Fraction(3), "gamma": Fraction(1, 3)},
        lambda _: {"L": Fraction(3), "gamma": Fraction(19, 30)},
    ),
    Theorem(
        "gradient-descent-contraction",
        "Taylor, Hendrickx, Glineur 2018 (arXiv 1705.04398), Theorem 3.1, without a nonsmooth part",
        "The tight theoretical guarantee is |x_n - y_n|^2 <= max{(1 - L gamma)^2, (1 - mu gamma)^2}^n |x_0 - y_0|^2",
        f"{PEPIT} Its two runs are one and the solution here.",
        "Gradient descent on a smooth strongly convex f: |x_n - x*|^2 <= max((1 - gamma L)^2, (1 - gamma mu)^2)^n.",
        r"\lVert x_n-x_\star\rVert^2\le\max((1-\gamma L)^2,(1-\gamma\mu)^2)^n",
        contraction_problem,
        contraction,
        contracting,
        "0 <= gamma <= 2/L",
        lambda _: {"L": Fraction(1), "mu": Fraction(1, 10), "gamma": Fraction(1)},
    ),
    Theorem(
        "proximal-gradient",
        "Taylor, Hendrickx, Glineur 2018 (arXiv 1705.04398), Theorem 3.1",
        "|x_n - x*|^2 <= max{(1 - L gamma)^2, (1 - mu gamma)^2}^n |x_0 - x*|^2 .. [1, Theorem 3.1]",
        f"{PEPIT} Of the article its abstract was read: exact rates for any step, also of the distance.",
        "Proximal gradient on f + h: |x_n - x*|^2 <= max((1 - gamma L)^2, (1 - gamma mu)^2)^n.",
        r"\lVert x_n-x_\star\rVert^2\le\max((1-\gamma L)^2,(1-\gamma\mu)^2)^n",
        proximal_gradient_problem,
        contraction,
        contracting,
        "0 <= gamma <= 2/L",
        lambda _: {"L": Fraction(1), "mu": Fraction(1, 10), "gamma": Fraction(1)},
    ),
    Theorem(
        "proximal-point",
        "Taylor, Hendrickx, Glineur 2017 (arXiv 1512.07516), Theorem 4.1",
        "The tight theoretical guarantee can be found in [1, Theorem 4.1]: f(x_n) - f* <= |x_0 - x*|^2/(4 gamma n)",
        f"{PEPIT} Of the article its abstract was read: a guarantee twice better than previously known.",
        "The proximal point method on a convex f: f(x_n) - f* <= 1/(4 gamma n).",
        r"f(x_n)-f_\star\le\frac{1}{4\gamma n}",
        proximal_point_problem,
        lambda p: 1 / (4 * p.gamma * p.n),
        positive_step,
        "gamma > 0",
        lambda _: {"gamma": Fraction(3)},
    ),
    Theorem(
        "subgradient",
        "Nesterov 2003, Introductory lectures on convex optimization, Section 3.2.3",
        "The tight bound is obtained in [1, Section 3.2.3]: min f(x_t) - f(x*) <= M/sqrt(n + 1) |x_0 - x*|",
        PEPIT,
        "The subgradient method on a convex f of constant M: min f(x_t) - f* <= M R/sqrt(n + 1), R^2 = R2.",
        r"\min_t f(x_t)-f_\star\le\frac{MR}{\sqrt{n+1}}",
        subgradient_problem,
        lambda p: p.M**2 * p.gamma,
        balanced_step,
        "gamma = R/(M sqrt(n + 1))",
        lambda n: {"M": Fraction(2), "gamma": Fraction(1, 2), "R2": Fraction(n + 1)},
        lambda n: {"M": Fraction(2), "gamma": Fraction(1, 2), "R2": Fraction(4 * n + 4)},
    ),
    Theorem(
        "nesterov",
        "Taylor, Hendrickx, Glineur 2017 (arXiv 1512.07516), Table 1",
        "a tight empirical guarantee .. [2, Table 1]: f(x_n) - f* <= 2L |x_0 - x*|^2/(n^2 + 5n + 6)",
        f"{PEPIT} Its weight (t - 1)/(t + 2) counts from t = 1; here t/(t + 3) from t = 0.",
        "Nesterov's method on an L-smooth convex f: f(x_n) - f* <= 2 L/(n^2 + 5 n + 6).",
        r"f(x_n)-f_\star\le\frac{2L}{n^2+5n+6}",
        nesterov_problem,
        lambda p: 2 * p.L / (p.n**2 + 5 * p.n + 6),
        any_operator,
        "",
        lambda _: {"L": Fraction(3)},
    ),
    Theorem(
        "halpern",
        "Lieder 2021, Optimization Letters 15(2), Theorem 2.1",
        "|x_k - T(x_k)|/2 <= |x_0 - x*|/(k + 1) .. This bound is tight.",
        "The words are the article's.",
        "Halpern's iteration for a nonexpansive A: |x_n - A x_n|^2/4 <= 1/(n + 1)^2.",
        r"\tfrac14\lVert x_n-Ax_n\rVert^2\le\frac{1}{(n+1)^2}",
        halpern_problem,
        lambda p: Fraction(1, (p.n + 1) ** 2),
        any_operator,
        "",
        lambda _: {},
    ),
    Theorem(
        "krasnoselskii-mann",
        "Lieder 2018, PhD thesis, Theorem 4.9, first case",
        "1/(n+1) (n/(n+1))^n 1/(4 gamma (1 - gamma)) if 1/2 <= gamma <= (1 + sqrt(n/(n+1)))/2",
        PEPIT,
        "Krasnoselskii-Mann for a nonexpansive A: |x_n - A x_n|^2/4 <= (n/(n + 1))^n/(n + 1)/(4 gamma (1 - gamma)).",
        r"\tfrac14\lVert x_n-Ax_n\rVert^2\le\frac{1}{n+1}\Big(\frac{n}{n+1}\Big)^n\frac{1}{4\gamma(1-\gamma)}",
        krasnoselskii_mann_problem,
        lambda p: mean_power(p.n) / (4 * p.gamma * (1 - p.gamma)),
        middle_step,
        "1/2 <= gamma <= (1 + sqrt(n/(n + 1)))/2",
        lambda _: {"gamma": Fraction(3, 5)},
    ),
    Theorem(
        "krasnoselskii-mann-long",
        "Lieder 2018, PhD thesis, Theorem 4.9, second case",
        "(gamma - 1)^(2n) if (1 + sqrt(n/(n + 1)))/2 < gamma <= 1",
        f"{PEPIT} Its code has (2 gamma - 1)^(2n), with which both cases meet: a slip of the text.",
        "Krasnoselskii-Mann with a long step: |x_n - A x_n|^2/4 <= (2 gamma - 1)^(2 n).",
        r"\tfrac14\lVert x_n-Ax_n\rVert^2\le(2\gamma-1)^{2n}",
        krasnoselskii_mann_problem,
        lambda p: (2 * p.gamma - 1) ** (2 * p.n),
        long_step,
        "(1 + sqrt(n/(n + 1)))/2 < gamma <= 1",
        lambda n: {"gamma": 1 - Fraction(1, 8 * n + 8)},
        lambda _: {"gamma": Fraction(3, 5)},
    ),
    Theorem(
        "monotone-proximal-point",
        "Gu, Yang 2020, SIAM Journal on Optimization 30(3), Section 4",
        "A tight theoretical guarantee .. [1, section 4]: |x_n - x_(n-1)|^2 <= (1 - 1/n)^(n-1)/n |x_0 - x*|^2",
        PEPIT,
        "The proximal point method for a monotone A: |x_n - x_{n-1}|^2 <= (1 - 1/n)^(n-1)/n.",
        r"\lVert x_n-x_{n-1}\rVert^2\le\frac1n\Big(1-\frac1n\Big)^{n-1}",
        monotone_problem,
        lambda p: (1 - Fraction(1, p.n)) ** (p.n - 1) / p.n,
        any_operator,
        "",
        lambda _: {"alpha": Fraction(2)},
    ),
    Theorem(
        "douglas-rachford",
        "Giselsson, Boyd 2016 (arXiv 1410.8479), Theorem 2",
        "The tight guarantee .. [2, Theorem 2]: max(1/(1+mu alpha), alpha L/(1+L alpha))^(2n) |w_0 - w_0'|^2",
        f"{PEPIT} Of the article its abstract was read: the rates are tight for all feasible parameters.",
        "Douglas-Rachford splitting: |w_n - w'_n|^2 <= max(1/(1 + mu alpha), alpha L/(1 + alpha L))^(2 n).",
        r"\lVert w_n-w_n'\rVert^2\le\Big(\max\big(\frac{1}{1+\mu\alpha},\frac{\alpha L}{1+\alpha L}\big)\Big)^{2n}",
        douglas_rachford_problem,
        lambda p: max(1 / (1 + p.mu * p.alpha), p.alpha * p.L / (1 + p.alpha * p.L)) ** (2 * p.n),
        splitting,
        "alpha > 0, 0 < mu < L",
        lambda _: {"L": Fraction(1), "mu": Fraction(1, 10), "alpha": Fraction(3)},
    ),
    Theorem(
        "nonconvex-gradient-descent",
        "Abbaszadehpeivasti, de Klerk, Zamani 2021 (arXiv 2104.05468), for gamma = 1/L",
        "When gamma <= 1/L, an empirically tight .. guarantee is min |f'(x_t)|^2 <= 4/3 L/n (f(x_0) - f(x_n))",
        f"{PEPIT} For gamma = 1/L, its own choice; for a shorter step the bound fails, a slip of its text.",
        "Gradient descent on an L-smooth f: min |f'(x_t)|^2 <= 4 L/(3 n) (f(x_0) - f(x_n)).",
        r"\min_t\lVert f'(x_t)\rVert^2\le\frac{4L}{3n}\big(f(x_0)-f(x_n)\big)",
        nonconvex_problem,
        lambda p: 4 * p.L / (3 * p.n),
        unit_step,
        "gamma = 1/L",
        lambda _: {"L": Fraction(1), "gamma": Fraction(1)},
        lambda _: {"L": Fraction(1), "gamma": Fraction(9, 5)},
    ),
)
