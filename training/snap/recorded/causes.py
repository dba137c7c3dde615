"""Causes of a departure on sequence classes: mistakes of a program, each as a rule, with its number."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import islice
from math import isfinite

import numpy as np

from marginaudit.orders.arrays import Floats
from marginaudit.training.conformity import CLEAR
from marginaudit.training.snap.recorded.step import Off, Rule, Sequence, Step, Tokens, of_Y, of_Z, shown_sequence

FURTHER = 200
"""Further steps that a cause has to explain, where there are as many: a class has to come back."""

CONFIRMED = 2
"""Steps that depart clearly and speak for a cause: many rules fit a single one."""

GRID, ROUNDS = (0.1, 0.3, 0.5, 0.7, 0.9, 0.95, 0.99), 8
"""Momenta to begin with, and the Gauss-Newton steps from the nearest: the square of its error is left after each."""

NUDGE = 1e-6
"""A relative change of a momentum, for its derivative."""


def cause_of(
    tokens: Tokens,
    steps: Callable[[], Iterator[tuple[int, Step]]],
    rule: Rule,
    compare: Callable[[Tokens, Step, Rule, Sequence | None], Off],
    others: Iterable[tuple[str, Rule, float | None]],
) -> tuple[str | None, float | None]:
    """The first other rule under which all steps conform, `CONFIRMED` of which depart clearly from this one."""
    for cause, other, value in others:
        if value is not None and not isfinite(value):
            continue
        clear = 0
        for _, step in islice(steps(), 1 + FURTHER):
            found = compare(tokens, step, other, shown_sequence(tokens, step, other))
            if not found.within:
                break
            clear += compare(tokens, step, rule, shown_sequence(tokens, step, rule)).error > CLEAR * found.bar
        else:
            if clear >= CONFIRMED:
                return cause, value
    return None, None


def rules_of_Y(tokens: Tokens, step: Step, rule: Rule) -> Iterator[tuple[str, Rule, float | None]]:
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
        unit = of_Y(tokens, step, replace(other, lr_y=1.0), shown_sequence(tokens, step, other))
        lr = _share(step.of_Y(other).by, unit.predicted)
        yield " and ".join(filter(None, (cause, f"step size {lr:.4g}"))), replace(other, lr_y=lr), lr
    if step.last is not None:
        grown = (step.Y.without(step.last.Y, beta).by.sum(axis=0)[tokens.next].argmax() for beta in GRID)
        for n in dict.fromkeys(map(int, grown)):
            if (beta := _momentum(tokens, step, rule, n)) is not None:
                yield f"momentum ({beta:.4g})", replace(rule, momentum_y=beta), beta


def rules_of_Z(tokens: Tokens, step: Step, rule: Rule) -> Iterator[tuple[str, Rule, float | None]]:
    """Mistakes that move Z alone otherwise, in words and as rules, with their numbers."""
    shown = shown_sequence(tokens, step, rule)
    for cause, other in (
        ("", rule),
        ("no gradient through the norm of f", replace(rule, through_norm=False)),
    ):
        if cause:
            yield cause, other, None
        lr = _share(step.Z.by, of_Z(tokens, step, replace(other, lr_z=1.0), shown).predicted)
        yield " and ".join(filter(None, (cause, f"step size {lr:.4g}"))), replace(other, lr_z=lr), lr
    if step.last is not None:
        beta = _share(of_Z(tokens, step, rule, shown).apart, step.last.Z.by)
        if 0 < beta < 1:
            yield f"momentum ({beta:.4g})", replace(rule, momentum_z=beta), beta


def _share(of: Floats, along: Floats) -> float:
    """How often one array is in the other, by least squares."""
    return float((of * along).sum() / (along * along).sum())


def _momentum(tokens: Tokens, step: Step, rule: Rule, n: int) -> float | None:
    """The momentum under which Y's step is nearest to one of class n."""

    def apart(beta: float) -> Floats:
        other = replace(rule, momentum_y=beta)
        return of_Y(tokens, step, other, shown_sequence(tokens, step, other, n)).apart

    beta = min(GRID, key=lambda beta: float(np.linalg.norm(apart(beta))))
    for _ in range(ROUNDS):
        here = apart(beta)
        slope = (apart(beta * (1 + NUDGE)) - here) / (beta * NUDGE)
        beta -= _share(here, slope)
        if not 0 < beta < 1:
            return None
    return beta
