"""Theorem 1 of arXiv 2305.16380: the gradient that reaches self-attention, and the sign of xi_n.

Y is where SGD with the modified gradient of Lemma 3 stands (eq. 26), which is what the theorem's proof takes it from.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import combinations, pairwise

import flint
import numpy as np
import scipy  # its subpackages load when first used
from numpy.typing import NDArray

from marginaudit.orders import counted
from marginaudit.orders.snap.assumptions import MUCH_GREATER
from marginaudit.reports.claim import BeyondTheRun, Claim
from marginaudit.reports.judgements import Bounded, Decided, Equal
from marginaudit.reports.judgements.bounded import LEAST, Threshold
from marginaudit.reports.judgements.parts import Parts
from marginaudit.reports.series import Series, rounded, series
from marginaudit.reports.snap.ball_sgd import BITS, ball, gradients
from marginaudit.reports.snap.conditions import RANGE_R, THEOREM_5, late_steps, outside_range_r, ratios
from marginaudit.reports.snap.run import ClassRun, evenly
from marginaudit.reports.verdict import Finding, Verdict
from marginaudit.training.snap.limit import (
    Approximation,
    Fluctuation,
    Overlap,
    backpropagated,
    class_counts,
    fluctuation,
    mended_beta,
    printed_beta,
    printed_iota,
    speed,
)

SOURCE = "arXiv 2305.16380"

ASSUMPTIONS = (*THEOREM_5, RANGE_R)

MATRICES = 24
"""Gradients that are compared, at most: so many records of a few seeds."""

SEEDS = 3

ENTRIES = 60_000
"""Entries of those gradients, at most, or those of one."""

ABOVE_ZERO = LEAST
"""The smallest float64 above 0, as the bound of what is to be positive."""

RECORDS = 20
"""Recorded steps at which every seed's xi is computed."""

COUNT_VECTORS = 3000
"""Ways in which few steps can fall on the classes, at most, that are all tried."""

AT_ONCE = 10**6
"""Entries of beta that are computed at once."""

LEVEL = 0.99
"""Of the bound on the probability of an exception."""


@dataclass(frozen=True)
class Compared:
    """Where the form of the gradient is compared.

    Attributes
    ----------
    step : (records,) array
        One for each seed and step.
    at : Fluctuation
        Of these records.
    counts : (records, classes) array
    """

    step: NDArray[np.int64]
    at: Fluctuation
    counts: NDArray[np.int64]


def compared(run: ClassRun) -> Compared:
    """A few seeds' records of t >> K^2."""
    seeds = min(SEEDS, run.config.seeds)
    step = late_steps(run, max(1, min(MATRICES, ENTRIES // run.K**2) // seeds))
    counts = class_counts(step.tolist(), run.dataset.frequencies, seeds, run.config.seed).reshape(-1, run.K)
    return Compared(np.tile(step, seeds), fluctuation(counts, run.M, run.eta_Y), counts)


def coefficients(run: ClassRun) -> Series:
    """iota_n, then beta_nn' for n' != n, of each class and record: those of the softmax and the matrices themselves."""
    where, own = compared(run), run.overlap
    speeds, found = speed(where.at.mean), []
    with flint.ctx.workprec(BITS):
        for record in range(len(where.step)):
            weights = gradients(own, where.at, record)
            gamma = ball(speeds.value[record], speeds.error[record])
            for n in range(run.K):
                found += [(weights[k, n] if k == n else -weights[k, n]) / gamma for k in _own_first(n, run.K)]
        values = [rounded(x) for x in found]
    names = run.dataset.next_tokens
    labels = [
        f"iota of {names[n]}" if k == n else f"beta of {names[n]}, {names[k]}"
        for n in range(run.K)
        for k in _own_first(n, run.K)
    ]
    return series(
        [value for value, _ in values],
        radius=[radius for _, radius in values],
        step=np.repeat(where.step, run.K**2),
        label=tuple(f"{label}, t = {t}" for t in where.step for label in labels),
    )


def formulas(beta: Callable[[Overlap, Fluctuation], Approximation]) -> Callable[[ClassRun], Series]:
    """Eq. 86 and a formula for beta at the entries of `coefficients`."""

    def expected(run: ClassRun) -> Series:
        where = compared(run)
        iota, others = printed_iota(run.overlap, where.at), beta(run.overlap, where.at)
        value, error = others.value.copy(), others.error.copy()
        own = np.arange(run.K)
        value[:, own, own], error[:, own, own] = iota.value, iota.error
        order = [_own_first(n, run.K) for n in range(run.K)]
        place = own[:, np.newaxis], np.array(order)
        return series(value[:, *place].ravel(), radius=error[:, *place].ravel())

    return expected


def _own_first(n: int, K: int) -> list[int]:
    return [n, *(k for k in range(K) if k != n)]


def _iotas(run: ClassRun) -> NDArray[np.float64]:
    """Iota of its class, for each of `coefficients`: what their rounding is relative to."""
    where = compared(run)
    return np.asarray(np.repeat(np.abs(printed_iota(run.overlap, where.at).value).ravel(), run.K), dtype=np.float64)


def farthest(run: ClassRun) -> dict[str, object] | None:
    """The coefficient that is farthest from eqs. 86 and 88, and how often each class had been drawn."""
    left, right = coefficients(run), formulas(printed_beta)(run)
    at = int(np.argmax(np.abs(left.value - right.value)))
    where = compared(run)
    return {
        "coefficient": left.label[at],
        "value": float(left.value[at]),
        "printed": float(right.value[at]),
        "mended": float(formulas(mended_beta)(run).value[at]),
        "counts": dict(
            zip(run.dataset.next_tokens, where.counts[at // run.K**2].tolist(), strict=True),
        ),
    }


FORM = Claim(
    id="snap.theorem1.form",
    source=f"{SOURCE}, Theorem 1, eqs. 9, 85, 86 and 88",
    statement=(
        "After t >> K^2 steps of batch size 1 from zero, g = Y(e_n - alpha_n) is gamma (iota_n f_n - sum over n' != n "
        "of beta_nn' f_n'), with gamma of eq. 85, iota of eq. 86 and beta of eq. 88. Y is that of eq. 26 (Theorem 5), "
        "theta and sigma are those of its rows, sigma each class's own."
    ),
    formula=r"g=\gamma\Bigl(\iota_n f_n-\sum_{n'\ne n}\beta_{nn'}f_{n'}\Bigr),\quad "
    r"\beta_{nn'}=(1+\sigma)\Bigl[q_1(1+\theta_n)E'_{nn'}+q_0\Bigl((1+\theta_{n'})+"
    r"\sum_{k\ne n}(1+\theta_k)E'_{kn'}\Bigr)\Bigr]",
    assumptions=ASSUMPTIONS,
    judgement=Equal(measure=coefficients, expected=formulas(printed_beta), scale=_iotas, witness=farthest, note=ratios),
    absent=outside_range_r,
    instead=(
        r"In eq. 88 the term $q_0(1+\theta_n')$ has a minus sign (snap.theorem1.form.rederived, docs/proofs-snap.md "
        r"section 3.2). $\beta$ about $E'$ comes from the modified gradient: under that of eq. 7 itself, two classes "
        r"of overlap 0.05 drawn in turn, 32 times each, have 0.11 of its $\xi$ at $M=300$, 0.008 at $M=5000$ and "
        r"0.00005 at $M=10^6$ ($\eta_Y=0.5$)."
    ),
)

FORM_REDERIVED = replace(
    FORM,
    id="snap.theorem1.form.rederived",
    source=f"{SOURCE}, Theorem 1, eqs. 9, 85, 86, and 88 with a sign re-derived",
    statement=FORM.statement.replace("beta of eq. 88", "beta of eq. 88 with - q_0 (1+theta_n')"),
    formula=FORM.formula.replace(r"(1+\theta_{n'})+", r"-(1+\theta_{n'})+"),
    judgement=Equal(measure=coefficients, expected=formulas(mended_beta), scale=_iotas, note=ratios),
    instead="",
)


def compositions(total: int, parts: int) -> Iterator[tuple[int, ...]]:
    """Every way in which so many steps can fall on so many classes.

    >>> list(compositions(2, 2))
    [(0, 2), (1, 1), (2, 0)]
    """
    for bars in combinations(range(total + parts - 1), parts - 1):
        edges = (-1, *bars, total + parts - 1)
        yield tuple(after - before - 1 for before, after in pairwise(edges))


def least_xi(run: ClassRun, counts: NDArray[np.int64]) -> tuple[Approximation, NDArray[np.int64]]:
    """The xi nearest to or farthest below 0 over all classes, of each row of counts, and whose it is."""
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


def _seeds(run: ClassRun) -> int:
    return min(run.config.seeds, max(1, 10 * AT_ONCE // (RECORDS * run.K**2)), 2000)


def seeds_least(run: ClassRun) -> Series:
    """Of all classes and seeds, the least xi at each recorded t >> K^2."""
    steps, seeds = late_steps(run, RECORDS), _seeds(run)
    counts = class_counts(steps.tolist(), run.dataset.frequencies, seeds, run.config.seed)
    found = [least_xi(run, counts[:, record])[0] for record in range(len(steps))]
    at = [int(np.argmin(xi.value - xi.error)) for xi in found]
    return series(
        [xi.value[i] for xi, i in zip(found, at, strict=True)],
        radius=[xi.error[i] for xi, i in zip(found, at, strict=True)],
        step=steps,
    )


XI_POSITIVE = Bounded(
    measure=seeds_least,
    lower=lambda _, t: np.full(len(t), ABOVE_ZERO),
    threshold=lambda run: Threshold(float(MUCH_GREATER * run.K**2)),
)


def exception(run: ClassRun) -> float:
    """K (e^(-.64 t/K) + e^(-2.5 t/K)) at t = 10 K^2 (docs/proofs-snap.md, section 3.4)."""
    mean = MUCH_GREATER * run.K
    return run.K * (math.exp(-0.64 * mean) + math.exp(-2.5 * mean))


def positive(run: ClassRun) -> Finding:
    """Theorem 1 (a) on every seed, and what that shows of the probability of an exception."""
    found, seeds = XI_POSITIVE.judge(run), _seeds(run)
    seen = f"Over {counted(seeds, 'seed')}."
    if found.verdict is Verdict.HOLDS:
        most = scipy.stats.binomtest(0, seeds, alternative="less").proportion_ci(LEVEL).high
        seen += (
            f" None is an exception: at each step one has a probability below {most:.2g}, at level {LEVEL:g}. It is "
            f"proved to be at most {exception(run):.2g} where {MUCH_GREATER} K^2 steps were taken, and is not 0 where "
            "snap.theorem1.a.any-t is violated."
        )
    return replace(found, detail=f"{found.detail} {seen} {ratios(run)}")


POSITIVE = Claim(
    id="snap.theorem1.a",
    source=f"{SOURCE}, Theorem 1 (a)",
    statement=(
        "Xi_n = gamma times the sum over n' != n of beta_nn' f_n^T f_n' is positive for every n after t >> K^2 steps, "
        "but for draws whose chance is at most K (e^(-.64 t/K) + e^(-2.5 t/K)); beta is what the gradient has."
    ),
    formula=r"\xi_n(t)=\gamma(t)\sum_{n'\ne n}\beta_{nn'}(t)f_n^\top f_{n'}\gt 0,\qquad t\gg K^2",
    assumptions=ASSUMPTIONS,
    judgement=Decided(positive, "lower bound in every seed"),
    absent=outside_range_r,
    instead="Not any $t$: see snap.theorem1.a.any-t.",
)


def few_steps(run: ClassRun) -> NDArray[np.int64]:
    """All counts of t = 1, 2, .. steps, for as many t as `COUNT_VECTORS` allows, shape (vectors, classes)."""
    most = min(COUNT_VECTORS, max(run.K, 50 * AT_ONCE // run.K**2))
    found: list[tuple[int, ...]] = []
    for t in range(1, int(run.steps.max(initial=0)) + 1):
        new = [*compositions(t, run.K)] if t > 1 or run.K == 1 else [tuple(row) for row in np.eye(run.K, dtype=int)]
        if found and len(found) + len(new) > most:
            break
        found += new
        if len(found) > most:
            break
    return np.array(found, dtype=np.int64).reshape(-1, run.K)


def one_class(run: ClassRun) -> NDArray[np.int64]:
    """The counts where every one of the recorded steps fell on one class, shape (vectors, classes)."""
    steps = np.unique(run.steps)
    chosen = steps[evenly(len(steps), RECORDS)]
    return np.asarray(chosen[:, np.newaxis, np.newaxis] * np.eye(run.K, dtype=np.int64)).reshape(-1, run.K)


def any_least(run: ClassRun) -> Series:
    """The least xi of all classes for counts that few steps can have, and where all steps fell on one class."""
    if not len(run.steps):
        raise BeyondTheRun("no step t >= 1 is recorded")
    counts = np.concatenate([few_steps(run), one_class(run)])
    found, least = least_xi(run, counts)
    names = run.dataset.next_tokens
    label = tuple(
        f"{names[n]} where " + ", ".join(f"{names[k]} was drawn {counted(row[k], 'time')}" for k in np.flatnonzero(row))
        for n, row in zip(least, counts, strict=True)
    )
    return series(found.value, radius=found.error, step=counts.sum(axis=1), label=label)


ANY_T = replace(
    POSITIVE,
    id="snap.theorem1.a.any-t",
    source=f"{SOURCE}, Theorem 1 (a) at any t",
    statement=(
        "Xi_n is positive for every n after any number of steps t >= 1, whichever classes they drew. (At t = 0 gamma "
        "is 0, and so is xi.)"
    ),
    formula=r"\xi_n(t)\gt 0,\qquad t\ge 1",
    judgement=Parts(
        {"Whatever is drawn": Bounded(measure=any_least, lower=lambda _, t: np.full(len(t), ABOVE_ZERO))},
        note=lambda run: f"All counts of the first steps, and each class alone at recorded ones. {ratios(run)}",
    ),
    instead=(
        r"It is positive for $t\ge1$, whatever is drawn, exactly where $E'_{nk}\gt 0$ for every pair $n\ne k$, as "
        "for $K=2$ or equal overlaps (docs/proofs-snap.md section 3.3)."
    ),
)

CLAIMS: tuple[Claim, ...] = (FORM, FORM_REDERIVED, POSITIVE, ANY_T)
