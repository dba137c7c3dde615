"""Whether sequences that the steps of a recorded run show are drawn from the classes.

Each step tells how often each token stands in its sequence: f exp(-z), up to its sum. Those shares have the mean
P(l|n), and classes are drawn by their frequencies. By Hoeffding's inequality for classes, and that of Maurer and Pontil
for tokens, a faithful run is outside any of these bars with a probability of at most `CHANCE`.

Source: Maurer and Pontil, arXiv 0907.3740, theorem 4.
"""

from math import isfinite, log, sqrt

import numpy as np

from marginaudit.orders.arrays import Floats
from marginaudit.orders.snap import SequenceClasses
from marginaudit.training.conformity import Departure
from marginaudit.training.snap.recorded.step import Sequence, Step, Tokens

OTHER_TOKENS = "tokens drawn with another probability, or attention to them not by Z"

CHANCE = 1e-9
"""Probability with which the draws of a faithful run depart."""


class Draws:
    """Drawn classes and shares of tokens, up to the first step that hides its draws."""

    def __init__(self, data: SequenceClasses) -> None:
        self.data, self.of_class, self.ended = data, [_Shares(len(one.support)) for one in data.classes], False

    def add(self, tokens: Tokens, step: Step, found: Sequence | None) -> None:
        """Take in the shares of a step's sequence, None where it is hidden."""
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
        """The entry farthest outside its bar, if any is; `CHANCE` is shared by all of them at all counts."""
        total, pairs = sum(one.count for one in self.of_class), sum(len(one.support) for one in self.data.classes)
        if not total:
            return None
        asked, found = log(4 * (self.data.K + pairs) * total * (total + 1) / CHANCE), []
        for one, of, rate in zip(self.of_class, self.data.classes, self.data.frequencies.tolist(), strict=True):
            drawn, bar = one.count / total, sqrt(asked / (2 * total))
            found.append((abs(drawn - rate), bar, of.next, "classes drawn at another rate", drawn))
            if one.count > 1:
                bars = np.sqrt(2 * one.variance * asked / one.count) + 7 * asked / (3 * (one.count - 1)) + one.error
                for token, mean, bar in zip(of.support, one.mean.tolist(), bars.tolist(), strict=True):
                    off = abs(mean - of.probabilities[token])
                    found.append((off, bar, token, OTHER_TOKENS, mean))
        error, bar, token, cause, value = max(found, key=lambda one: one[0] - one[1])
        return Departure("Y", step, error, bar, token, cause, value, "chance") if error > bar else None


class _Shares:
    """Count, mean and variance of shares, Welford's way, and the mean of their errors."""

    def __init__(self, size: int) -> None:
        self.count, self.mean, self.squares, self.error = 0, np.zeros(size), np.zeros(size), 0.0

    def add(self, shares: Floats, error: float) -> None:
        """Take in one sequence's."""
        self.count += 1
        off = shares - self.mean
        self.mean = self.mean + off / self.count
        self.squares = self.squares + off * (shares - self.mean)
        self.error += (error - self.error) / self.count

    @property
    def variance(self) -> Floats:
        """Variance of one sequence's shares."""
        return np.asarray(self.squares / (self.count - 1))
