"""Whether sequences that the steps of a recorded run show are drawn from the classes.

Each step tells how often each token stands in its sequence: f exp(-z), up to its sum. Those shares have the mean
P(l|n), and classes are drawn by their frequencies. By the sharper of two inequalities a faithful run is outside any of
these bars with a probability of at most `CHANCE`:

- Chernoff's: of n draws from 0 to 1 of mean p, the mean is x or farther from p with a probability of at most
  exp(-n KL(x, p)). n counts a class's sequences; or their tokens, each drawn by itself, where all have one length T:
  the shares are then multiples of 1/T, of variance P (1 - P)/T;
- Maurer and Pontil's, with the shares' own variance.

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
"""Probability with which the draws of a faithful run depart."""

LONGEST = 10_000
"""Length of a sequence, at most, that shares of tokens tell."""

INTEGER = 0.1
"""Error of a count of tokens up to which it is known."""

SPREAD = 1.5
"""Ratio of the shares' variance to that of sequences of one length, at most."""


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
        """The entry farthest outside its bar, if any is."""
        found = self._entries()
        if not found:
            return None
        error, bar, token, cause, value = max(found, key=lambda one: one[0] - one[1])
        return Departure("Y", step, error, bar, token, cause, value, "chance") if error > bar else None

    @property
    def detected(self) -> str:
        """The size of error that these draws would show, in words; "" if there are none."""
        largest: dict[str, float] = {}
        for _, bar, _, cause, _ in self._entries():
            largest[cause] = max(bar, largest.get(cause, 0.0))
        names = {OTHER_RATE: "rates of classes", OTHER_TOKENS: "probabilities of tokens"}
        # a mean is off by less than its bar from the probability of its draws, too
        sizes = [f"{names[cause]} off by {2 * bar:.2g} or more" for cause, bar in largest.items() if 2 * bar < 1]
        return f"{' and '.join(sizes)} would show" if sizes else ""

    def _entries(self) -> list[tuple[float, float, str, str, float]]:
        """Error, bar, token, cause and mean of each class and of each of its tokens.

        `CHANCE` is shared by all of them at all counts, as the draws end where a step hides its sequence.
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
    """Count, mean and variance of shares, Welford's way, the mean of their errors, and the sequences' one length."""

    def __init__(self, size: int) -> None:
        self.count, self.mean, self.squares, self.error = 0, np.zeros(size), np.zeros(size), 0.0
        self._multiple = 1

    def add(self, shares: Floats, error: float) -> None:
        """Take in one sequence's."""
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
        """Tokens of each sequence, at least; 1 where their lengths differ or rounding hides them."""
        one_length = (probabilities * (1 - probabilities)).sum() / max(self._multiple, 1)
        return self._multiple if self._multiple and self.variance.sum() <= SPREAD * one_length else 1

    @property
    def variance(self) -> Floats:
        """Variance of one sequence's shares."""
        return np.asarray(self.squares / (self.count - 1))


def _denominator(shares: Floats, error: float) -> int:
    """The least number of which all shares are multiples of the inverse; 0 if there is none up to `LONGEST`."""
    last = int(min(LONGEST, INTEGER / error if error else inf))
    return next((T for T in range(1, last + 1) if _multiples(shares, T, error)), 0)


def _multiples(shares: Floats, T: int, error: float) -> bool:
    """Whether all shares are multiples of 1/T, up to an error."""
    counts = T * shares
    return bool((np.abs(counts - np.rint(counts)) <= T * error + 1e-9).all())


def _chernoff(p: float, n: int, asked: float, *, above: bool) -> float:
    """The deviation x - p, or p - x, of a mean of n draws with n KL(x, p) = ``asked``; beyond 0 or 1, up to there."""
    end = 1 - p if above else p

    def off(by: float) -> float:
        x = p + by if above else p - by
        return n * float(rel_entr(x, p) + rel_entr(1 - x, 1 - p)) - asked

    return float(brentq(off, 0.0, end)) if end > 0 and off(end) > 0 else end
