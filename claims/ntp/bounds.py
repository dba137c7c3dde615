"""Bounds on stage 2 from `sharp.lemma6` and `sharp.theorem1`, proved in docs/proofs.md.

At any step and any T, in float64; in ball arithmetic, how uneven frequencies may be until a printed bound fails; and
the steps from which t is at least a multiple of a power of log t.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from marginaudit.claims.judgements.bounded import Formula, InBalls, Steps
from marginaudit.claims.ntp.run import Run
from marginaudit.margins.ntp import Exact
from marginaudit.orders.ntp.assumptions import ASSUMPTION_1, ASSUMPTION_2, ASSUMPTION_3
from marginaudit.training.ntp.model.reference import ball

if TYPE_CHECKING:
    import flint


ASSUMPTIONS = ASSUMPTION_1 + ASSUMPTION_2 + ASSUMPTION_3


@np.errstate(over="ignore")  # for short embeddings
def direction_bound(run: Run, t: Steps) -> Steps:
    """The bound of `sharp.theorem1` on 1 - cos(W_kq^(t), W*_kq); it falls with t."""
    data, norm, eta = run.dataset, np.float64(run.norm_kq), run.eta
    logs = np.log(2.0) + 3 * np.log(data.L_max) + math.log(sum(data.counts)) - math.log(min(data.counts))
    whole = (2 * norm**3 * logs + eta * norm**2) * (1 + np.log(t)) + np.sqrt(2) * eta * norm
    return np.asarray(whole / (t * eta))


def _proved(run: Run) -> bool:
    return all(run.assumption(name).holds for name in ASSUMPTIONS)


def direction(run: Run, t: Steps) -> Steps:
    """Upper bound on 1 - cos(W_kq^(t), W*_kq), by `sharp.theorem1`; inf if one of its assumptions fails."""
    return direction_bound(run, t) if _proved(run) else np.full_like(t, np.inf)


def norm_bound(run: Run, t: Steps) -> Steps:
    """Lower bound of `sharp.lemma6` on ||W_kq^(t)||."""
    return np.asarray(t * run.eta / (np.sqrt(2) * run.norm_kq))


def least_norm(run: Run, t: Steps) -> Steps:
    """Lower bound on ||W_kq^(t)||, by `sharp.lemma6`; 0 if one of its assumptions fails."""
    return np.asarray(norm_bound(run, t) * _proved(run))


def largest_norm(run: Run, t: Steps) -> Steps:
    """t eta, an upper bound on the norm of a sum of t steps of length eta."""
    return np.asarray(t * run.eta)


def margin(run: Run, t: Steps) -> Steps:
    """Lower bound on every (o - x)^T W_kq^(t) q, o the optimal token and x another token of a sample.

    The direction is within sqrt(2 b) of What, b the bound on 1 - cos, and ||o - x|| = sqrt 2; so the margin is
    at least ||W|| (1/||W*|| - 2 sqrt b), with ||W|| >= t eta/(sqrt 2 ||W*||) (`sharp.lemma6`). Where b leaves
    less than half of 1/||W*||, and where an assumption of the two statements fails, -inf: no guarantee.
    """
    if not _proved(run):
        return np.full_like(t, -np.inf)
    norm = run.norm_kq
    near = 2 * np.sqrt(direction_bound(run, t)) <= 1 / (2 * norm)
    return np.asarray(np.where(near, t * run.eta / (2 * np.sqrt(2) * norm**2), -np.inf))


def log_other_weight(run: Run, t: Steps) -> Steps:
    """An upper bound on log(1 - summed optimal weight): at most L_max - 1 other positions, each exp(-margin)."""
    with np.errstate(divide="ignore"):
        odds = np.log(run.dataset.L_max - 1) - margin(run, t)
    return np.asarray(-np.logaddexp(0, -odds))


def log_loss(run: Run, t: Steps) -> Steps:
    """An upper bound on log Loss: (V - 1) exp(-A (2 weight - 1)), A = T eta0/||W*_ov||."""
    A = run.config.steps1 * run.eta0 / run.norm_ov
    weight = -np.expm1(log_other_weight(run, t))
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(run.dataset.V - 1) - A * (2 * weight - 1))


BITS = 128

NOT_EXACT = "||W*_kq|| is not known exactly"

UNEVEN = (
    "V = 2, n(a) = b, n(b) = a, samples [a] -> b and [a, b] -> b of frequency 1/2 - eps each, [b] -> a and [b, a] -> a "
    "of frequency eps each, eps small enough: about exp(-{least} - A) at the default step size, A the margins of W_ov"
)
"""Data with frequencies beyond float64."""


def even_enough(factor: int, corollary: str) -> str:
    """Condition on the evenness of frequencies, in words."""
    return f"log(2 L_max^3/pi_min) <= {factor} N L_max^4 ({corollary} of docs/proofs.md)"


@dataclass(frozen=True)
class Sizes:
    """The numbers in the bounds of stage 2: w = ||W*_kq||, rarity = log(2 L_max^3/pi_min)."""

    N: int
    L: int
    w: "flint.arb"
    eta: "flint.arb"
    rarity: "flint.arb"

    def sharp(self, log_t: "flint.arb") -> "flint.arb":
        """The bound of `sharp.theorem1`, times t eta."""
        w = self.w
        return (2 * w**3 * self.rarity + self.eta * w**2) * (1 + log_t) + root_two() * self.eta * w

    def printed(self, log_t: "flint.arb") -> "flint.arb":
        """The bound of `ntp.theorem1.direction`, times t eta."""
        return 54 * self.N * self.L**4 * self.w**4 * log_t**2

    def threshold(self, factor: int) -> "flint.arb":
        """The factor of log^2 t in Theorem 2's threshold for t, ``factor`` N L_max^4 ||W*_kq||^6/eta."""
        return factor * self.N * self.L**4 * self.w**6 / self.eta

    def sharp_direction(self, t: "flint.arb") -> "flint.arb":
        """The bound of `sharp.theorem1`."""
        return self.sharp(t.log()) / (t * self.eta)

    def printed_direction(self, t: "flint.arb") -> "flint.arb":
        """The bound of `ntp.theorem1.direction`."""
        return self.printed(t.log()) / (t * self.eta)

    def printed_norm(self, t: "flint.arb") -> "flint.arb":
        """Lower bound of `ntp.lemma6` on ||W_kq^(t)||."""
        return t * self.eta / (2 * self.L * self.w)

    def sharp_norm(self, t: "flint.arb") -> "flint.arb":
        """The bound of `sharp.lemma6`."""
        return t * self.eta / (root_two() * self.w)

    def largest_norm(self, t: "flint.arb") -> "flint.arb":
        """t eta."""
        return t * self.eta

    def log_other_weight(self, t: "flint.arb") -> "flint.arb":
        """The bound of `ntp.theorem2.weight` on log(1 - summed optimal weight)."""
        import flint

        leading = flint.arb(self.L).log() - t * self.eta / (4 * self.L * self.w**2)
        return leading - leading.exp().log1p()


def root_two() -> "flint.arb":
    """The square root of 2 to the precision of the context."""
    import flint

    return flint.arb(2).sqrt()


def sizes(run: Run) -> Sizes | None:
    """Sizes of a run; None unless ||W*_kq||^2 is known as a rational number."""
    from flint import arb, fmpq

    data, kq = run.dataset, run.kq
    if not isinstance(kq, Exact):
        return None
    w = ball(kq.norm_squared_exact).sqrt()
    rarity = arb(fmpq(2 * data.L_max**3 * sum(data.counts), min(data.counts))).log()
    return Sizes(data.N, data.L_max, w, arb(run.eta), rarity)


def in_balls(formula: Formula, balls: "Callable[[Sizes, flint.arb], flint.arb]") -> InBalls:
    """A bound on stage 2 in float64 and, from the sizes of a run and a step, in ball arithmetic."""

    def at_steps(run: Run, steps: list[float]) -> "list[flint.arb] | None":
        import flint

        with flint.ctx.workprec(BITS):
            found = sizes(run)
            return None if found is None else [balls(found, flint.arb(t)) for t in steps]

    return InBalls(formula, at_steps)


def of_sizes(condition: Callable[[Sizes], str | None]) -> Callable[[Run], str | None]:
    """Turn a condition on `Sizes` into one on a run, in ball arithmetic."""

    def unmet(run: Run) -> str | None:
        import flint

        with flint.ctx.workprec(BITS):
            found = sizes(run)
            return NOT_EXACT if found is None else condition(found)

    return unmet


def crossings(factor: float, power: int) -> tuple[float, float]:
    """The (early, late) with t >= factor log^power t on [2, early] and [late, inf); early = 0: never before late.

    >>> [round(t, 6) for t in crossings(10, 1)]
    [0.0, 35.771521]
    >>> [round(t, 6) for t in crossings(2, 2)]
    [4.428062, 13.706451]
    >>> crossings(0.1, 2)
    (0.0, 2.0)
    """
    from scipy.optimize import brentq

    log_factor = float(np.log(factor)) if factor > 0 else -np.inf

    def excess(log_t: float) -> float:
        return log_t - log_factor - power * float(np.log(log_t))

    def root(low: float, high: float) -> float:
        return float(np.exp(brentq(excess, low, high, xtol=1e-13, rtol=1e-13)))

    if excess(power) >= 0:
        return 0.0, 2.0
    beyond = 2.0 * power
    while excess(beyond) <= 0:
        beyond *= 2
    two = float(np.log(2))
    return root(two, power) if excess(two) >= 0 else 0.0, root(power, beyond)


def least_log_t(kappa: "flint.arb") -> "flint.arb | None":
    """A lower bound on log t wherever t >= kappa log^2 t, t >= 2, or None: docs/proofs.md, section 16.4, step 1."""
    import flint

    if not kappa >= 5:
        return None
    log_t = flint.arb(2)
    for _ in range(3):
        log_t = kappa.log() + 2 * log_t.log()
    return log_t
