"""Mean counts N-bar of uniform classes, and intervals of counts with h, or its share, close to that at N-bar."""

from dataclasses import dataclass
from math import exp, log

import numpy as np
from numpy.typing import NDArray

from marginaudit.orders.arrays import Floats, Integers
from marginaudit.training.snap.counts.binomial import Interval
from marginaudit.training.snap.limit.continuous import continuous
from marginaudit.training.snap.limit.recursion import h_star

EPS = float(np.finfo(float).eps)


@dataclass(frozen=True)
class Means:
    """N-bar = ceil(N/K) and the level of h at N-bar.

    Attributes
    ----------
    N, mean, M : (records,) arrays
    x, excess : arrays
        M h(N-bar), and exp(M h(N-bar)) - 1.
    """

    N: Integers
    mean: Floats
    x: Floats
    excess: Floats
    M: Floats
    eta: float

    def taken(self, kept: NDArray[np.bool_]) -> "Means":
        """Select records."""
        return Means(self.N[kept], self.mean[kept], self.x[kept], self.excess[kept], self.M[kept], self.eta)


def means(N: Integers, K: int, M: int, eta_Y: float) -> Means:
    """Mean count of N batch-1 steps on K uniform classes, and h at this count."""
    mean = -(-N // K)
    x = continuous(mean, M, eta_Y).logit.value
    return Means(N, mean.astype(np.float64), x, np.expm1(x), np.full(len(N), float(M)), eta_Y)


def _time(at: Means, excess: Floats) -> Floats:
    """Time s with exp(M h(s)) - 1 = excess (eq. 45)."""
    found: Floats = (excess + (at.M - 1) * np.log1p(excess)) / (at.M * at.eta)
    return found


def like_growth(at: Means, d: Floats) -> Interval:
    """Interval of counts k with |h(k)/h(N-bar) - 1| <= d; unbounded below for d >= 1."""
    far = (1 + d) * at.x
    with np.errstate(over="ignore"):
        high = _time(at, np.expm1(far))
        low = np.where(d < 1, _time(at, np.expm1(np.maximum(1 - d, 0.0) * at.x)), -1.0)
    off = 16 * EPS * (1 + at.x)  # relative error of times
    off_late = 16 * EPS * (1 + np.minimum(far, 1e3))  # infinite beyond
    return Interval((low - off * (1 + low), high * (1 + off_late)), (low + off * (1 + low), high * (1 - off_late)))


def like_share(at: Means, d: Floats) -> Interval:
    """Interval of counts k with a share 1/(M-1+exp(M h(k))) within a factor 1 +- d of that at N-bar.

    With the sum S = M + excess, S(k) lies between S/(1+d) and S/(1-d). The interval is unbounded below if the lower end
    is no attainable sum, and unbounded above if the upper end is infinite.
    """
    off = 16 * EPS * (1 + at.x)
    lost = off / 2 * (at.excess + np.minimum(d, 1.0) * at.M)  # error of the excess, a difference of nearly equal terms
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


@dataclass(frozen=True)
class Lagging:
    """h*(k) = h(k + lag), with a lag that grows with k, at the counts k up to N.

    Attributes
    ----------
    L : (records,) array
        Upper bound of the lag: docs/proofs-snap.md, section 2.4.
    lag : (records,) array
        Lag at N.
    """

    L: Floats
    lag: Floats

    def counts(self, times: Interval) -> Interval:
        """Counts k with k + lag at the given times; below N, the lag is enclosed between 0 and that at N."""
        (low, high), (least, most) = times.widest, times.narrowest
        return Interval((low - self.lag, high), (least, most - self.lag))


def lagging(N: Integers, M: int, eta_Y: float) -> Lagging:
    """Lead of h* over h, up to N steps on one class."""
    went = h_star(N, M, eta_Y)
    x = went.level.logit.value - went.level.logit.error
    L = exp(eta_Y) / 2 * (np.logaddexp(log(M - 1), x) - log(M))
    return Lagging(L, went.lag.value + went.lag.error)
