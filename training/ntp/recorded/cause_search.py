"""Search for the cause of a departure: a rule that explains the departing record and the next ones."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf

import numpy as np

from marginaudit.orders.arrays import Floats
from marginaudit.training.departure import AGREES, CLEAR, FEWEST, lower_precision, scheduled, unlike
from marginaudit.training.ntp.recorded.candidates import CandidateRule, Frozen, causes, gapless, minibatch, muon
from marginaudit.training.ntp.recorded.predictions import SAFETY, Row, algorithm1_steps, followed
from marginaudit.training.ntp.recorded.rules import Stage
from marginaudit.training.recorded_weights import Recorded

CONFIRMED, FURTHER = 3, 60
"""Number of next records that a cause has to explain, then number of steps whose records it has to explain, too."""

FITS = 8
"""Iterations to fit a cause's number; without gaps between records the second is exact to rounding."""

LARGEST = 1e100
"""Largest value of a number, such as a step size."""

CLOSE, APART = 1e-9, 1e-5
"""Relative change of a number at convergence, where the difference of two runs is rounding; and that of numerical
derivatives, where it is not."""

UNEVEN = 0.1
"""Least relative range of step sizes that rise and fall repeatedly; a smaller one may be rounding of a norm."""

FIRST_STEPS = 500
"""Rules with a memory, which run from step 0, are tried only for departures within this many steps."""

ANOTHER_START = "another start than zero"


@dataclass(frozen=True)
class CauseSearch:
    """The search for the cause of a departure.

    Attributes
    ----------
    stage, run : the stage and its records
    first : Recorded or None
        Records of stage 1.
    frozen : callable, records -> step at which W_ov was frozen
    i, row : the record that departs
    origin : int
        The record from which rules with a memory start: 0 for W = 0 before it, 1 for a given start.
    """

    stage: Stage
    run: Recorded
    first: Recorded | None
    frozen: Frozen
    i: int
    row: Row
    origin: int

    def cause(self) -> tuple[str | None, float | None]:
        """The first cause that explains the record and the next ones, joined with fitting rivals, and its last number.

        Rules without a number that fit much better, but have bars too wide to confirm them, are rivals of every cause.
        """
        stage, run, i = self.stage, self.run, self.i
        if self.row.step == 0 or (i == 0 and self._next_conform()):
            return ANOTHER_START, None
        far = run.step[: i + CONFIRMED + 1][-1] > FIRST_STEPS or (self.origin and run.step[0] > 0)
        found: list[tuple[CandidateRule, list[float]]] = []
        unconfirmed: list[str] = []
        for cause in causes(stage, run, self.first, i, self.frozen):
            if found and not self._ambiguous and (not cause.rivals or cause.rivals != found[0][0].rivals):
                break
            if far and cause.remembers:
                continue
            if (values := self._numbers(cause)) is not None:
                found.append((cause, values))
            elif not cause.starts and self._may_explain(cause):
                unconfirmed.append(cause.words)
        if found:
            values = found[0][1]
            words = dict.fromkeys(one.words.format(*some) for one, some in found)
            named, value = " or ".join(words), values[-1] if values else None
        elif pattern := self._by_pattern(far=bool(far)):
            named, value = pattern
        else:
            return None, None
        return " or ".join([named, *unconfirmed]), None if unconfirmed else value

    @property
    def _ambiguous(self) -> bool:
        """Whether records are few and have gaps, so that several causes may fit and all are tried."""
        return len(self.own) <= FEWEST and not self.gapless

    @property
    def gapless(self) -> bool:
        """Whether no step is left out before the record and the next ones."""
        return gapless(self.run, self.i, self.i + len(self.own) - 1)

    def _next_conform(self) -> bool:
        rows = list(followed(self.stage, self.run, algorithm1_steps, self.i + 1, self.i + CONFIRMED))
        return bool(rows) and all(row.within() and row.bar < row.moved for row in rows)

    @cached_property
    def own(self) -> list[Row]:
        """The record and the next ones, with Algorithm 1's predictions."""
        return list(followed(self.stage, self.run, algorithm1_steps, self.i, self.i + self.further))

    @property
    def further(self) -> int:
        """Number of further records that a cause finally has to explain."""
        step = self.run.step
        return max(CONFIRMED, int(np.searchsorted(step, step[self.i] + FURTHER, side="right")) - self.i - 1)

    @cached_property
    def clear(self) -> int:
        """Index of a clear departure: the first row, or else the clearest with records after it."""
        shares = [row.error / row.bar if row.bar > 0 else inf for row in self.own]
        return 0 if not shares[0] <= CLEAR else int(np.argmax(shares[: -CONFIRMED or None] or shares[:1]))

    def _numbers(self, cause: CandidateRule) -> list[float] | None:
        """The numbers with which the record and the next ones conform under a cause, or None."""
        at, values = self.clear, self._one_by_one(cause)
        if values is None or not self._closer(self._rows(cause, values, at, bars=False)[at]):
            return None
        row = self._rows(cause, values, at)[at]
        if not self._close(row) or (len(values) < 2 and not row.within(2 * SAFETY * row.bar)):
            return None
        if len(values) > 1:
            values = self._all_together(cause, values)
        if values is None or not all(self._explains(cause, values, at + k) for k in (CONFIRMED, self.further)):
            return None
        return values

    def _may_explain(self, cause: CandidateRule) -> bool:
        """Whether a rule fits the record much better than Algorithm 1, but has a bar too wide to confirm it."""
        rows = self._rows(cause, (), self.further)
        clear = rows[self.clear]
        return self._closer(clear) and not self._close(clear) and all(row.within() for row in rows)

    def _rows(self, cause: CandidateRule, values: Sequence[float], further: int, *, bars: bool = True) -> list[Row]:
        """The record and the ``further`` next ones, each with the prediction of a cause's rule."""
        first = self.origin if cause.remembers else self.i
        stage, last = cause.stage or self.stage, self.i + further
        found = followed(stage, self.run, lambda stage: cause.rule(stage, *values), first, last, bars=bars)
        return list(found)[self.i - first :]

    def _one_by_one(self, cause: CandidateRule) -> list[float] | None:
        """Fit the numbers in turn to the clear departure, each with the previous ones fixed."""
        values = [p for p, _ in cause.starts]
        for k, start in enumerate(cause.starts):

            def rows(x: float, k: int = k) -> list[Row]:
                given = [*values[:k], x, *values[k + 1 :]]
                return self._rows(cause, given, self.clear + 1, bars=False)[self.clear :]

            if (number := _number(rows, *start)) is None:
                return None
            values[k] = number
        return values

    def _all_together(self, cause: CandidateRule, values: list[float]) -> list[float] | None:
        """Fit all numbers jointly to the clear departure and the next records, by Gauss-Newton steps."""
        further = self.clear + CONFIRMED
        bars = [row.bar for row in self._rows(cause, values, further)[self.clear :]]
        for _ in range(FITS):
            found = self._rows(cause, values, further, bars=False)
            slopes = self._slopes(cause, values, found)
            off = np.array([np.nan_to_num(row.apart) / bar for row, bar in zip(found[self.clear :], bars, strict=True)])
            by = np.linalg.pinv(_flat([one[self.clear :] for one in slopes], bars)).T @ -off.ravel()
            values = [value + float(change) for value, change in zip(values, by, strict=True)]
            if not all(0 < value < LARGEST for value in values):
                return None
            if (abs(by) <= CLOSE * np.array(values)).all():
                break
        return values

    def _slopes(self, cause: CandidateRule, values: Sequence[float], found: Sequence[Row]) -> list[list[Floats]]:
        """Derivatives of the predictions ``found`` with respect to each number."""
        slopes = []
        for k, value in enumerate(values):
            given = [*values[:k], value * (1 + APART), *values[k + 1 :]]
            both = zip(found, self._rows(cause, given, len(found) - 1, bars=False), strict=True)
            slopes.append([np.nan_to_num(other.apart - one.apart) / (value * APART) for one, other in both])
        return slopes

    def _explains(self, cause: CandidateRule, values: Sequence[float], further: int) -> bool:
        """Whether the record and further ones conform, as far as rounding leaves the numbers open."""
        at, found = self.clear, self._rows(cause, values, further)
        if not self._close(found[at]) or (values and len(found) < at + 2):
            return False
        spread, slopes = np.zeros(len(found)), self._slopes(cause, values, found)
        if values:
            near = slice(at, at + CONFIRMED + 1)
            inverse = np.linalg.pinv(_flat([one[near] for one in slopes], [row.bar for row in found[near]]))
            moves = np.array([[float(np.linalg.norm(move)) for move in one] for one in slopes])
            spread = SAFETY * np.linalg.norm(inverse, axis=0) @ moves
        return all(row.within(off) for row, off in zip(found, spread.tolist(), strict=True))

    def _closer(self, row: Row) -> bool:
        """Whether a rule predicts the clear departure much better than Algorithm 1."""
        return float(np.linalg.norm(row.apart[row.known])) < self._departs(row) / CLEAR

    def _close(self, row: Row) -> bool:
        """Whether the prediction is `_closer`, and its bar much smaller than the departure and below its own move.

        Any short enough step within a wide bar would be closer to a short step than Algorithm 1's longer one is.
        """
        moved, error = (float(np.linalg.norm(one[row.known])) for one in (row.by, row.apart))
        shows = moved == 0 or row.bar < moved or error <= AGREES * moved
        return shows and self._closer(row) and row.bar < self._departs(row) / CLEAR

    def _departs(self, row: Row) -> float:
        """Size of the clear departure in the entries that a rule predicts."""
        return float(np.linalg.norm(self.own[self.clear].apart[row.known]))

    def _by_pattern(self, *, far: bool) -> tuple[str, float | None] | None:
        """A cause with unknowns at each step: step sizes, samples or roundings."""
        stage, run, i = self.stage, self.run, self.i
        if found := self._schedule():
            return found, None
        if not far and (size := muon(stage, run, i, self.origin)) is not None:
            return f"Muon (step size about {size:.2g})", size
        turned = [(row.apart + row.by) / row.length - row.by / row.moved for row in self.own if row.length * row.moved]
        turns = all(np.linalg.norm(one) > AGREES for one in turned)
        if turns and unlike(turned) and minibatch(stage, run, i):
            return "a minibatch (other samples at each step)", None
        return self._rounded()

    def _schedule(self) -> str | None:
        """Steps along the gradient of varying length, possibly 0.

        Detected from consecutive records only: over a gap, other mistakes look like longer steps.
        """
        lengths, clear = [], 0
        if not self.gapless:
            return None
        for row in self.own:
            share = float(np.sum((row.apart + row.by) * row.by)) / row.moved**2 if row.moved else 0.0
            across = float(np.linalg.norm(row.apart + row.by - share * row.by))
            if not across <= max(1.0, share) * row.bar or -share * row.moved > row.bar:
                return None
            if row.bar < row.moved / CLEAR:
                lengths.append((max(0.0, share) * self.stage.lr, row.step))
                clear += row.bar < share * row.moved / CLEAR
        sizes = [length for length, _ in lengths]
        if clear < FEWEST or not (scheduled(sizes) or max(sizes) - min(sizes) > UNEVEN * max(sizes)):
            return None
        (begun, t), (ended, last) = lengths[0], lengths[-1]
        return f"a schedule of step sizes ({begun:.4g} at step {t}, {ended:.4g} at step {last})"

    def _rounded(self) -> tuple[str, float | None] | None:
        """A precision lower than the file's that explains the size and variation of all next errors."""
        steps = np.diff(self.run.step, prepend=0)[self.i : self.i + len(self.own)].tolist()

        def explains(u: float) -> bool:
            rows = followed(replace(self.stage, u=u), self.run, algorithm1_steps, self.i, self.i + self.further)
            return all(row.within() for row in rows)

        return lower_precision(
            [row.apart for row in self.own], [row.by for row in self.own], steps, self.stage.u, explains
        )


def _flat(slopes: Sequence[Sequence[Floats]], bars: Sequence[float]) -> Floats:
    """Derivatives of all entries over their bars, shape (numbers, entries); 0 beyond float64."""
    found = [np.concatenate([one.ravel() / bar for one, bar in zip(of, bars, strict=True)]) for of in slopes]
    return np.asarray(np.nan_to_num(np.array(found), nan=0.0, posinf=0.0, neginf=0.0))


def _number(rows: Callable[[float], list[Row]], p: float, q: float) -> float | None:
    """Fit a number to the first record that depends on it, by the secant method."""
    at_p, at_q = rows(p), rows(q)
    moved = [
        k
        for k, (one, other) in enumerate(zip(at_p, at_q, strict=True))
        if not np.array_equal(one.apart, other.apart, equal_nan=True)
    ]
    if not moved:
        return None
    k = moved[0]
    for _ in range(FITS):
        if abs(q - p) <= CLOSE * abs(q):
            break
        slope = (at_q[k].apart - at_p[k].apart) / (q - p)
        if not np.nansum(slope**2) > 0:
            break
        p, q = q, q - float(np.nansum(slope * at_q[k].apart) / np.nansum(slope**2))
        if not 0 < q < LARGEST:
            return None
        at_p, at_q = at_q, rows(q)
    return q
