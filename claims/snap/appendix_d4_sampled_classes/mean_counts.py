"""Mean counts N-bar of uniform classes, the counts at which h or its share is near, and their chances."""

from dataclasses import dataclass
from math import ceil, exp, log, log10

import numpy as np
from numpy.typing import NDArray

from marginaudit.claims.claim import BeyondTheRun
from marginaudit.claims.snap.binomial import Integers, Interval
from marginaudit.claims.snap.conditions import no_growth, no_zeros
from marginaudit.claims.snap.run import ClassRun
from marginaudit.orders.arrays import Floats
from marginaudit.orders.snap.assumptions import MUCH_GREATER
from marginaudit.training.snap.limit.continuous import continuous
from marginaudit.training.snap.limit.recursion import h_star

MAY_BE_UNDRAWN = "a class may never be drawn: there are two"
"""Refutation of statements with probability 1 - delta that do not restrict delta; see `one_class`."""

DECADES = 7
"""Decades of N from where a statement speaks."""

A_DECADE = 4

FARTHEST = 10**12
"""Largest N of which binomial tails are computed."""

EPS = float(np.finfo(float).eps)


@dataclass(frozen=True)
class Means:
    """N-bar = ceil(N/K) and the level of h there.

    Attributes
    ----------
    N, mean, M : (records,) arrays
    x, excess : arrays
        M h(N-bar), and exp of it less 1.
    eta : float
    """

    N: Integers
    mean: Floats
    x: Floats
    excess: Floats
    M: Floats
    eta: float

    def taken(self, kept: NDArray[np.bool_]) -> "Means":
        """The same at the records that are kept."""
        return Means(self.N[kept], self.mean[kept], self.x[kept], self.excess[kept], self.M[kept], self.eta)


def means(N: Integers, K: int, M: int, eta_Y: float) -> Means:
    """The mean count of N batch-1 steps on K uniform classes, and h there."""
    mean = -(-N // K)
    x = continuous(mean, M, eta_Y).logit.value
    return Means(N, mean.astype(np.float64), x, np.expm1(x), np.full(len(N), float(M)), eta_Y)


def _time(at: Means, excess: Floats) -> Floats:
    """The s with exp(M h(s)) - 1 = excess (eq. 45)."""
    found: Floats = (excess + (at.M - 1) * np.log1p(excess)) / (at.M * at.eta)
    return found


def like_growth(at: Means, d: Floats) -> Interval:
    """The counts k with |h(k)/h(N-bar) - 1| <= d; unbounded below for d >= 1."""
    far = (1 + d) * at.x
    with np.errstate(over="ignore"):
        high = _time(at, np.expm1(far))
        low = np.where(d < 1, _time(at, np.expm1(np.maximum(1 - d, 0.0) * at.x)), -1.0)
    off = 16 * EPS * (1 + at.x)  # relative, of times
    off_late = 16 * EPS * (1 + np.minimum(far, 1e3))  # beyond, they are infinite
    return Interval((low - off * (1 + low), high * (1 + off_late)), (low + off * (1 + low), high * (1 - off_late)))


def like_share(at: Means, d: Floats) -> Interval:
    """The counts k whose share 1/(M-1+exp(M h(k))) is that of N-bar up to a factor 1 +- d.

    With the sum S = M + excess, S(k) lies between S/(1+d) and S/(1-d). Where the lower end is no sum, or the upper one
    is infinite, there is no least, or no greatest, count.
    """
    off = 16 * EPS * (1 + at.x)
    lost = off / 2 * (at.excess + np.minimum(d, 1.0) * at.M)  # of the excess, in which two terms nearly cancel
    below = (at.excess - d * at.M) / (1 + d)
    lows = [_lower(at, below - lost) * (1 - off), _lower(at, below + lost) * (1 + off)]
    with np.errstate(divide="ignore", over="ignore"):
        above = np.where(d < 1, (at.excess + d * at.M) / np.where(d < 1, 1 - d, 1.0), np.inf)
        high = _time(at, above)
    return Interval((lows[0], high * (1 + 2 * off)), (lows[1], high * (1 - 2 * off)))


def _lower(at: Means, excess: Floats) -> Floats:
    return np.where(excess >= 0, _time(at, np.maximum(excess, 0.0)), -1.0)


def radius_of(N: Integers | Floats, delta: float) -> Floats:
    """Delta = ceil(sqrt(N ln(1/delta))), the source's radius."""
    return np.asarray(np.ceil(np.sqrt(N * log(1 / delta))))


def enough_steps(run: ClassRun, delta: float = 1.0) -> float:
    """N >> K^2, and N-bar >> Delta."""
    return float(max(MUCH_GREATER, MUCH_GREATER**2 * log(1 / delta)) * run.K**2)


def enough(run: ClassRun, delta: float = 1.0) -> Integers:
    """N of `DECADES` from where N >> K^2 and N-bar >> Delta on."""
    return within(steps_from(enough_steps(run, delta)), run, delta)


def within(N: Integers, run: ClassRun, delta: float) -> Integers:
    """The N with N-bar >> Delta; rounding up can exclude the first."""
    return N if delta == 1 else N[MUCH_GREATER * radius_of(N, delta) <= -(-N // run.K)]


def steps_from(first: float, farthest: float = 0.0) -> Integers:
    """`A_DECADE` of N a decade, `DECADES` from the first on, or to the farthest if that is more.

    Raises
    ------
    BeyondTheRun
        Too late for binomial tails in float64.
    """
    if first * 1e3 > FARTHEST:
        raise BeyondTheRun(f"it speaks from N = {first:.4g} on, beyond which no chance is computed here")
    decades = max(DECADES, log10(max(farthest, first) / first))
    last = min(first * 10.0**decades, FARTHEST)
    return np.unique(np.ceil(np.geomspace(first, last, ceil(A_DECADE * decades) + 1)).astype(np.int64))


def nothing_fluctuates(run: ClassRun) -> str | None:
    """Why counts are certain, or None."""
    return "There is one class, N_n = N, and nothing fluctuates." if run.K == 1 else None


def no_fluctuation(run: ClassRun) -> str | None:
    """Why nothing fluctuates, or h is not computed; or None."""
    return nothing_fluctuates(run) or no_growth(run)


def no_transition(run: ClassRun) -> str | None:
    """Why eq. 62 has no two phases; or None."""
    if reason := no_zeros(run):
        return f"{reason}: omega_1 of Lemma 8, on which eq. 62 turns, does not exist."
    return no_fluctuation(run)


@dataclass(frozen=True)
class Lagging:
    """h*(k) = h(k + lag), with a lag that grows with k, at the counts k up to N.

    Attributes
    ----------
    L : (records,) array
        What the lag is at most: docs/proofs-snap.md, section 2.4.
    lag : (records,) array
        Of N.
    """

    L: Floats
    lag: Floats

    def counts(self, times: Interval) -> Interval:
        """The k whose k + lag are such times; below, the lag is taken as anything from 0 to that of N."""
        (low, high), (least, most) = times.widest, times.narrowest
        return Interval((low - self.lag, high), (least, most - self.lag))


def lagging(run: ClassRun, N: Integers) -> Lagging:
    """The lead of h* over h, up to N steps on one class."""
    went = h_star(N, run.M, run.eta_Y)
    x = went.level.logit.value - went.level.logit.error
    L = exp(run.eta_Y) / 2 * (np.logaddexp(log(run.M - 1), x) - log(run.M))
    return Lagging(L, went.lag.value + went.lag.error)
