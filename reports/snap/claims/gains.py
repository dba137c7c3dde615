"""Theorem 3 of arXiv 2305.16380: how far distinct tokens leave each other behind."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from marginaudit.orders.snap import common_tokens, distinct_tokens
from marginaudit.reports.claim import BeyondTheRun, Claim, NotFollowed
from marginaudit.reports.judgements import Bounded, Equal, Parts
from marginaudit.reports.judgements.bounded import LEAST
from marginaudit.reports.run import once_a_run
from marginaudit.reports.series import FORMULA_ROUNDING, Series, series
from marginaudit.reports.snap.conditions import THEOREM_5
from marginaudit.reports.snap.eq10 import (
    EQ_10,
    how_long_assumption_2_holds,
    meets_assumption_2,
    no_equation,
    no_path,
    rates_along,
)
from marginaudit.reports.snap.run import ClassRun, evenly
from marginaudit.training.snap.attention import Logits
from marginaudit.training.snap.limit import Approximation
from marginaudit.training.snap.sgd.recipe import Recipe
from marginaudit.training.snap.sgd.train import train_sampled

SOURCE = "arXiv 2305.16380"

MOST_PAIRS = 60
"""Pairs of distinct tokens that are compared, at most, evenly through them."""

COMPARED = 12
"""Steps at which they are."""

SECTION_8 = Recipe(updates=25)
"""How the experiments train; a quarter of their updates."""

LARGEST = 200_000
"""Tokens of a class times M up to which that is run."""

LARGEST_Z, LARGEST_RATIO = 100.0, 1e50
"""Up to here exp(2 z) of two tokens is a float64, times the square of the ratio of their probabilities."""

MOVED = 1e-10
"""Step sizes are changed by this part, more than all rounding, to see what a run's rounding can do."""


def token_pairs(run: ClassRun) -> list[tuple[int, str, str]]:
    """A class and two of its distinct tokens in either order."""
    own = distinct_tokens(run.dataset)
    found = [
        (n, l, other)
        for n, c in enumerate(run.dataset.classes)
        for l in own[c.next]  # noqa: E741
        for other in own[c.next]
        if l != other
    ]
    chosen = evenly(len(found), MOST_PAIRS)
    return [found[i] for i in chosen] if found else []


def squared_ratio(run: ClassRun, n: int, l: str, other: str) -> float:  # noqa: E741
    """(P(l|n)/P(l'|n))^2.

    Raises
    ------
    BeyondTheRun
        The ratio is beyond `LARGEST_RATIO`.
    """
    P = run.dataset.classes[n].probabilities
    if P[l] > LARGEST_RATIO * P[other]:
        raise BeyondTheRun(f"P({l}|n)/P({other}|n) is beyond {LARGEST_RATIO:g}, whose square float64 has no room for")
    return float((P[l] / P[other]) ** 2)


def both_sides(run: ClassRun, logits: Logits, z: Approximation, step: NDArray[np.int64]) -> tuple[Series, Series]:
    """r_{l/l'}(t) = f_nl^2/f_nl'^2 - 1 and r(0) chi_l(t) of each pair and step; z is over steps from 0 on and pairs.

    Raises
    ------
    BeyondTheRun
        Powers of z, or of a ratio of probabilities, leave float64.
    """
    if not np.abs(z.value).max(initial=0.0) + z.error.max(initial=0.0) < LARGEST_Z:
        raise BeyondTheRun(f"z leaves the numbers up to {LARGEST_Z:g}, of whose powers float64 has products")
    left, right, left_bar, right_bar, at, label = [], [], [], [], [], []
    for n, l, other in token_pairs(run):  # noqa: E741
        i, j = logits.position(n, l), logits.position(n, other)
        squared = squared_ratio(run, n, l, other)
        gone = z - z[0]
        start = squared * np.exp(2 * (z.value[0, i] - z.value[0, j]))
        now = squared * np.exp(2 * (z.value[1:, i] - z.value[1:, j]))
        chi = np.exp(2 * gone.value[1:, i])
        left.append(now - 1)
        right.append((start - 1) * chi)
        bars = np.expm1(2 * (z.error[1:, i] + z.error[1:, j] + z.error[0, i] + z.error[0, j]))
        left_bar.append(now * bars + FORMULA_ROUNDING * (now + 1))
        right_bar.append(abs(start - 1) * chi * np.expm1(2 * gone.error[1:, i]) + FORMULA_ROUNDING * (start + 1) * chi)
        at.append(step[1:])
        label += [f"{l} over {other} of {run.dataset.next_tokens[n]}, t = {t}" for t in step[1:]]
    if not left:
        return series([], radius=0), series([], radius=0)
    place = np.concatenate(at)
    sides = [
        series(np.concatenate(value), radius=np.concatenate(bar), step=place, label=tuple(label))
        for value, bar in ((left, left_bar), (right, right_bar))
    ]
    return sides[0], sides[1]


@once_a_run
def along_the_flow(run: ClassRun) -> tuple[Series, Series]:
    """Both sides of eq. 11 along eq. 10."""
    chosen = evenly(len(run.steps), COMPARED)
    none = np.zeros((1, len(run.path.logits.names)))
    z = Approximation(np.vstack([none, run.path.z.value[chosen]]), np.vstack([none, run.path.z.error[chosen]]))
    return both_sides(run, run.path.logits, z, np.concatenate([[0], run.steps[chosen]]))


def _scale(run: ClassRun, sides: tuple[Series, Series]) -> NDArray[np.float64]:
    return np.asarray(np.abs(sides[0].value) + np.abs(sides[1].value) + 1, dtype=np.float64)


def no_pair(run: ClassRun) -> str | None:
    """Why there are no two distinct tokens, or eq. 10 says nothing; or None; see `no_path`."""
    return no_equation(run) or (None if token_pairs(run) else "No class has two distinct tokens.") or no_path(run)


GAIN = Claim(
    id="snap.theorem3.gain",
    source=f"{SOURCE}, Theorem 3, eq. 11",
    statement=(
        "Under eq. 10 the relative gain of two distinct tokens l, l' of a class is r_{l/l'}(t) = r_{l/l'}(0) chi_l(t), "
        f"chi_l = exp(2 (z_l(t) - z_l(0))); {EQ_10}. It needs nothing of Assumption 2 but that there is an E'."
    ),
    formula=r"r_{l/l'|n}(t)=r_{l/l'|n}(0)e^{2(z_{ml}(t)-z_{ml}(0))}",
    assumptions=("uniform_classes",),
    judgement=Equal(
        measure=lambda run: along_the_flow(run)[0],
        expected=lambda run: along_the_flow(run)[1],
        scale=lambda run: _scale(run, along_the_flow(run)),
    ),
    absent=no_pair,
)


@once_a_run
def along_sgd(run: ClassRun) -> tuple[Series, Series]:
    """Both sides of eq. 11 along section 8's SGD on sampled sequences, from a random start.

    The error bar is 10 times what changing the step sizes by a part of `MOVED` does.

    Raises
    ------
    BeyondTheRun
        The classes are too large to be trained on here.
    """
    if not token_pairs(run):
        return series([], radius=0), series([], radius=0)
    data = run.dataset
    size = max(len(c.support) for c in data.classes) * data.M
    if size > LARGEST:
        raise BeyondTheRun(f"a class's tokens times M = {size} are beyond {LARGEST}, up to which SGD is run")
    logits, rates = Logits(data), [(run.eta_Y, run.eta_Z)]
    Z = train_sampled(data, SECTION_8, rates, run.config.seed).Z[0]
    near = train_sampled(data, SECTION_8, [(run.eta_Y * (1 + MOVED), run.eta_Z * (1 - MOVED))], run.config.seed).Z[0]
    query, token = logits.pairs
    z = Approximation(Z[:, query, token], 10 * np.abs(Z - near)[:, query, token] + FORMULA_ROUNDING)
    return both_sides(run, logits, z, np.arange(len(Z)))


SGD_GAIN = replace(
    GAIN,
    id="snap.theorem3.gain.sgd",
    source=f"{SOURCE}, Theorem 3, eq. 11, for the SGD of section 8",
    statement=(
        "Under the SGD of section 8 (batches of 128 sequences of 127 contextual tokens, momentum .9, a random start) "
        "r_{l/l'}(t) = r_{l/l'}(0) chi_l(t) too."
    ),
    assumptions=(),
    judgement=Equal(
        measure=lambda run: along_sgd(run)[0],
        expected=lambda run: along_sgd(run)[1],
        scale=lambda run: _scale(run, along_sgd(run)),
        note=lambda run: _deviation(run),
    ),
    absent=lambda run: None,
    instead=(
        "Eq. 11 is exact for eq. 10 alone, of which SGD with sampled sequences and finite steps is a perturbation: "
        r"$r-r(0)\chi$ is of the order of the noise in $z$."
    ),
)


def _deviation(run: ClassRun) -> str:
    left, right = along_sgd(run)
    last = left.step == SECTION_8.updates if left.step is not None else np.zeros(0, dtype=bool)
    moved = np.abs(left.value - right.value)[last].max(initial=0.0)
    return f"After {SECTION_8.updates} updates the two sides are up to {moved:.3g} apart."


# eq. 12


@once_a_run
def dominating(run: ClassRun, while_weak: bool) -> list[tuple[int, str, int]]:
    """Each class, its most probable distinct token, and at how many first steps of `rates_along` its common tokens lose.

    Or at how many they lose and Assumption 2 keeps holding. Classes of which some gain from the start, or that have no
    distinct token, are left out.
    """
    seen, common, own = rates_along(run), set(common_tokens(run.dataset)), distinct_tokens(run.dataset)
    found = []
    for n, c in enumerate(run.dataset.classes):
        if not own[c.next]:
            continue
        lost = np.array([run.path.logits.position(n, l) for l in c.support if l in common], dtype=np.int64)  # noqa: E741
        rate = seen.z_dot(lost)
        loses = np.asarray((rate.value + rate.error < 0).all(axis=1), dtype=bool).ravel()
        if while_weak:
            loses = loses & meets_assumption_2(run)
        upto = len(loses) if loses.all() else int(np.argmin(loses))
        if upto:
            found.append((n, max(own[c.next], key=lambda token: c.probabilities[token]), upto))
    return found


def _gather(run: ClassRun, what: str, while_weak: bool) -> Series:
    """Of each dominating token: its exponent 2 z, f-dot/f or z-dot, along steps."""
    seen = rates_along(run)
    values, bars, steps, label = [], [], [], []
    for n, l, upto in dominating(run, while_weak):  # noqa: E741
        i = run.path.logits.position(n, l)
        if what == "exponent":
            z, B = seen.path.z[:upto, i], seen.path.B[:upto, n]
            value, bar = 2 * z.value, 2 * (z.error + B.error)
        else:
            rate = _rate(run, n, i, what)[:upto]
            value, bar = rate.value, rate.error
        values.append(value)
        bars.append(bar)
        steps.append(seen.step[:upto])
        label += [f"{l} of {run.dataset.next_tokens[n]}"] * upto
    if not values:
        return series([], radius=0, step=np.array([], dtype=np.int64))
    return series(np.concatenate(values), radius=np.concatenate(bars), step=np.concatenate(steps), label=tuple(label))


def _rate(run: ClassRun, n: int, i: int, what: str) -> Approximation:
    """eta_Z times z-dot of a pair, or f-dot/f = z-dot minus the mean of z-dot over f_n^2, at each step."""
    seen, logits, c = rates_along(run), run.path.logits, run.dataset.classes[n]
    own = np.array([logits.position(n, l) for l in c.support], dtype=np.int64)  # noqa: E741
    column = [run.dataset.contextual.index(l) for l in c.support]  # noqa: E741
    value, error = [], []
    for rate in seen.found:
        f, z_dot = rate.f[n, column], rate.z_dot
        found = z_dot[i] if what == "z" else z_dot[i] - (f * f * z_dot[own]).sum()
        value.append(float(run.eta_Z * found.value))
        error.append(float(run.eta_Z * found.error * (1 + FORMULA_ROUNDING)))
    return Approximation(np.array(value), np.array(error))


def _growths(run: ClassRun, while_weak: bool, share: bool) -> NDArray[np.float64]:
    """2 B_n, or 2 f_nl0(0)^2 B_n, at the entries of `_gather`."""
    seen, found = rates_along(run), []
    for n, l, upto in dominating(run, while_weak):  # noqa: E741
        f = run.dataset.overlap.F[run.dataset.contextual.index(l), n] if share else 1.0
        found.append(2 * f**2 * seen.path.B.value[:upto, n])
    return np.concatenate(found)


def _above_zero(_: ClassRun, t: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.full(len(t), LEAST)


def _eq_12(*, while_weak: bool) -> Parts:
    return Parts(
        {
            "ln chi": Bounded(
                measure=lambda run: _gather(run, "exponent", while_weak),
                upper=lambda run, _: _growths(run, while_weak, share=False),
                lower=lambda run, _: _growths(run, while_weak, share=True),
            ),
            "z": Bounded(measure=lambda run: _gather(run, "z", while_weak), lower=_above_zero),
            "f": Bounded(measure=lambda run: _gather(run, "f", while_weak), lower=_above_zero),
        },
        note=how_long_assumption_2_holds,
    )


def unseen(run: ClassRun) -> str | None:
    """Why eq. 10 says nothing of the run, or None.

    Raises
    ------
    BeyondTheRun
        See `no_path`; of which classes the statement speaks is seen on the path alone.
    """
    try:
        return no_path(run)
    except NotFollowed as fault:
        raise BeyondTheRun(str(fault)) from fault


GROWTH = Claim(
    id="snap.theorem3.growth",
    source=f"{SOURCE}, Theorem 3, eq. 12",
    statement=(
        "Let l_0 have the largest P(l|n) of n's distinct tokens, and let n's common tokens lose. Under eq. 10 from z = "
        "0, z and f_n of l_0 increase, and exp(2 f_nl0(0)^2 B_n) <= chi_l0 <= exp(2 B_n), B_n = eta_Z int xi_n; "
        f"{EQ_10}. Judged, class by class, for as long as its common tokens lose and attention meets Assumption 2."
    ),
    formula=r"e^{2f_{nl_0}^2(0)B_n(t)}\le\chi_{l_0}(t)\le e^{2B_n(t)}",
    assumptions=(*THEOREM_5, "dominant_distinct"),
    judgement=_eq_12(while_weak=True),
    absent=unseen,
)

GROWTH_FROM_ZERO = replace(
    GROWTH,
    id="snap.theorem3.growth.from-zero",
    source=f"{SOURCE}, Theorem 3, eq. 12, with Assumption 2 at Z = 0 alone",
    statement=GROWTH.statement.replace("lose and attention meets Assumption 2", "lose, to the last recorded t"),
    judgement=_eq_12(while_weak=False),
)

CLAIMS: tuple[Claim, ...] = (GAIN, SGD_GAIN, GROWTH, GROWTH_FROM_ZERO)
