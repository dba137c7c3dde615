"""Diagnosis of a departure on sequence classes: mistakes of a program, as rules with a parameter or patterns of steps.

A rule predicts each step up to rounding. A pattern does not predict the steps; it is recognised by features of the
changes of Y that only one mistake produces.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from math import isfinite, sqrt
from typing import Any

import numpy as np

from marginaudit.orders.arrays import Floats
from marginaudit.training.departure import CLEAR, FEWEST, lower_precision, scheduled
from marginaudit.training.snap.recorded.batch import long_sequences, moments_of_Y
from marginaudit.training.snap.recorded.step import Off, Rule, Sequence, Step, Tokens, of_Y, of_Z, shown_sequence

FURTHER = 200
"""Number of further steps that a cause has to explain, if available: enough for a class to recur."""

CONFIRMED = 2
"""Number of clear departures needed to confirm a cause; many rules fit a single one."""

GRID, ROUNDS = (0.1, 0.3, 0.5, 0.7, 0.9, 0.95, 0.99), 8
"""Initial values of a momentum, and number of Gauss-Newton steps from the best, which converge quadratically."""

DECAYS = (1e-4, 1e-3, 1e-2, 1e-1)
"""Initial values of the share that weight decay subtracts."""

NUDGE = 1e-6
"""Relative change of a momentum for its numerical derivative."""

EQUAL = 1e-3
"""Largest relative difference of entries counted as equal: an optimizer's epsilon moves them apart."""

NEAR_MEAN = 0.1
"""Largest relative distance of a large batch's steps from their mean: about the root of 1/B for B sequences."""

BETAS = 0.9, 0.999
"""Default beta1 and beta2 of Adam."""

Compare = Callable[[Tokens, Step, Rule, Sequence | None], Off]


@dataclass(frozen=True)
class OtherRule:
    """A mistake as a rule.

    Attributes
    ----------
    value : float or None
        Parameter of the rule.
    tokens : Tokens or None
        Replacement for the tokens of the classes.
    """

    words: str
    rule: Rule
    value: float | None = None
    tokens: Tokens | None = None


def cause_of(
    tokens: Tokens,
    steps: Callable[[], Iterator[tuple[int, Step]]],
    rule: Rule,
    compare: Compare,
    others: Iterable[OtherRule],
) -> tuple[str | None, float | None]:
    """First other rule to which all steps conform, if at least `CONFIRMED` of them clearly depart from this one."""
    for cause in others:
        if cause.value is not None and not isfinite(cause.value):
            continue
        clear, own = 0, cause.tokens or tokens
        for _, step in islice(steps(), 1 + FURTHER):
            found = compare(own, step, cause.rule, shown_sequence(own, step, cause.rule))
            if not found.within:
                break
            clear += compare(tokens, step, rule, shown_sequence(tokens, step, rule)).error > CLEAR * found.bar
        else:
            if clear >= CONFIRMED:
                return cause.words, cause.value
    return None, None


def rules_of_Y(tokens: Tokens, step: Step, rule: Rule) -> Iterator[OtherRule]:
    """Mistakes in the update of Y: words, rules and parameters."""
    if not step.Y.by.any():
        yield OtherRule("step size 0", replace(rule, lr_y=0.0), 0.0)
    others = (
        ("", rule),
        ("f not normalised", replace(rule, normalised=False)),
        ("a transposed Y", replace(rule, transposed=True)),
    )
    for cause, other in others:
        if cause:
            yield OtherRule(cause, other)
        unit = of_Y(tokens, step, replace(other, lr_y=1.0), shown_sequence(tokens, step, other))
        lr = _share(step.of_Y(other).by, unit.predicted)
        yield OtherRule(" and ".join(filter(None, (cause, f"step size {lr:.4g}"))), replace(other, lr_y=lr), lr)
    if step.last is not None:
        grown = (step.Y.without(step.last.Y, beta).by.sum(axis=0)[tokens.next].argmax() for beta in GRID)
        for n in dict.fromkeys(map(int, grown)):
            if (beta := _number(tokens, step, rule, n, "momentum_y", GRID)) is not None:
                yield OtherRule(f"momentum ({beta:.4g})", replace(rule, momentum_y=beta), beta)
    n = int(step.Y.by.sum(axis=0)[tokens.next].argmax())
    if (share := _number(tokens, step, rule, n, "decay_y", DECAYS)) is not None:
        yield OtherRule(f"weight decay ({share / rule.lr_y:.4g})", replace(rule, decay_y=share), share / rule.lr_y)
    for words, rows in (("query", tokens.query_rows), ("next token", tokens.next)):
        yield OtherRule(f"another mask (the {words} is attended too)", rule, tokens=tokens.attending(rows.tolist()))


def rules_of_Z(tokens: Tokens, step: Step, rule: Rule) -> Iterator[OtherRule]:
    """Mistakes in the update of Z alone: words, rules and parameters."""
    if not step.Z.by.any():
        yield OtherRule("step size 0", replace(rule, lr_z=0.0), 0.0)
    shown = shown_sequence(tokens, step, rule)
    for cause, other in (
        ("", rule),
        ("no gradient through the norm of f", replace(rule, through_norm=False)),
    ):
        if cause:
            yield OtherRule(cause, other)
        lr = _share(step.Z.by, of_Z(tokens, step, replace(other, lr_z=1.0), shown).predicted)
        yield OtherRule(" and ".join(filter(None, (cause, f"step size {lr:.4g}"))), replace(other, lr_z=lr), lr)
    apart = of_Z(tokens, step, rule, shown).apart
    if step.last is not None:
        beta = _share(apart, step.last.Z.by)
        if 0 < beta < 1:
            yield OtherRule(f"momentum ({beta:.4g})", replace(rule, momentum_z=beta), beta)
    share = -_share(apart, step.Z.before)
    if 0 < share < 1:
        yield OtherRule(f"weight decay ({share / rule.lr_z:.4g})", replace(rule, decay_z=share), share / rule.lr_z)


def pattern_of(
    tokens: Tokens, steps: Callable[[], Iterator[tuple[int, Step]]], rule: Rule, compare: Compare
) -> tuple[str | None, float | None]:
    """First pattern matched by the departing step and the next ones, with its parameter."""
    taken = [step for _, step in islice(steps(), 1 + FURTHER)]
    rows = [compare(tokens, step, rule, shown_sequence(tokens, step, rule)) for step in taken]
    patterns = (_one_step, _by_entry, _muon, _schedule, _rounded, _large_batch, _batch)
    found = (pattern(tokens, taken, rows, rule, compare) for pattern in patterns)
    return next((answer for answer in found if answer is not None), (None, None))


Answer = tuple[str, float | None]


def _one_step(tokens: Tokens, taken: list[Step], rows: list[Off], rule: Rule, _: Compare) -> Answer | None:
    """One step skipped or taken twice; all later steps conform."""
    step = taken[0]
    if len(rows) <= CONFIRMED or not all(row.within and row.decided for row in rows[1 : 1 + CONFIRMED]):
        return None
    if not all(row.within for row in rows[1:]):
        return None
    if not step.Y.by.any() and not step.Z.by.any():
        return f"step {step.step} skipped", None
    unit = of_Y(tokens, step, replace(rule, lr_y=1.0), shown_sequence(tokens, step, rule)).predicted
    times = _share(step.Y.by, unit) / rule.lr_y
    return (f"step {step.step} taken twice", None) if _rank(step) == 2 or (_rank(step) == 1 < times <= 2) else None


def _by_entry(_: Tokens, taken: list[Step], __: list[Off], ___: Rule, ____: Compare) -> Answer | None:
    """Optimizers that normalise each entry by its own size: from Y = 0, all entries first move by an equal length.

    This length is constant under sign descent (for all moves), Adagrad, and RMSprop (ten step sizes). Under Adam it
    decreases, as its means start at 0, and the row of a token keeps moving in steps without the token.
    """
    lengths, sizes, decays = [], [], []
    for t, step in enumerate(taken, 1):
        size = np.abs(step.Y.by)
        new = ~step.Y.before.any(axis=1) & size.any(axis=1)
        if step.step != t or (t == 1 and (step.Y.before.any() or not new.any())) or not _equal(size[new]):
            return None
        sizes.append(_equal(size[size > 0]))
        first, second = (1 - beta for beta in BETAS)
        scale = first / (1 - BETAS[0] ** t) / sqrt(second / (1 - BETAS[1] ** t))
        if new.any():
            lengths.append((float(size[new].max()), float(size[new].max() / scale)))
        if t == 2:
            lr, before = lengths[0][0], np.abs(step.Y.before)
            left = BETAS[0] * scale / sqrt(BETAS[1])
            for moved, row in zip(size, before, strict=True):
                if row.any() and _equal(moved[np.newaxis]) and abs(moved.max() / lr - left) < left / 2:
                    decays.append(float(left - moved.max() / lr) / float(row.max()))
    constant, falling = (max(each) - min(each) <= EQUAL * max(each) for each in zip(*lengths, strict=True))
    lr = lengths[0][0]
    if all(sizes):
        return f"sign descent (step size {lr:.4g})", lr
    if falling and len(lengths) > 1:
        decay = float(np.median(decays)) if decays else 0.0
        if decay > EQUAL:
            return f"AdamW (step size {lr:.4g}, weight decay {decay:.2g})", lr
        return f"Adam (step size {lr:.4g})", lr
    if not constant or len(lengths) < 2:
        return None
    return f"Adagrad (step size {lr:.4g}) or RMSprop (step size {lr / 10:.4g})", lr


def _equal(sizes: Floats) -> bool:
    """Whether all entries have equal size."""
    return not sizes.size or bool(sizes.min() > 0 and sizes.max() - sizes.min() <= EQUAL * sizes.max())


def _muon(_: Tokens, taken: list[Step], __: list[Off], ___: Rule, ____: Compare) -> Answer | None:
    """Muon: each step has nearly equal, constant singular values; SGD's step on one sequence has rank one."""
    medians, ranks = [], []
    for step in taken:
        singular = np.linalg.svd(step.Y.by, compute_uv=False)
        kept = singular[singular > singular[0] / 20]
        if not kept.size or kept[0] > 2.5 * kept[-1]:
            return None
        medians.append(float(np.median(kept)))
        ranks.append(len(kept))
    if len(taken) < FEWEST or max(ranks) < 2 or ranks != sorted(ranks) or max(medians) > 2 * min(medians):
        return None
    size = float(np.median(medians))
    return f"Muon (step size about {size:.2g})", size


def _schedule(tokens: Tokens, taken: list[Step], rows: list[Off], rule: Rule, compare: Compare) -> Answer | None:
    """A step size that varies from step to step."""
    sizes = []
    name = "lr_y" if compare is of_Y else "lr_z"
    for step, row in zip(taken, rows, strict=True):
        shown = shown_sequence(tokens, step, rule)
        if shown is None or not row.predicted.any():
            continue
        change = step.of_Y(rule) if compare is of_Y else step.Z
        size = _share(change.by, row.predicted) * getattr(rule, name)
        found = compare(tokens, step, _with(rule, name, size), shown)
        if not (found.within and found.decided and size > 0):
            return None
        sizes.append((size, step.step))
    if not scheduled([size for size, _ in sizes]):
        return None
    (begun, t), (ended, last) = sizes[0], sizes[-1]
    return f"a schedule of step sizes ({begun:.4g} at step {t}, {ended:.4g} at step {last})", None


def _rounded(tokens: Tokens, taken: list[Step], rows: list[Off], rule: Rule, compare: Compare) -> Answer | None:
    """Precision lower than the file's: errors vary from step to step and have the size of its rounding."""
    changes = []
    for step, row in zip(taken, rows, strict=True):
        shown = shown_sequence(tokens, step, rule)
        if shown is None:
            return None
        change = row.predicted.copy()
        if compare is of_Y:
            change[:, tokens.next[shown.n]] = 0.0  # the column that shows the sequence, rounding included
        changes.append(change)

    def explains(u: float) -> bool:
        other = replace(rule, u=u)
        return all(compare(tokens, step, other, shown_sequence(tokens, step, other)).within for step in taken)

    return lower_precision([row.apart for row in rows], changes, [1] * len(taken), taken[0].Y.u, explains)


def _batch(tokens: Tokens, taken: list[Step], _: list[Off], rule: Rule, __: Compare) -> Answer | None:
    """Several sequences per step: several next tokens gain, all others lose, and each row sums to 0."""
    most, ranks = 0.0, []
    others = np.ones(len(taken[0].Y.by), dtype=bool)
    others[tokens.next] = False
    for step in taken:
        by, size = step.Y.by, np.abs(step.Y.by)
        if (by[:, others] > EQUAL * size.max()).any() or (np.abs(by.sum(axis=1)) > EQUAL * size.sum(axis=1)).any():
            return None
        most = max(most, float(np.linalg.norm(np.maximum(by, 0.0))))
        ranks.append(_rank(step))
    if len(taken) < FEWEST or max(ranks) < 2:
        return None
    larger = ", with momentum or a larger step size" if most > rule.lr_y * (1 + EQUAL) else ""
    return f"a batch of sequences at each step{larger}", None


def _large_batch(tokens: Tokens, taken: list[Step], _: list[Off], __: Rule, compare: Compare) -> Answer | None:
    """A large batch, with momentum: steps of Y near beta times the previous one plus lr times the mean step.

    The variance around that is about the classes' over the size of the batch, which is estimated from it.
    """
    if compare is not of_Y or len(taken) < FEWEST:
        return None
    long = long_sequences(tokens)
    draws = [moments_of_Y(tokens, step.Y.before, step.Z.before, long, batch=1) for step in taken]
    last = [np.zeros_like(step.Y.by) if step.last is None else step.last.Y.by for step in taken]
    columns = np.column_stack([np.ravel(last), np.ravel([one.mean for one in draws])])
    steps = np.ravel([step.Y.by for step in taken])
    (beta, lr), *_ = np.linalg.lstsq(columns, steps, rcond=None)
    off = np.linalg.norm(steps - columns @ (beta, lr))
    if not (0 <= beta < 1 and lr > 0 and off < NEAR_MEAN * np.linalg.norm(steps)):
        return None
    batch = lr**2 * sum(one.variance.sum() for one in draws) / off**2
    return (
        f"large batches (about {batch:.0f} sequences), momentum about {beta:.2g}, and step size about {lr:.2g}",
        None,
    )


def _rank(step: Step) -> int:
    """Rank of Y's step, up to the rounding of the records; 1 for one sequence."""
    singular = np.linalg.svd(step.Y.by, compute_uv=False)
    return int(np.sum(singular > CLEAR * np.linalg.norm(step.Y.written)))


def _with(rule: Rule, name: str, number: float) -> Rule:
    """Rule with another value of a parameter."""
    changes: dict[str, Any] = {name: number}
    return replace(rule, **changes)


def _share(of: Floats, along: Floats) -> float:
    """Least-squares coefficient of one array along another."""
    return float((of * along).sum() / (along * along).sum())


def _number(tokens: Tokens, step: Step, rule: Rule, n: int, name: str, grid: tuple[float, ...]) -> float | None:
    """Momentum or weight decay, from 0 to 1, that fits Y's step best as a step of class n."""

    def apart(number: float) -> Floats:
        other = _with(rule, name, number)
        return of_Y(tokens, step, other, shown_sequence(tokens, step, other, n)).apart

    number = min(grid, key=lambda number: float(np.linalg.norm(apart(number))))
    for _ in range(ROUNDS):
        here = apart(number)
        slope = (apart(number * (1 + NUDGE)) - here) / (number * NUDGE)
        number -= _share(here, slope)
        if not 0 < number < 1:
            return None
    return number
