"""Test of the sequences inferred from a recorded run's steps against the distribution of the classes.

Each step determines the token shares of its sequence: f exp(-z), normalised to sum 1. The shares have mean P(l|n), and
classes are drawn by their frequencies. By the sharper of two inequalities a faithful run is outside any of the bars
with probability at most `CHANCE`:

- Chernoff's: the mean of n draws from [0, 1] of mean p is x or farther from p with probability at most
  exp(-n KL(x, p)). n counts the sequences of a class; or, if all have one length T, their independent tokens: the
  shares are then multiples of 1/T, of variance P (1 - P)/T;
- Maurer and Pontil's, with the sample variance of the shares.

Source: Hoeffding, J. Amer. Statist. Assoc. 58 (1963), theorem 1; Maurer and Pontil, arXiv 0907.3740, theorem 4.
"""

from math import inf, isfinite, lcm, log

import numpy as np
from scipy.optimize import brentq
from scipy.special import rel_entr

from marginaudit.orders.arrays import Floats
from marginaudit.orders.snap import SequenceClasses
from marginaudit.training.departure import Departure
from marginaudit.training.snap.recorded.step import Sequence, Step, Tokens

OTHER_RATE = "classes drawn at another rate"

OTHER_TOKENS = "tokens drawn with another probability, or attention to them not by Z"

CHANCE = 1e-9
"""Probability of a false alarm: that the draws of a faithful run depart."""

LONGEST = 10_000
"""Largest length of a sequence inferred from shares of tokens."""

INTEGER = 0.1
"""Largest error of a count of tokens that can be rounded to an integer."""

SPREAD = 1.5
"""Largest ratio of the shares' variance to that of sequences of one length."""


class Draws:
    """Drawn classes and shares of tokens, up to the first step whose draws rounding hides."""

    def __init__(self, data: SequenceClasses) -> None:
        self.data, self.of_class, self.ended = data, [_Shares(len(one.support)) for one in data.classes], False

    def add(self, tokens: Tokens, step: Step, found: Sequence | None) -> None:
        """Add the shares of a step's sequence; ``found`` is None if rounding hides the sequence."""
        self.ended = self.ended or found is None
        if self.ended or found is None:
            return
        support = tokens.support[found.n]
        z = step.Z.before[tokens.query[found.n], support]
        weight = np.exp(z.min() - z)
        shares, error = found.f[support] * weight, found.f_error[support] * weight
        off = 2 * float(error.sum() / shares.sum())
        if isfinite(off):
            self.of_class[found.n].add(shares / shares.sum(), off)
        else:
            self.ended = True

    def departure(self, step: int) -> Departure | None:
        """Entry farthest outside its bar, or None."""
        found = self._entries()
        if not found:
            return None
        error, bar, token, cause, value = max(found, key=lambda one: one[0] - one[1])
        return Departure("Y", step, error, bar, token, cause, value, "chance") if error > bar else None

    @property
    def detected(self) -> str:
        """Size of error detectable with these draws, in words; "" without draws."""
        largest: dict[str, float] = {}
        for _, bar, _, cause, _ in self._entries():
            largest[cause] = max(bar, largest.get(cause, 0.0))
        names = {OTHER_RATE: "rates of classes", OTHER_TOKENS: "probabilities of tokens"}
        # a mean is also within its bar of the probability of its draws
        sizes = [f"{names[cause]} off by {2 * bar:.2g} or more" for cause, bar in largest.items() if 2 * bar < 1]
        return f"{' and '.join(sizes)} would show" if sizes else ""

    def _entries(self) -> list[tuple[float, float, str, str, float]]:
        """Error, bar, token, cause and mean of each class and of each of its tokens.

        `CHANCE` is split over all entries and counts, because the draws stop at the first hidden sequence.
        """
        total, pairs = sum(one.count for one in self.of_class), sum(len(one.support) for one in self.data.classes)
        if not total:
            return []
        asked, found = log(4 * (self.data.K + pairs) * total * (total + 1) / CHANCE), []
        for one, of, rate in zip(self.of_class, self.data.classes, self.data.frequencies.tolist(), strict=True):
            drawn = one.count / total
            bar = _chernoff(rate, total, asked, above=drawn > rate)
            found.append((abs(drawn - rate), bar, of.next, OTHER_RATE, drawn))
            if one.count > 1:
                probabilities = np.array([of.probabilities[token] for token in of.support])
                draws = one.count * one.length(probabilities)
                own = np.sqrt(2 * one.variance * asked / one.count) + 7 * asked / (3 * (one.count - 1))
                both = zip(of.support, probabilities.tolist(), one.mean.tolist(), own.tolist(), strict=True)
                for token, p, mean, by_variance in both:
                    bar = min(by_variance, _chernoff(p, draws, asked, above=mean > p)) + one.error
                    found.append((abs(mean - p), bar, token, OTHER_TOKENS, mean))
        return found


class _Shares:
    """Count, mean and variance of shares by Welford's method, mean error, and common length of the sequences."""

    def __init__(self, size: int) -> None:
        self.count, self.mean, self.squares, self.error = 0, np.zeros(size), np.zeros(size), 0.0
        self._multiple = 1

    def add(self, shares: Floats, error: float) -> None:
        """Add the shares of one sequence."""
        self.count += 1
        off = shares - self.mean
        self.mean = self.mean + off / self.count
        self.squares = self.squares + off * (shares - self.mean)
        self.error += (error - self.error) / self.count
        if self._multiple and not _multiples(shares, self._multiple, error):
            self._multiple = lcm(self._multiple, _denominator(shares, error))
            if not self._multiple <= min(LONGEST, INTEGER / error if error else inf):
                self._multiple = 0

    def length(self, probabilities: Floats) -> int:
        """Lower bound on the length of each sequence; 1 if lengths differ or rounding hides them."""
        one_length = (probabilities * (1 - probabilities)).sum() / max(self._multiple, 1)
        return self._multiple if self._multiple and self.variance.sum() <= SPREAD * one_length else 1

    @property
    def variance(self) -> Floats:
        """Variance of the shares of one sequence."""
        return np.asarray(self.squares / (self.count - 1))


def _denominator(shares: Floats, error: float) -> int:
    """Least T such that all shares are multiples of 1/T; 0 if above `LONGEST`."""
    last = int(min(LONGEST, INTEGER / error if error else inf))
    return next((T for T in range(1, last + 1) if _multiples(shares, T, error)), 0)


def _multiples(shares: Floats, T: int, error: float) -> bool:
    """Whether all shares are multiples of 1/T, up to an error."""
    counts = T * shares
    return bool((np.abs(counts - np.rint(counts)) <= T * error + 1e-9).all())


def _chernoff(p: float, n: int, asked: float, *, above: bool) -> float:
    """Deviation x - p, or p - x, of a mean of n draws with n KL(x, p) = ``asked``; x is clipped to [0, 1]."""
    end = 1 - p if above else p

    def off(by: float) -> float:
        x = p + by if above else p - by
        return n * float(rel_entr(x, p) + rel_entr(1 - x, 1 - p)) - asked

    return float(brentq(off, 0.0, end)) if end > 0 and off(end) > 0 else end
