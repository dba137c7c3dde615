"""A bound in probability: Doerr and Zheng, Sharp Bounds for Genetic Drift (arXiv 1910.14389), Theorems 2 and 3.

Read in a conversion of its PDF. The frequency p_t of a neutral bit is a martingale from 1/2. In the compact genetic
algorithm (cGA) it moves by 1/K up or down, each with the probability p_t (1 - p_t); in PBIL it moves to
(1 - rho) p_t + rho times the mean of mu draws of probability p_t.

Usage: marginaudit audit --claims examples/light/genetic_drift.py
       marginaudit hunt genetic-drift.hitting-time --claims examples/light/genetic_drift.py
"""

from dataclasses import replace
from fractions import Fraction
from math import exp
from typing import Any

import numpy as np

from marginaudit import Bounded, Claim, InExpectation, WithProbability, instance, integers, quoted

SOURCE = "arXiv 1910.14389"

INSTANCES = {
    "cga-short": {"K": 20, "T": 25, "gamma": Fraction(1, 4)},
    "cga": {"K": 40, "T": 100, "gamma": Fraction(3, 8)},
    "cga-long": {"K": 40, "T": 400, "gamma": Fraction(1, 2)},
    "pbil": {"rho": Fraction(1, 4), "mu": 20, "T": 40, "gamma": Fraction(3, 8)},
    "umda": {"rho": Fraction(1), "mu": 50, "T": 5, "gamma": Fraction(2, 5)},
}


@instance
def pair() -> dict[str, Any]:
    """The smallest cGA: two steps from 1/2 to an end."""
    return {"K": 4, "T": 2, "gamma": Fraction(1, 2)}


def cga(p: Any, rng: np.random.Generator, n: int) -> Any:
    """|p_t - 1/2| of n runs for t = 1, .., T; K p_t is a whole number."""
    at, found = np.full(n, p.K // 2), np.empty((n, p.T))
    for t in range(p.T):
        first, second = rng.random((2, n)) < at / p.K
        at = at + first.astype(int) - second
        found[:, t] = abs(at - p.K // 2) / p.K
    return found


def pbil(p: Any, rng: np.random.Generator, n: int) -> Any:
    """|p_t - 1/2| of n runs for t = 1, .., T."""
    at, found = np.full(n, 0.5), np.empty((n, p.T))
    for t in range(p.T):
        at = np.clip((1 - float(p.rho)) * at + float(p.rho) * rng.binomial(p.mu, at) / p.mu, 0, 1)
        found[:, t] = abs(at - 0.5)
    return found


def inside(sample: Any) -> Any:
    """Whether |p_t - 1/2| < gamma, by run and step; 1e-9 is beyond the rounding of p_t."""
    return lambda p, rng, n: sample(p, rng, n) < float(p.gamma) - 1e-9


def squared(p: Any, rng: np.random.Generator, n: int) -> Any:
    """(p_T - 1/2)^2 of n runs of the cGA."""
    return cga(p, rng, n)[:, -1] ** 2


def hitting_time(p: Any) -> Fraction:
    """E[T] of the cGA, exactly: the second differences of the expected times are -K^2/(k (K - k)) at p_t = k/K.

    By symmetry and the zero ends it is the sum over k of min(k, K - k)/2 times these.
    """
    K = p.K
    return sum((Fraction(min(k, K - k) * K**2, 2 * k * (K - k)) for k in range(1, K)), Fraction(0))


def of_cga(p: Any) -> bool:
    """A cGA with an even K, so that 1/2 is a frequency."""
    return "K" in p and p.K > 0 and p.K % 2 == 0


def of_pbil(p: Any) -> bool:
    """PBIL with 0 < rho <= 1."""
    return "rho" in p and 0 < p.rho <= 1


def at_least(factor: int = 1) -> Any:
    """1 - 2 exp(-factor gamma^2 K^2/(2 T))."""
    return lambda p: 1 - 2 * exp(-factor * p.gamma**2 * p.K**2 / (2 * p.T))


CGA = Claim(
    id="genetic-drift.cga",
    source=SOURCE,
    theorem="Theorem 2(2)",
    statement="In the cGA |p_t - 1/2| < gamma for all t <= T at once, with probability at least "
    "1 - 2 exp(-gamma^2 K^2/(2 T)).",
    formula=r"\Pr\Big[\forall t\in[0..T]:|p_t-\tfrac12|<\gamma\Big]\ge1-2\exp\Big(-\frac{\gamma^2K^2}{2T}\Big)",
    assumptions=(of_cga,),
    judgement=WithProbability(inside(cga), at_least()),
    source_words=quoted(
        "Theorem 2",
        "If the EDA is the cGA with hypothetical population size K, then for all gamma > 0 and T we have",
        "K is even, by the paper's well-behaved frequency assumption.",
    ),
)

NARROWER = replace(
    CGA,
    id="genetic-drift.cga.control",
    statement="The same with four times the exponent, which is false.",
    formula="",
    judgement=WithProbability(inside(cga), at_least(4)),
    control_of="genetic-drift.cga",
)

PBIL = replace(
    CGA,
    id="genetic-drift.pbil",
    theorem="Theorem 2(1)",
    statement="In PBIL |p_t - 1/2| < gamma for all t <= T at once, with probability at least "
    "1 - 2 exp(-gamma^2 mu/(2 rho^2 T)).",
    formula=r"\Pr\Big[\forall t\in[0..T]:|p_t-\tfrac12|<\gamma\Big]\ge1-2\exp\Big(-\frac{\gamma^2\mu}{2\rho^2T}\Big)",
    assumptions=(of_pbil,),
    judgement=WithProbability(inside(pbil), lambda p: 1 - 2 * exp(-(p.gamma**2) * p.mu / (2 * p.rho**2 * p.T))),
    source_words=quoted(
        "Theorem 2", "If the EDA is PBIL with learning rate rho and selection size mu, then for all gamma > 0 and T"
    ),
)

VARIANCE = Claim(
    id="genetic-drift.variance",
    source=f"{SOURCE}, Lemma 2 summed over T steps; the sum is not in print",
    theorem="Lemma 2",
    statement="In the cGA E (p_T - 1/2)^2 <= T/(2 K^2), as each step has the variance 2 p (1 - p)/K^2 <= 1/(2 K^2).",
    formula=r"\mathbb{E}\big(p_T-\tfrac12\big)^2\le\frac{T}{2K^2}",
    judgement=InExpectation(squared, upper=lambda p, _: p.T / (2 * p.K**2), within=lambda _: (0, 0.25)),
    assumptions=(of_cga,),
)

HITTING = Claim(
    id="genetic-drift.hitting-time",
    source=SOURCE,
    theorem="Theorem 3(3)",
    statement="In the cGA the expected first time at which p_t is 0 or 1 is at most 4 K^2.",
    formula=r"\mathbb{E}[T]\le4K^2",
    assumptions=(of_cga,),
    judgement=Bounded(hitting_time, upper=lambda p, _: 4 * p.K**2),
    box={"K": integers(2, 200)},
    source_words=quoted(
        "proof of Theorem 3",
        "the expected time for the Y-process to reach zero is at most Y_0/[sqrt 2/(8 K^2)] = 4 K^2",
    ),
)

CLAIMS = (CGA, NARROWER, PBIL, VARIANCE, HITTING)
