"""One step of Y and Z compared with Lemma 1, or with a common programming mistake: difference and error bar.

A step moves Y by eta_Y f g^T, g = e_n - softmax(Y^T f), on a sequence missing from the file. The step determines the
sequence: column n alone grows, along f = X^T b/|X^T b|, the only input of a step from the sequence and from attention.
This f predicts the rest of Y's step, and Z's: eta_Z f * (I - f f^T) Y g in the row of the class's query.

The error bar bounds the effect of rounding, to first order in the unit roundoff u. Its terms: u times the weights for
writing both records; the resulting error of f, relative to the growth of column n; the errors of the logits, from f and
from their sums, and of alpha from the logits; and the sums of Z's gradient.

Source: arXiv 2305.16380, Lemma 1 (eq. 3).
"""

from collections.abc import Iterator
from collections.abc import Sequence as Items
from copy import copy
from dataclasses import dataclass, replace
from math import inf, sqrt

import numpy as np
from scipy.special import expit

from marginaudit.orders.arrays import UNIT_ROUNDOFF, Floats
from marginaudit.orders.snap import SequenceClasses
from marginaudit.training.departure import AGREES
from marginaudit.training.recorded_weights import Recorded
from marginaudit.training.snap.sgd.samples import classes_of

POSITIONS = 10_000
"""Assumed limit on the length of a sequence, whose tokens a program may add one by one."""


@dataclass(frozen=True)
class Rule:
    """Update rule: Lemma 1, or a common programming mistake.

    Attributes
    ----------
    normalised : bool
        f is X^T b over its norm, else X^T b.
    through_norm : bool
        The gradient of Z goes through that norm.
    transposed : bool
        Y is held as [next token, contextual token].
    decay_y, decay_z : float
        Share of the weights subtracted in each step.
    u : float
        Unit roundoff of the computation, if larger than the file's.
    """

    lr_y: float
    lr_z: float
    normalised: bool = True
    through_norm: bool = True
    transposed: bool = False
    momentum_y: float = 0.0
    momentum_z: float = 0.0
    decay_y: float = 0.0
    decay_z: float = 0.0
    u: float = 0.0


class Tokens:
    """Indices of a dataset's classes: next token and tokens in Y, query in Z; and their probabilities."""

    def __init__(self, data: SequenceClasses) -> None:
        found = classes_of(data)
        rows = np.array([data.index[token] for token in data.contextual])[found.token]
        self.next, self.query = found.label, found.query
        self.query_rows = np.array([data.index[one.query] for one in data.classes])
        self.support = np.split(rows, found.first[1:-1])
        self.summed = max(map(len, self.support))
        self.frequencies = data.frequencies
        self.probabilities = [np.array([one.probabilities[token] for token in one.support]) for one in data.classes]

    def attending(self, rows: Items[int]) -> "Tokens":
        """Copy with one more token in each class's sequences."""
        found = copy(self)
        found.support = [np.union1d(own, [row]) for own, row in zip(self.support, rows, strict=True)]
        found.summed = max(map(len, found.support))
        return found


@dataclass(frozen=True, eq=False)
class WeightChange:
    """Change of Y or Z in one step.

    Attributes
    ----------
    u : float
        Sum of the unit roundoffs of the file and of float64.
    before : weights before the step
    by : change of the weights
    written : error of ``by`` from writing both records
    """

    u: float
    before: Floats
    by: Floats
    written: Floats

    def without(self, last: "WeightChange | None", momentum: float) -> "WeightChange":
        """Subtract the momentum of the previous step."""
        if not momentum or last is None:
            return self
        return replace(self, by=self.by - momentum * last.by, written=self.written + momentum * last.written)

    def computed(self, decay: float, u: float) -> "WeightChange":
        """Remove weight decay, and raise the unit roundoff to at least ``u``."""
        if not decay and u <= self.u:
            return self
        lost = decay * self.before
        return replace(self, u=max(u, self.u), by=self.by + lost, written=self.written + 2 * self.u * np.abs(lost))

    @property
    def transposed(self) -> "WeightChange":
        """Change of the transposed weights."""
        return replace(self, before=self.before.T, by=self.by.T, written=self.written.T)


@dataclass(frozen=True, eq=False)
class Step:
    """Step from one record to the next; ``last`` is the previous step, if recorded."""

    step: int
    Y: WeightChange
    Z: WeightChange
    last: "Step | None"

    def of_Y(self, rule: Rule) -> WeightChange:
        """Y's step without momentum, as [contextual token, next token]."""
        found = self.Y.without(None if self.last is None else self.last.Y, rule.momentum_y)
        found = found.computed(rule.decay_y, rule.u)
        return found.transposed if rule.transposed else found


@dataclass(frozen=True, eq=False)
class Off:
    """Comparison of a step with the predicted one: difference, rounding bound, and prediction."""

    apart: Floats
    bar: float
    predicted: Floats

    @property
    def error(self) -> float:
        """Frobenius norm of the difference."""
        return float(np.linalg.norm(self.apart))

    @property
    def within(self) -> bool:
        """Whether rounding explains the difference."""
        return self.error <= self.bar < inf

    @property
    def decided(self) -> bool:
        """Whether the comparison is decisive: rounding alone does not explain the step."""
        moved = float(np.linalg.norm(self.predicted))
        return self.bar < moved or self.error <= AGREES * moved


@dataclass(frozen=True, eq=False)
class Sequence:
    """Class of a step, and its f and g, each with an entrywise rounding bound."""

    n: int
    f: Floats
    f_error: Floats
    g: Floats
    g_error: Floats


def steps(decoder: Recorded, attention: Recorded, first: int = 1) -> Iterator[tuple[int, Step]]:
    """Steps that end at record ``first`` or later, between records exactly one step apart."""
    last = None
    for i in range(max(1, first - 1), len(decoder.step)):
        if decoder.step[i] != decoder.step[i - 1] + 1:
            last = None
            continue
        last = Step(int(decoder.step[i]), _change(decoder, i), _change(attention, i), last and replace(last, last=None))
        if i >= first:
            yield i, last


def _change(run: Recorded, i: int) -> WeightChange:
    before, after = (np.asarray(run.weights[k], dtype=np.float64) for k in (i - 1, i))
    u = run.roundoff + UNIT_ROUNDOFF
    written = u * (np.abs(before) + np.abs(after)) + run.excess(i - 1) + run.excess(i)
    return WeightChange(u, before, after - before, written + run.least)


def shown_sequence(tokens: Tokens, step: Step, rule: Rule, n: int | None = None) -> Sequence | None:
    """Sequence inferred from Y's step, for class n or else the growing column; None if rounding hides it."""
    Y = step.of_Y(rule)
    if n is None:
        n = int(Y.by.sum(axis=0)[tokens.next].argmax())
    grown, support = tokens.next[n], tokens.support[n]
    growth, written = Y.by[:, grown], Y.written[:, grown]
    f = np.zeros(len(growth))
    f[support] = np.maximum(growth[support], 0.0)
    length = np.linalg.norm(f)
    blur = np.linalg.norm(written) / length + (tokens.summed / 2 + 4) * Y.u
    if not blur < 1:
        return None
    f /= length
    f_error = np.zeros(len(growth))
    f_error[support] = (written[support] / length + blur * f[support]) / (1 - blur)
    if not rule.normalised:
        f, f_error = f / f.sum(), f_error / f.sum() + f * (f_error.sum() / f.sum())
    logits = f @ Y.before
    off = (f_error + (tokens.summed + 4) * Y.u * f) @ np.abs(Y.before)
    powers = np.exp(logits - logits.max())
    alpha = powers / powers.sum()
    g = -alpha
    g[grown] = np.delete(alpha, grown).sum()
    return Sequence(n, f, f_error, g, alpha * (2 * off.max() + (len(alpha) + 4) * Y.u))


def of_Y(tokens: Tokens, step: Step, rule: Rule, found: Sequence | None) -> Off:
    """Compare Y's step with the rule's, on the sequence inferred from it."""
    Y = step.of_Y(rule)
    written = float(np.linalg.norm(Y.written))
    if found is None:
        return _hidden(tokens, Y, rule)
    predicted = rule.lr_y * np.outer(found.f, found.g)
    f, f_error, g, g_error = (float(np.linalg.norm(one)) for one in (found.f, found.f_error, found.g, found.g_error))
    bar = written + abs(rule.lr_y) * (f_error * g + f * g_error + 4 * Y.u * f * g)
    return Off(Y.by - predicted, bar, predicted)


def _hidden(tokens: Tokens, Y: WeightChange, rule: Rule) -> Off:
    """`Off` of Y's step if rounding hides its class: the step may be as small as the least step of any class.

    Column n grows by lr (1 - alpha_n) at least, alpha_n <= 1/(1 + exp(-min_j |(Y_n - Y_j)_+|)) for f >= 0 of norm 1,
    Y_n and Y_j on the tokens of the class; and |g| is at most sqrt(2) (1 - alpha_n).
    """
    unpredicted, apart = np.full_like(Y.by, np.nan), np.zeros_like(Y.by)
    short, lost = [], _lost(tokens, Y, rule)
    for grown, support in zip(tokens.next, tokens.support, strict=True):
        rows = Y.before[support]
        gaps = np.linalg.norm(np.maximum(rows[:, [grown]] - rows, 0.0), axis=0)
        least = abs(rule.lr_y) * expit(-np.delete(gaps, grown).min(initial=inf))
        bar = float(np.linalg.norm(Y.written[:, grown])) + lost
        short.append((least - np.linalg.norm(Y.by[:, grown]), bar, grown, support[0]))
    lack, bar, grown, row = min(short, key=lambda one: one[0] - one[1])
    if lack > bar:
        apart[row, grown] = lack
        return Off(apart, bar, unpredicted)
    return Off(Y.by, float(np.linalg.norm(Y.written)) + _hidden_growth(tokens, Y, rule), unpredicted)


def _lost(tokens: Tokens, Y: WeightChange, rule: Rule) -> float:
    """Rounding error of 1 - alpha_n times the step size, whether computed from logits or from 1."""
    logits = float(np.abs(Y.before).max())
    return abs(rule.lr_y) * Y.u * (2 * (tokens.summed + 4) * logits + len(Y.by) + 4)


def _hidden_growth(tokens: Tokens, Y: WeightChange, rule: Rule) -> float:
    """Upper bound on lr |g| if no column grows by more than the rounding of the records."""
    return sqrt(2) * (2 * float(np.linalg.norm(Y.written, axis=0).max()) + _lost(tokens, Y, rule))


def of_Z(tokens: Tokens, step: Step, rule: Rule, found: Sequence | None) -> Off:
    """Compare Z's step with the rule's, on the sequence inferred from Y's step."""
    Z = step.Z.without(None if step.last is None else step.last.Z, rule.momentum_z).computed(rule.decay_z, rule.u)
    written, predicted, error = float(np.linalg.norm(Z.written)), np.zeros_like(Z.by), np.zeros_like(Z.by)
    Y = step.of_Y(rule)
    largest = np.abs(Y.before) + np.abs(Y.by)  # f g^T does not change Z's gradient
    if found is None:
        g = np.divide(_hidden_growth(tokens, Y, rule), abs(rule.lr_y))
        return Off(Z.by, written + 2 * abs(rule.lr_z) * float(np.linalg.norm(largest) * g), predicted + np.nan)
    u = max(Y.u, Z.u)
    sums, many = (len(found.g) + 4) * u, (POSITIONS + 8) * u
    f, f_error, size = found.f, found.f_error, largest @ np.abs(found.g)
    pull, pull_error = Y.before @ found.g, largest @ found.g_error + sums * size
    if rule.normalised and rule.through_norm:  # off f, else off the mean under X^T b
        off, share, share_error = f, f, f_error
    else:
        off, share, share_error = np.ones(len(f)), f / f.sum(), (f_error + f * (f_error.sum() / f.sum())) / f.sum()
    along = float(share @ pull)
    along_error = float(share @ pull_error + (share_error + many * share) @ np.abs(pull) + sums * (share @ size))
    turned = pull - off * along
    turned_error = pull_error + off * along_error + (f_error * abs(along) if off is f else 0.0)
    row = tokens.query[found.n]
    predicted[row] = rule.lr_z * f * turned
    error[row] = abs(rule.lr_z) * (f * turned_error + f_error * np.abs(turned) + many * f * (np.abs(pull) + abs(along)))
    return Off(Z.by - predicted, written + float(np.linalg.norm(error)), predicted)
