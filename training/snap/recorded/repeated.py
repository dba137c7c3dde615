"""Mean steps of Z over repetitions of a run's rule, for files that do not determine the gradient of a step.

Those are files of Adam, and files without two records one step apart.

Runs of the rule from the recorded start, on other sequences, show how far one run is from their mean. The error bars
are as many standard deviations as the farthest of the repetitions is off, over all pairs and windows, each measured by
the mean and deviation of the others: one more run of the rule is farther off with probability at most 1/(RUNS + 1).
"""

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from marginaudit.orders.arrays import Floats
from marginaudit.training.recorded_weights import Recorded
from marginaudit.training.snap.attention.logits import Logits
from marginaudit.training.snap.recorded.mean_steps import MOST_STEPS, BatchRule, MeanSteps, Vectors, evenly_spaced
from marginaudit.training.snap.sgd.kernel import follow
from marginaudit.training.snap.sgd.samples import classes_of, drawn

RUNS = 99
"""Number of repetitions, for a confidence of 0.99."""

MOST_SEQUENCES = 40_000_000
"""Limit on the sequences of all repetitions, about a minute."""

ADAM = -1.0
"""Momentum that stands for Adam in the kernel."""


class MeanOfRuns(MeanSteps):
    """Mean steps of Z over runs from the same start, with momentum or by Adam.

    Parameters
    ----------
    decoder : Recorded
        Y of tokens; with momentum or by Adam the first record is at step 0, where averages are 0.
    rates : pair
        eta_Y and eta_Z.
    """

    alone = False

    def __init__(
        self,
        logits: Logits,
        decoder: Recorded,
        attention: Recorded,
        rule: BatchRule,
        rates: tuple[float, float],
        seed: int,
        *,
        adam: bool = False,
    ) -> None:
        super().__init__(logits, attention, rates[1], evenly_spaced(np.arange(len(attention.step) - 1), MOST_STEPS))
        self._rule, self._rates, self._seed = rule, rates, seed
        self._momentum_or_adam = ADAM if adam else rule.momentum
        columns = [logits.data.index[token] for token in logits.data.contextual]
        self._start = (
            decoder.weights[0][columns].astype(np.float64),
            attention.weights[0][:, columns].astype(np.float64),
        )

    @property
    def sequences(self) -> int:
        """Number of sequences of all repetitions."""
        return RUNS * self._rule.batch * self._updates

    @property
    def _updates(self) -> int:
        return int(self._attention.step[-1] - self._attention.step[0])

    @cached_property
    def _runs(self) -> list[tuple[NDArray[np.float32], NDArray[np.float32]]]:
        """z before each of the chosen spans, and what the span adds to it, over eta_Z, of each repetition."""
        data, updates, start = self.logits.data, self._updates, self._attention.step[0]
        before, after = self._attention.step[self.before] - start, self.step - start
        classes, found = classes_of(data), []
        for rng in np.random.default_rng(self._seed).spawn(RUNS):
            Y, Z = (one.copy() for one in self._start)
            samples = drawn(classes, data.frequencies, updates * self._rule.batch, self._rule.length, rng)
            path = np.empty((updates + 1, *Z.shape))
            follow(
                classes, samples, self._rule.batch, Y, Z, *self._rates, self._momentum_or_adam, np.empty(updates), path
            )
            z = path[:, *self.logits.pairs]
            moved = (z[after] - z[before]) / self._rates[1]
            found.append((z[before].astype(np.float32), moved.astype(np.float32)))
        return found

    @cached_property
    def _farthest(self) -> float:
        """Standard deviations of the repetition that is farthest off, over all pairs and windows."""
        windows = np.concatenate([self.windows(self.whole[0]), self.whole])
        return float(np.max(standardised(np.array([windows @ moved for _, moved in self._runs]))))

    def bars(self, of: Vectors, windows: NDArray[np.bool_]) -> tuple[Floats, Floats]:
        """The same on both sides; for other vectors than pairs also as far as their own farthest repetition."""
        sums = np.array([windows @ (moved * of(z.astype(np.float64))).sum(axis=1) for z, moved in self._runs])
        bar = max(self._farthest, float(np.max(standardised(sums), initial=0.0))) * np.std(sums, axis=0, ddof=1)
        return bar, bar


def standardised(values: Floats) -> Floats:
    """Distance of each of n values along the first axis from the mean of the others, over their standard deviation.

    >>> standardised(np.array([0.0, 1.0, 2.0, 6.0])).round(4).tolist()
    [1.1339, 0.5455, 0.1037, 5.0]
    """
    n, mean = len(values), values.mean(axis=0)
    off = (values - mean) * n / (n - 1)
    rest = ((values - mean) ** 2).sum(axis=0) - off * (values - mean)
    with np.errstate(divide="ignore", invalid="ignore"):  # where nothing varies
        found = np.abs(off) / np.sqrt(np.maximum(rest, 0.0) / (n - 2))
    return np.asarray(np.where(np.isfinite(found), found, 0.0))
