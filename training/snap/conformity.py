"""Whether a recorded trajectory of Y and Z is the batch-1 SGD of Lemma 1 on sequences of the classes.

A step moves Y by eta_Y f g^T, g = e_n - softmax(Y^T f), on a sequence that the file does not hold. But the step shows
it: column n alone grows, along f = X^T b/|X^T b|, which is all that a step takes from the sequence and from attention.
With that f the rest of Y's step is predicted, and Z's: eta_Z f * (I - f f^T) Y g in the row of the class's query.

What rounding explains is the bar, to first order in the unit roundoff u: u times the weights for writing both records;
what that does to f, as a share of the growth of column n; what an error of f and the logits' own sums do to the logits,
and these to alpha; and the sums of Z's gradient.

Each step also tells how often each token stands in its sequence: f exp(-z), up to its sum. Those shares have the mean
P(l|n), and classes are drawn by their frequencies. By Hoeffding's inequality for classes, and that of Maurer and Pontil
for tokens, a faithful run is outside any of these bars with a probability of at most `CHANCE`.

Source: arXiv 2305.16380, Lemma 1 (eq. 3); Maurer and Pontil, arXiv 0907.3740, theorem 4.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from math import inf, isfinite, log, sqrt

import numpy as np
from scipy.special import expit

from marginaudit.orders.arrays import UNIT_ROUNDOFF, Floats
from marginaudit.orders.snap import SequenceClasses
from marginaudit.training.conformity import Compared, Departure
from marginaudit.training.trajectory import Recorded

FURTHER = 200
"""Further steps that a cause has to explain, where there are as many: a class has to come back."""

CLEAR = 10
"""How many bars a step departs by that speaks for a cause; two such steps do for one."""

POSITIONS = 10_000
"""Tokens of a sequence, at most, over which a program may add one by one."""

AGREES = 0.01
"""A step so close to the predicted one, as a share of it, is taken for it whatever rounding may explain."""

GRID, ROUNDS = (0.1, 0.3, 0.5, 0.7, 0.9, 0.95, 0.99), 8
"""Momenta to begin with, and the Gauss-Newton steps from the nearest: the square of its error is left after each."""

OTHER_TOKENS = "tokens drawn with another probability, or attention to them not by Z"

NUDGE = 1e-6
"""A relative change of a momentum, for its derivative."""

CHANCE = 1e-9
"""Probability with which the draws of a faithful run depart."""


@dataclass(frozen=True)
class Rule:
    """Lemma 1, or a mistake that a program may make.

    Attributes
    ----------
    lr_y, lr_z : float
    normalised : bool
        f is X^T b over its norm, else X^T b.
    through_norm : bool
        The gradient of Z goes through that norm.
    transposed : bool
        Y is held as [next token, contextual token].
    momentum_y, momentum_z : float
    """

    lr_y: float
    lr_z: float
    normalised: bool = True
    through_norm: bool = True
    transposed: bool = False
    momentum_y: float = 0.0
    momentum_z: float = 0.0


class _Tokens:
    """Rows and columns of a dataset's classes: next token and tokens in Y, query in Z."""

    def __init__(self, data: SequenceClasses) -> None:
        place = {token: i for i, token in enumerate(data.tokens)}
        rows = {query: i for i, query in enumerate(data.queries)}
        self.next = np.array([place[one.next] for one in data.classes])
        self.query = np.array([rows[one.query] for one in data.classes])
        self.support = [np.array([place[token] for token in one.support]) for one in data.classes]
        self.summed = max(map(len, self.support))


@dataclass(frozen=True, eq=False)
class _Change:
    """The change of Y or Z in one step.

    Attributes
    ----------
    u : float
        The unit roundoffs of the file and of float64.
    before : weights before the step
    by : what it adds to them
    written : what writing both records may do to that
    """

    u: float
    before: Floats
    by: Floats
    written: Floats

    def without(self, last: "_Change | None", momentum: float) -> "_Change":
        """Less what momentum takes along from the step before."""
        if not momentum or last is None:
            return self
        return replace(self, by=self.by - momentum * last.by, written=self.written + momentum * last.written)

    @property
    def transposed(self) -> "_Change":
        """The change for transposed weights."""
        return replace(self, before=self.before.T, by=self.by.T, written=self.written.T)


@dataclass(frozen=True, eq=False)
class _Step:
    """From one record to the next one, a step later; ``last`` is the step before, where its records are there."""

    step: int
    Y: _Change
    Z: _Change
    last: "_Step | None"

    def of_Y(self, rule: Rule) -> _Change:
        """Y's step less its momentum, as [contextual token, next token]."""
        found = self.Y.without(None if self.last is None else self.last.Y, rule.momentum_y)
        return found.transposed if rule.transposed else found


@dataclass(frozen=True, eq=False)
class _Off:
    """A step beside the predicted one: their difference, what rounding explains of it, and the prediction."""

    apart: Floats
    bar: float
    predicted: Floats

    @property
    def error(self) -> float:
        return float(np.linalg.norm(self.apart))

    @property
    def within(self) -> bool:
        return self.error <= self.bar < inf

    @property
    def decided(self) -> bool:
        moved = float(np.linalg.norm(self.predicted))
        return self.bar < moved or self.error <= AGREES * moved


@dataclass(frozen=True, eq=False)
class _Sequence:
    """The class of a step, and its f and g, each with what rounding may do to it, entry by entry."""

    n: int
    f: Floats
    f_error: Floats
    g: Floats
    g_error: Floats


def compared_classes(
    data: SequenceClasses,
    decoder: Recorded,
    attention: Recorded,
    lr_y: float,
    lr_z: float,
    progress: Callable[[float], None] = lambda _: None,
) -> list[Compared]:
    """Y and Z, step by step up to the first that departs, and what was drawn.

    Parameters
    ----------
    data : SequenceClasses
    decoder, attention : Recorded
        Y, (M, M) [contextual token, next token], and Z, (queries, M), tokens in the order of `SequenceClasses.tokens`.
    lr_y, lr_z : float
        eta_Y and eta_Z.
    progress : callable
        Called with the share of the records that are compared.

    Returns
    -------
    list of Compared, of "Y" and "Z"
        The first record is taken as it is. What lies more than a step after the record before it is not decided.
    """
    tokens, rule, draws = _Tokens(data), Rule(lr_y, lr_z), _Draws(data)
    decided, at = {"Y": 1, "Z": 1}, None
    with np.errstate(all="ignore"):
        for i, step in _steps(decoder, attention):
            progress(i / len(decoder.step))
            for name, compare, rules in (("Y", _of_Y, _rules_of_Y), ("Z", _of_Z, _rules_of_Z)):
                off = compare(tokens, step, rule)
                decided[name] += off.decided or not off.within
                if not off.within:
                    some = partial(_steps, decoder, attention, i)
                    cause, value = _cause(tokens, some, rule, compare, rules(tokens, step, rule))
                    at = Departure(name, step.step, off.error, off.bar, _place(data, name, off), cause, value)
                    break
            if at is not None:
                break
            draws.add(tokens, step, _sequence(tokens, step, rule) if _of_Y(tokens, step, rule).decided else None)
        at = at or draws.departure(int(decoder.step[-1]))
    return [
        Compared(name, lr, len(decoder.step), decided[name], at if at is not None and at.stage == name else None)
        for name, lr in (("Y", lr_y), ("Z", lr_z))
    ]


def _steps(decoder: Recorded, attention: Recorded, first: int = 1) -> Iterator[tuple[int, _Step]]:
    """The steps that end at record ``first`` or later, but those to records that do not follow on the one before."""
    last = None
    for i in range(max(1, first - 1), len(decoder.step)):
        if decoder.step[i] != decoder.step[i - 1] + 1:
            last = None
            continue
        last = _Step(
            int(decoder.step[i]), _change(decoder, i), _change(attention, i), last and replace(last, last=None)
        )
        if i >= first:
            yield i, last


def _change(run: Recorded, i: int) -> _Change:
    before, after = (np.asarray(run.weights[k], dtype=np.float64) for k in (i - 1, i))
    u = run.roundoff + UNIT_ROUNDOFF
    return _Change(u, before, after - before, u * (np.abs(before) + np.abs(after)) + run.least)


def _sequence(tokens: _Tokens, step: _Step, rule: Rule, n: int | None = None) -> _Sequence | None:
    """The sequence that Y's step shows, of class n or that whose column grows; None where rounding hides it."""
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
    return _Sequence(n, f, f_error, g, alpha * (2 * off.max() + (len(alpha) + 4) * Y.u))


def _of_Y(tokens: _Tokens, step: _Step, rule: Rule, n: int | None = None) -> _Off:
    """Y's step beside the rule's."""
    Y, found = step.of_Y(rule), _sequence(tokens, step, rule, n)
    written = float(np.linalg.norm(Y.written))
    if found is None:
        return _hidden(tokens, Y, rule)
    predicted = rule.lr_y * np.outer(found.f, found.g)
    f, f_error, g, g_error = (float(np.linalg.norm(one)) for one in (found.f, found.f_error, found.g, found.g_error))
    bar = written + abs(rule.lr_y) * (f_error * g + f * g_error + 4 * Y.u * f * g)
    return _Off(Y.by - predicted, bar, predicted)


def _hidden(tokens: _Tokens, Y: _Change, rule: Rule) -> _Off:
    """Y's step where rounding hides which class it is of: as small as a step of one of them can be.

    Column n grows by lr (1 - alpha_n) at least, alpha_n <= 1/(1 + exp(-min_j |(Y_n - Y_j)_+|)) for f >= 0 of norm 1,
    Y_n and Y_j on the tokens of the class; and |g| is at most sqrt(2) (1 - alpha_n).
    """
    nothing, apart = np.full_like(Y.by, np.nan), np.zeros_like(Y.by)
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
        return _Off(apart, bar, nothing)
    return _Off(Y.by, float(np.linalg.norm(Y.written)) + _hidden_growth(tokens, Y, rule), nothing)


def _lost(tokens: _Tokens, Y: _Change, rule: Rule) -> float:
    """What 1 - alpha_n may lose, times the step size: a program may take it from logits, or from 1."""
    logits = float(np.abs(Y.before).max())
    return abs(rule.lr_y) * Y.u * (2 * (tokens.summed + 4) * logits + len(Y.by) + 4)


def _hidden_growth(tokens: _Tokens, Y: _Change, rule: Rule) -> float:
    """lr |g| is at most this where each column's growth is at most what writing may do to it."""
    return sqrt(2) * (2 * float(np.linalg.norm(Y.written, axis=0).max()) + _lost(tokens, Y, rule))


def _of_Z(tokens: _Tokens, step: _Step, rule: Rule, n: int | None = None) -> _Off:
    """Z's step beside the rule's, on the sequence that Y's step shows."""
    Z = step.Z.without(None if step.last is None else step.last.Z, rule.momentum_z)
    written, predicted, error = float(np.linalg.norm(Z.written)), np.zeros_like(Z.by), np.zeros_like(Z.by)
    found = _sequence(tokens, step, rule, n)
    Y = step.of_Y(rule)
    largest = np.abs(Y.before) + np.abs(Y.by)  # f g^T moves Z's gradient nowhere
    if found is None:
        g = np.divide(_hidden_growth(tokens, Y, rule), abs(rule.lr_y))
        return _Off(Z.by, written + 2 * abs(rule.lr_z) * float(np.linalg.norm(largest) * g), predicted + np.nan)
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
    return _Off(Z.by - predicted, written + float(np.linalg.norm(error)), predicted)


def _cause(
    tokens: _Tokens,
    steps: Callable[[], Iterator[tuple[int, _Step]]],
    rule: Rule,
    compare: Callable[[_Tokens, _Step, Rule], _Off],
    others: Iterable[tuple[str, Rule, float | None]],
) -> tuple[str | None, float | None]:
    """The first other rule under which all steps conform, two of which depart clearly from this one."""
    for cause, other, value in others:
        if value is not None and not isfinite(value):
            continue
        clear = 0
        for _, step in islice(steps(), 1 + FURTHER):
            found = compare(tokens, step, other)
            if not found.within:
                break
            clear += compare(tokens, step, rule).error > CLEAR * found.bar
        else:
            if clear >= 2:
                return cause, value
    return None, None


def _rules_of_Y(tokens: _Tokens, step: _Step, rule: Rule) -> Iterator[tuple[str, Rule, float | None]]:
    """Mistakes that move Y otherwise, in words and as rules, with their numbers."""
    if not step.Y.by.any():
        yield "step size 0", replace(rule, lr_y=0.0), 0.0
    others = (
        ("", rule),
        ("f not normalised", replace(rule, normalised=False)),
        ("a transposed Y", replace(rule, transposed=True)),
    )
    for cause, other in others:
        if cause:
            yield cause, other, None
        unit = _of_Y(tokens, step, replace(other, lr_y=1.0)).predicted
        lr = _share(step.of_Y(other).by, unit)
        yield " and ".join(filter(None, (cause, f"step size {lr:.4g}"))), replace(other, lr_y=lr), lr
    if step.last is not None:
        grown = (step.Y.without(step.last.Y, beta).by.sum(axis=0)[tokens.next].argmax() for beta in GRID)
        for n in dict.fromkeys(map(int, grown)):
            if (beta := _momentum(tokens, step, rule, n)) is not None:
                yield f"momentum ({beta:.4g})", replace(rule, momentum_y=beta), beta


def _rules_of_Z(tokens: _Tokens, step: _Step, rule: Rule) -> Iterator[tuple[str, Rule, float | None]]:
    """Mistakes that move Z alone otherwise, in words and as rules, with their numbers."""
    for cause, other in (
        ("", rule),
        ("no gradient through the norm of f", replace(rule, through_norm=False)),
    ):
        if cause:
            yield cause, other, None
        lr = _share(step.Z.by, _of_Z(tokens, step, replace(other, lr_z=1.0)).predicted)
        yield " and ".join(filter(None, (cause, f"step size {lr:.4g}"))), replace(other, lr_z=lr), lr
    if step.last is not None:
        beta = _share(_of_Z(tokens, step, rule).apart, step.last.Z.by)
        if 0 < beta < 1:
            yield f"momentum ({beta:.4g})", replace(rule, momentum_z=beta), beta


def _share(of: Floats, along: Floats) -> float:
    """How often one array is in the other, by least squares."""
    return float((of * along).sum() / (along * along).sum())


def _momentum(tokens: _Tokens, step: _Step, rule: Rule, n: int) -> float | None:
    """The momentum under which Y's step is nearest to one of class n."""

    def apart(beta: float) -> Floats:
        return _of_Y(tokens, step, replace(rule, momentum_y=beta), n).apart

    beta = min(GRID, key=lambda beta: float(np.linalg.norm(apart(beta))))
    for _ in range(ROUNDS):
        here = apart(beta)
        slope = (apart(beta * (1 + NUDGE)) - here) / (beta * NUDGE)
        beta -= _share(here, slope)
        if not 0 < beta < 1:
            return None
    return beta


def _place(data: SequenceClasses, name: str, off: _Off) -> str:
    """The next token of Y's column, or the query of Z's row, that is off most."""
    names = data.tokens if name == "Y" else tuple(data.queries)
    place = int(np.linalg.norm(off.apart, axis=0 if name == "Y" else 1).argmax())
    return names[place] if place < len(names) else f"number {place + 1}"


class _Draws:
    """Classes and shares of tokens, up to the first step that hides them: which one does depends on what it draws."""

    def __init__(self, data: SequenceClasses) -> None:
        self.data, self.of_class, self.ended = data, [_Shares(len(one.support)) for one in data.classes], False

    def add(self, tokens: _Tokens, step: _Step, found: _Sequence | None) -> None:
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
