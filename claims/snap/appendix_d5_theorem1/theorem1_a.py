"""Theorem 1 (a): xi_n is positive."""

import math
from collections.abc import Iterator
from dataclasses import replace
from decimal import ROUND_CEILING, Context
from functools import partial
from itertools import combinations, pairwise

import numpy as np
from numpy.typing import NDArray

from marginaudit.claims.claim import BeyondTheRun, Claim
from marginaudit.claims.judgements import Bounded, Decided, Parts, Threshold
from marginaudit.claims.quotation import quoted
from marginaudit.claims.series import Series, series
from marginaudit.claims.snap.appendix_d5_theorem1.overlap import (
    NOT_POSITIVE,
    POSITIVE,
    no_known_nonpositive,
    some_not_positive,
)
from marginaudit.claims.snap.appendix_d5_theorem1.theorem1 import ASSUMPTIONS
from marginaudit.claims.snap.conditions import late_steps, outside_range_r, ratios
from marginaudit.claims.snap.readings import IN_RANGE_R, PAGE, SOURCE, variant
from marginaudit.claims.snap.run import ClassRun, evenly_spaced
from marginaudit.claims.standing import Implication, Severity, contradicts, proved, refuted
from marginaudit.claims.verdict import LEAST, Finding, Verdict
from marginaudit.orders import counted
from marginaudit.orders.snap.assumptions import MUCH_GREATER
from marginaudit.training.approximation import Approximation, stacked
from marginaudit.training.snap.counts.drawn import class_counts
from marginaudit.training.snap.limit.backpropagated import backpropagated
from marginaudit.training.snap.limit.fluctuation import fluctuation

ANY_T_PROOF = PAGE + "33-snaptheorem1aany-t"

RECORDS = 20
"""Number of recorded steps to compute xi of every seed at."""

COUNT_VECTORS = 3000
"""Most splits of a few steps among the classes for an exhaustive search."""

AT_ONCE = 10**6
"""Entries of beta per batch."""

LEVEL = 0.99
"""Confidence level of the bound on the probability of an exception."""


def least_xi(run: ClassRun, counts: NDArray[np.int64]) -> tuple[Approximation, NDArray[np.int64]]:
    """The least xi over the classes for each row of counts, with the class."""
    value, error, least = [], [], []
    size = max(1, AT_ONCE // run.K**2)
    for start in range(0, len(counts), size):
        xi = backpropagated(run.overlap, fluctuation(counts[start : start + size], run.M, run.eta_Y)).xi
        at = np.argmin(xi.value - xi.error, axis=1)
        every = np.arange(len(at))
        value.append(xi.value[every, at])
        error.append(xi.error[every, at])
        least.append(at)
    return Approximation(np.concatenate(value), np.concatenate(error)), np.concatenate(least)


def seeds_judged(run: ClassRun) -> int:
    """Number of seeds to judge."""
    return min(run.config.seeds, max(1, 10 * AT_ONCE // (RECORDS * run.K**2)), 2000)


def seeds_least(run: ClassRun) -> Series:
    """The least xi over all classes and seeds, at each recorded t >> K^2."""
    steps, seeds = late_steps(run, RECORDS), seeds_judged(run)
    counts = class_counts(steps.tolist(), run.dataset.frequencies, seeds, run.config.seed)
    each = [least_xi(run, counts[:, record])[0] for record in range(len(steps))]
    found = stacked([xi[int(np.argmin(xi.value - xi.error))] for xi in each])
    return series(found.value, radius=found.error, step=steps)


XI_POSITIVE = Bounded(
    measure=seeds_least,
    lower=lambda _, t: np.full(len(t), LEAST),
    threshold=lambda run: Threshold(float(MUCH_GREATER * run.K**2)),
)


def exception(run: ClassRun) -> float:
    """K (e^(-.64 t/K) + e^(-2.5 t/K)) at t = 10 K^2 (docs/proofs-snap.md, section 3.4)."""
    mean = MUCH_GREATER * run.K
    return run.K * (math.exp(-0.64 * mean) + math.exp(-2.5 * mean))


def positive(run: ClassRun, bound: Bounded) -> Finding:
    """Claim of Theorem 1 (a) on every seed, with a bound on the probability of an exception."""
    found, seeds = bound.judge(run), seeds_judged(run)
    seen = f"Over {counted(seeds, 'seed')}."
    if found.verdict is Verdict.HOLDS:
        most = 1 - (1 - LEVEL) ** (1 / seeds)  # all seeds avoid exceptions with probability 1 - LEVEL
        seen += (
            f" None is an exception: at each step one has a probability below {_up(most)}, at level {LEVEL:g}. It is "
            f"proved to be at most {_up(exception(run))} where {MUCH_GREATER} K^2 steps were taken, and is not 0 where "
            "snap.theorem1.a.any-t is violated."
        )
    return replace(found, detail=f"{found.detail} {seen} {ratios(run)}")


def _up(bound: float) -> str:
    return f"{float(Context(prec=2, rounding=ROUND_CEILING).create_decimal_from_float(bound)):.2g}"


A_QUOTATION = "xi_n(t) := gamma(t) sum_{n != n'} beta_nn'(t) f_n^T(t) f_n'(t) > 0 for any n in [K] and any t"

A = Claim(
    id="snap.theorem1.a",
    source=f"{SOURCE}, Theorem 1 (a)",
    source_words=quoted(
        "section 4, Theorem 1 (a); appendix D.5",
        A_QUOTATION,
        '"Any t" is any t that the theorem covers, t >> K^2, except for draws that the source omits; their probability '
        f"has to vanish exponentially in t/K. {IN_RANGE_R}; t >= 10 K^2.",
    ),
    statement=(
        "Xi_n = gamma times the sum over n' != n of beta_nn' f_n^T f_n' is positive for every n after t >> K^2 steps, "
        "except for draws of probability at most K (e^(-.64 t/K) + e^(-2.5 t/K)); beta is what the gradient has."
    ),
    formula=r"\xi_n(t)=\gamma(t)\sum_{n'\ne n}\beta_{nn'}(t)f_n^\top f_{n'}\gt 0,\qquad t\gg K^2",
    assumptions=ASSUMPTIONS,
    standing=proved(PAGE + "34-snaptheorem1a", "snap.theorem1.form.rederived", "snap.theorem5.rederived", hunted=8),
    judgement=Decided(partial(positive, bound=XI_POSITIVE), "lower bound in every seed"),
    absent=outside_range_r,
    instead="Not any $t$: see snap.theorem1.a.any-t.",
)


def compositions(total: int, parts: int) -> Iterator[tuple[int, ...]]:
    """All splits of a number of steps among a number of classes.

    >>> list(compositions(2, 2))
    [(0, 2), (1, 1), (2, 0)]
    """
    for bars in combinations(range(total + parts - 1), parts - 1):
        edges = (-1, *bars, total + parts - 1)
        yield tuple(after - before - 1 for before, after in pairwise(edges))


def few_steps(run: ClassRun) -> NDArray[np.int64]:
    """All counts of t = 1, 2, .. steps, for as many t as `COUNT_VECTORS` allows, shape (vectors, classes)."""
    most = min(COUNT_VECTORS, max(run.K, 50 * AT_ONCE // run.K**2))
    found: list[tuple[int, ...]] = []
    for t in range(1, int(run.drawn_steps.max(initial=0)) + 1):
        new = [*compositions(t, run.K)] if t > 1 or run.K == 1 else [tuple(row) for row in np.eye(run.K, dtype=int)]
        if found and len(found) + len(new) > most:
            break
        found += new
        if len(found) > most:
            break
    return np.array(found, dtype=np.int64).reshape(-1, run.K)


def one_class_alone(run: ClassRun) -> NDArray[np.int64]:
    """Counts of runs that draw a single class up to a recorded step, shape (vectors, classes)."""
    steps = np.unique(run.drawn_steps)
    chosen = steps[evenly_spaced(len(steps), RECORDS)]
    return np.asarray(chosen[:, np.newaxis, np.newaxis] * np.eye(run.K, dtype=np.int64)).reshape(-1, run.K)


def any_least(run: ClassRun) -> Series:
    """The least xi over the classes, for all counts of few steps and for steps on a single class."""
    if not len(run.drawn_steps):
        raise BeyondTheRun("no step t >= 1 is recorded")
    counts = np.concatenate([few_steps(run), one_class_alone(run)])
    found, least = least_xi(run, counts)
    names = run.dataset.next_tokens
    label = tuple(
        f"{names[n]} where " + ", ".join(f"{names[k]} was drawn {counted(row[k], 'time')}" for k in np.flatnonzero(row))
        for n, row in zip(least, counts, strict=True)
    )
    return series(found.value, radius=found.error, step=counts.sum(axis=1), label=label)


A_ANY_T = variant(
    A,
    "any-t",
    '"Any t" word for word: after every number of steps from 1 on, whichever classes they drew.',
    source=f"{A.source} at any t",
    statement=(
        "Xi_n is positive for every n after any number of steps t >= 1, whichever classes they drew. (At t = 0 gamma "
        "is 0, and so is xi.)"
    ),
    formula=r"\xi_n(t)\gt 0,\qquad t\ge 1",
    standing=refuted(
        ANY_T_PROOF,
        "snap.theorem1.form.rederived",
        severity=Severity.ORDINARY,
        wrong=(
            "Theorem 1 (a) needs t >> K^2: while all steps have drawn one class, xi of a class that shares no token "
            "with it can be zero or negative."
        ),
        hunted=273,
        weakest=POSITIVE,
    ),
    implications=(
        contradicts(
            "snap.theorem1.form.rederived",
            condition=NOT_POSITIVE,
            proof=ANY_T_PROOF,
            unmet=no_known_nonpositive,
        ),
        Implication(
            sources=("snap.theorem1.form.rederived",), condition=POSITIVE, proof=ANY_T_PROOF, unmet=some_not_positive
        ),
    ),
    judgement=Parts(
        {"Whatever is drawn": Bounded(measure=any_least, lower=lambda _, t: np.full(len(t), LEAST))},
        note=lambda run: f"All counts of the first steps, and each class alone at recorded ones. {ratios(run)}",
    ),
    instead=(
        r"It is positive for $t\ge1$, whatever is drawn, exactly where $E'_{nk}\gt 0$ for every pair $n\ne k$, as "
        "for $K=2$ or equal overlaps (docs/proofs-snap.md section 3.3)."
    ),
)

CLAIMS: tuple[Claim, ...] = (A, A_ANY_T)
