"""Mean steps of Z along a recorded run on batches: its steps without the draw of their sequences, with error bars.

Let u_i be the gradient of step i, a mean of B independent draws of x_i, and m_i its mean given the weights before the
step. For every a_i that these determine, every lam, and phi(y) = e^y - 1 - y,

    E exp(lam (u_i - m_i) - B E phi(lam (x_i - a_i)/B)) <= 1,

as (1 + lam (m_i - a_i)/B + E phi)^B <= exp(lam (m_i - a_i) + B E phi). So on any path, and for any choice of steps by
what is before them, sum (u_i - m_i) exceeds (log(1/delta) + B sum E phi)/lam with probability at most delta. The error
bars of all sums, both sides and all lam of a grid hold together. E phi is a sum over all sequences of a class or, where
these are many, the mean of samples plus `ERRORS` of its standard errors.

Source: Freedman, Ann. Probab. 3 (1975), for such sums.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import inf, log
from typing import ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from marginaudit.orders.arrays import Floats
from marginaudit.training.approximation import Approximation
from marginaudit.training.recorded_weights import Recorded
from marginaudit.training.snap.attention.logits import Logits
from marginaudit.training.snap.recorded.batch import Draws, gradients, long_sequences, sequences
from marginaudit.training.snap.recorded.step import Tokens

MOST_STEPS, MOST_NUMBERS = 1000, 2e9
"""Limits on the steps whose sequences are sampled, evenly spaced, and on the logits of all samples."""

WINDOWS = 4
"""Number of sums along the run."""

OTHERS = 60
"""Most vectors of a run beside pairs of z and classes."""

SAMPLES = 64
"""Sampled sequences of a class at each step."""

GRID = 2.0 ** np.arange(-10, 19)
"""Values of lam."""

ERRORS = 3
"""Standard errors of sampled expectations in the error bars."""


Vectors: TypeAlias = Callable[[Floats], Floats]
"""From z before each step, shape (steps, pairs), to vectors of that shape."""


@dataclass(frozen=True)
class BatchRule:
    """Declared rule of a run: sequences per step, tokens per sequence, and momentum without dampening."""

    batch: int
    length: int
    momentum: float = 0.0


class MeanSteps(ABC):
    """Mean steps over windows of a run.

    Attributes
    ----------
    before : (steps,) array
        Index of the record before each of the chosen steps, or spans of steps.
    alone : bool
        Whether these are single steps.
    window : (steps,) array
        Number of the window of each step.
    moved : Approximation, shape (steps, pairs)
        What each step adds to z, over eta_Z, without its momentum.
    """

    alone: ClassVar[bool] = True

    def __init__(
        self, logits: Logits, attention: Recorded, lr_z: float, before: NDArray[np.int64], momentum: float = 0.0
    ) -> None:
        self.logits, self.before, self._momentum = logits, before, momentum
        data = logits.data
        columns = np.array([data.index[token] for token in data.contextual], dtype=np.int64)
        self.place = logits.pairs[0], columns[logits.pairs[1]]
        self._attention, self._lr_z = attention, lr_z
        self.window = np.arange(len(self.before)) * WINDOWS // max(1, len(self.before))
        self.moved = self._moved()

    @property
    def step(self) -> NDArray[np.int64]:
        """The chosen steps, or the last of each span."""
        return np.asarray(self._attention.step[self.before + 1])

    def z(self, i: int) -> Approximation:
        """z of a record, with the rounding of the file."""
        value = self._attention.weights[i][self.place].astype(np.float64)
        excess = np.broadcast_to(self._attention.excess(i), self._attention.weights.shape[1:])[self.place]
        return Approximation(value, self._attention.roundoff * np.abs(value) + excess + self._attention.least)

    @cached_property
    def states(self) -> Approximation:
        """z before each of the chosen steps, shape (steps, pairs)."""
        found = [self.z(i) for i in self.before]
        return Approximation(np.array([one.value for one in found]), np.array([one.error for one in found]))

    def _moved(self) -> Approximation:
        value, error, step = [], [], self._attention.step
        for i in self.before.tolist():
            change, beta = self.z(i + 1) - self.z(i), self._momentum
            if beta and step[i] > 0:
                change = change - (self.z(i) - self.z(i - 1)) * beta
            value.append(change.value / self._lr_z)
            error.append(change.error / self._lr_z)
        shape = len(self.before), len(self.logits.names)
        return Approximation(np.reshape(value, shape), np.reshape(error, shape))

    def ends(self, chosen: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Last of the given steps in each window that has any."""
        return np.array([self.step[row][-1] for row in self.windows(chosen)], dtype=np.int64)

    def means(self, of: Vectors, chosen: NDArray[np.bool_] | None = None) -> Approximation:
        """Mean per step of the products of the mean steps with vectors, in each window that has any of the steps.

        The error bars of all calls hold together, for as many vectors as pairs and classes, and `OTHERS`.

        Parameters
        ----------
        of : callable, z before each step -> vectors, both of shape (steps, pairs)
        chosen : (steps,) array of bool
            Steps in the means, chosen by the weights before each; None for one mean of all steps.
        """
        windows = self.whole if chosen is None else self.windows(chosen)
        vector = of(self.states.value)
        steps = windows @ (self.step - self._attention.step[self.before])
        total = windows @ (self.moved.value * vector).sum(axis=1)
        rounding = windows @ (self.moved.error * np.abs(vector)).sum(axis=1)
        above, below = self.bars(of, windows)
        return Approximation((total + (below - above) / 2) / steps, ((above + below) / 2 + rounding) / steps)

    @property
    def whole(self) -> NDArray[np.bool_]:
        """One window of all steps."""
        return np.ones((1, len(self.before)), dtype=bool)

    def windows(self, chosen: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Indicator of each window's steps, shape (windows with any of the steps, steps)."""
        found = (np.arange(WINDOWS)[:, np.newaxis] == self.window) & chosen
        return np.asarray(found[found.any(axis=1)])

    @abstractmethod
    def bars(self, of: Vectors, windows: NDArray[np.bool_]) -> tuple[Floats, Floats]:
        """Bounds on how far the sum over each window is above its mean, and below it."""


class MeanGradients(MeanSteps):
    """Mean gradients of Z under SGD on batches, with or without momentum, at the weights of the run."""

    def __init__(
        self,
        logits: Logits,
        decoder: Recorded,
        attention: Recorded,
        rule: BatchRule,
        lr_z: float,
        seed: int,
        confidence: float,
    ) -> None:
        most = int(MOST_NUMBERS / (SAMPLES * logits.data.K * logits.data.M))
        before = evenly_spaced(single_steps(attention.step, rule.momentum), max(2, min(MOST_STEPS, most)))
        super().__init__(logits, attention, lr_z, before, rule.momentum)
        self.confidence = confidence
        self._batch = rule.batch
        self._tokens, rng = Tokens(logits.data), np.random.default_rng(seed)
        known = {pair: i for i, pair in enumerate(zip(*self.place, strict=True))}
        self._own = [
            np.array([known[query, row] for row in support.tolist()])
            for query, support in zip(self._tokens.query.tolist(), self._tokens.support, strict=True)
        ]
        self._centre = np.zeros_like(self.moved.value)
        long = long_sequences(self._tokens)
        drawn: list[list[Floats]] = [[] for _ in self._own]
        self._draws: list[list[Draws]] = [[] for _ in self._own]
        for i, record in enumerate(self.before.tolist()):
            Y, Z = (np.asarray(one.weights[record], dtype=np.float64) for one in (decoder, attention))
            for n, draws in enumerate(sequences(self._tokens, rule.length, SAMPLES, rng)):
                drawn[n].append(gradients(self._tokens, n, Y, Z, draws.counts).pull)
                self._draws[n].append(draws)
                mean = gradients(self._tokens, n, Y, Z, long[n].counts).pull[0]
                self._centre[i, self._own[n]] += self._tokens.frequencies[n] * mean
        self._drawn = [np.array(one) for one in drawn]

    @property
    def chance(self) -> float:
        """Probability of an error at each end of each error bar."""
        return (1 - self.confidence) / (2 * (WINDOWS + 1) * (len(self.logits.names) + self.logits.data.K + OTHERS))

    def bars(self, of: Vectors, windows: NDArray[np.bool_]) -> tuple[Floats, Floats]:
        """Bounds by the best lam of the grid."""
        vector = of(self.states.value)
        return self._above(vector, windows), self._above(-vector, windows)

    def _above(self, vector: Floats, windows: NDArray[np.bool_]) -> Floats:
        asked = log(len(GRID) / self.chance)
        with np.errstate(over="ignore", invalid="ignore"):
            mean, variance = (np.where(np.isnan(one), inf, one) for one in self.costs(vector))
            bars = [
                (asked + mean[:, row].sum(axis=1) + ERRORS * np.sqrt(variance[:, row].sum(axis=1))) / GRID
                for row in windows
            ]
        return np.asarray(np.reshape(bars, (len(windows), len(GRID))).min(axis=1))

    @np.errstate(over="ignore", invalid="ignore")
    def costs(self, vector: Floats) -> tuple[Floats, Floats]:
        """B E phi of each lam of `GRID` and each step, and the variance of its estimate; NaN or infinite if large."""
        B, centre = self._batch, (vector * self._centre).sum(axis=1)
        found, variance = np.zeros((2, len(GRID), len(vector)))
        for n, own in enumerate(self._own):
            along, share = vector[:, own], B * float(self._tokens.frequencies[n])
            if not along.any():
                found += share * phi(np.outer(GRID, -centre) / B)
                continue
            off = np.einsum("tjs,ts->tj", self._drawn[n], along) - centre[:, np.newaxis]
            weights = np.array([one.weights for one in self._draws[n]])
            for k, lam in enumerate(GRID):
                costs = phi(lam * off / B)
                mean = (weights * costs).sum(axis=1)
                found[k] += share * mean
                if not self._draws[n][0].exact:
                    variance[k] += share**2 * costs.var(axis=1, ddof=1) / SAMPLES
        return found, variance


def phi(y: Floats) -> Floats:
    """e^y - 1 - y."""
    return np.asarray(np.expm1(y) - y)


def single_steps(step: NDArray[np.int64], momentum: float) -> NDArray[np.int64]:
    """Records before a step that the file shows alone, and its momentum."""
    single = np.diff(step) == 1
    if momentum:
        single &= np.concatenate([[step[0] == 0], single])[: len(single)]
    return np.flatnonzero(single)


def evenly_spaced(records: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    """At most so many of the records, the first and the last among them."""
    chosen = np.rint(np.linspace(0, len(records) - 1, min(len(records), most))).astype(np.int64)
    return np.asarray(records[np.unique(chosen)])
