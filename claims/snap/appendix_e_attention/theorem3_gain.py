"""Theorem 3, eq. 11: the relative gain of two distinct tokens of a class."""

import numpy as np
from numpy.typing import NDArray

from marginaudit.claims.claim import BeyondTheRun, Claim
from marginaudit.claims.judgements import Equal
from marginaudit.claims.quotation import quoted
from marginaudit.claims.run import once_a_run
from marginaudit.claims.series import FORMULA_ROUNDING, Series, series
from marginaudit.claims.snap.appendix_e_attention.eq10 import (
    EQ_10,
    clock,
    gains_along,
    mean_rates,
    no_equation,
    no_gains,
)
from marginaudit.claims.snap.conditions import slow_decoder
from marginaudit.claims.snap.readings import FAST_DECODER, PAGE, SOURCE, variant
from marginaudit.claims.snap.run import ClassRun, evenly_spaced
from marginaudit.claims.standing import Severity, proved, refuted
from marginaudit.orders.arrays import Floats, Integers
from marginaudit.orders.snap import distinct_tokens
from marginaudit.training.approximation import Approximation, stacked
from marginaudit.training.snap.attention.logits import Logits
from marginaudit.training.snap.recorded.mean_steps import Vectors
from marginaudit.training.snap.sgd.train import Recipe, train_sampled

MOST_PAIRS = 60
"""Most pairs of distinct tokens compared, evenly spaced."""

LARGEST_Z, LARGEST_RATIO = 100.0, 1e50
"""Largest z and ratio of probabilities for which float64 holds exp(2 z) times the square of the ratio."""


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


def require_powers(z: Approximation) -> None:
    """Refuse a z too large for products of its powers in float64.

    Raises
    ------
    BeyondTheRun
    """
    if not np.abs(z.value).max(initial=0.0) + z.error.max(initial=0.0) < LARGEST_Z:
        raise BeyondTheRun(f"z leaves the numbers up to {LARGEST_Z:g}, of whose powers float64 has products")


COMPARED = 12
"""Number of steps for comparing pairs."""

SECTION_8 = Recipe(updates=25)
"""Settings of the experiments, with a quarter of their updates."""

LARGEST = 200_000
"""Largest product of a class's tokens and M for running `SECTION_8`."""

MOVED = 1e-10
"""Relative change of step sizes, larger than all rounding, to bound the effect of rounding."""


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
    chosen = evenly_spaced(len(found), MOST_PAIRS)
    return [found[i] for i in chosen] if found else []


def pair_sides(squared: float, z: Approximation, i: int, j: int) -> tuple[Approximation, Approximation]:
    """r(t) and r(0) chi(t) of one pair at positions i and j of z, shape (steps from 0 on, pairs).

    ``squared`` is (P(l|n)/P(l'|n))^2.
    """
    gone = z - z[0]
    start = squared * np.exp(2 * (z.value[0, i] - z.value[0, j]))
    now = squared * np.exp(2 * (z.value[1:, i] - z.value[1:, j]))
    chi = np.exp(2 * gone.value[1:, i])
    bars = np.expm1(2 * (z.error[1:, i] + z.error[1:, j] + z.error[0, i] + z.error[0, j]))
    of_chi = abs(start - 1) * chi * np.expm1(2 * gone.error[1:, i]) + FORMULA_ROUNDING * (start + 1) * chi
    return (
        Approximation(now - 1, now * bars + FORMULA_ROUNDING * (now + 1)),
        Approximation((start - 1) * chi, of_chi),
    )


def both_sides(run: ClassRun, logits: Logits, z: Approximation, step: NDArray[np.int64]) -> tuple[Series, Series]:
    """r_{l/l'}(t) = f_nl^2/f_nl'^2 - 1 and r(0) chi_l(t) of each pair and step, z of shape (steps from 0 on, pairs).

    Raises
    ------
    BeyondTheRun
        Powers of z, or of a ratio of probabilities, leave float64.
    """
    require_powers(z)
    pairs = token_pairs(run)
    found = [
        pair_sides(squared_ratio(run, n, l, other), z, logits.position(n, l), logits.position(n, other))
        for n, l, other in pairs  # noqa: E741
    ]
    if not found:
        return series([], radius=0), series([], radius=0)
    names, place = run.dataset.next_tokens, np.tile(step[1:], len(pairs))
    label = tuple(f"{l} over {other} of {names[n]}, t = {t}" for n, l, other in pairs for t in step[1:])  # noqa: E741
    left, right = (stacked(list(side)) for side in zip(*found, strict=True))
    return (
        series(np.ravel(left.value), radius=np.ravel(left.error), step=place, label=label),
        series(np.ravel(right.value), radius=np.ravel(right.error), step=place, label=label),
    )


def in_the_mean(run: ClassRun) -> tuple[Series, Series]:
    """f_l'^2 z-dot_l and f_l^2 z-dot_l' in each window of a run's mean steps, as their difference and 0.

    Eq. 11 says so at each t: r + 1 = f_l^2/f_l'^2 gives r-dot = 2 (r + 1)(z-dot_l - z-dot_l'), and r = r(0) chi_l gives
    r-dot = 2 r z-dot_l.
    """
    value, radius, steps, label = list[Floats](), list[Floats](), list[Integers](), list[str]()
    step, _ = gains_along(run, np.zeros(0, dtype=np.int64))
    for n, l, other in token_pairs(run):  # noqa: E741
        if l < other:
            found = mean_rates(run, across(run, n, l, other), where_assumption_2=False)
            value, radius, steps = [*value, found.value], [*radius, found.error], [*steps, step]
            label += [f"{l} over {other} of {run.dataset.next_tokens[n]}, window end = {t}" for t in step]
    left = series(
        np.concatenate(value),
        radius=np.concatenate(radius),
        step=np.concatenate(steps),
        label=tuple(label),
        clock=clock(run),
    )
    return left, series(np.zeros(len(left)), radius=0, step=left.step, label=left.label, clock=left.clock)


def across(run: ClassRun, n: int, l: str, other: str) -> Vectors:  # noqa: E741
    """Vectors whose product with z-dot is f_l'^2 z-dot_l - f_l^2 z-dot_l'."""
    names, tokens = (l, other), run.dataset.contextual
    (i, j), (at, beside) = ([run.logits.position(n, x) for x in names], [tokens.index(x) for x in names])

    def vectors(z: Floats) -> Floats:
        f, found = run.logits.attended(z)[:, n], np.zeros(z.shape)
        found[:, i], found[:, j] = f[:, beside] ** 2, -(f[:, at] ** 2)
        return found

    return vectors


def along_the_flow(run: ClassRun) -> tuple[Series, Series]:
    """Both sides of eq. 11: along eq. 10, or a recorded run from its first record on, or in the mean of its steps."""
    return _both_along(run) if run.mean_steps is None else in_the_mean(run)


@once_a_run
def _both_along(run: ClassRun) -> tuple[Series, Series]:
    if (other := run.recorded) is not None:
        chosen = evenly_spaced(len(other.step), COMPARED + 1)
        return both_sides(run, other.logits, other.z[chosen], other.step[chosen])
    chosen = evenly_spaced(len(run.steps), COMPARED)
    none = np.zeros((1, len(run.path.logits.names)))
    z = Approximation(np.vstack([none, run.path.z.value[chosen]]), np.vstack([none, run.path.z.error[chosen]]))
    return both_sides(run, run.path.logits, z, np.concatenate([[0], run.steps[chosen]]))


def _scale(sides: tuple[Series, Series]) -> NDArray[np.float64]:
    return np.asarray(np.abs(sides[0].value) + np.abs(sides[1].value) + 1, dtype=np.float64)


def no_pair(run: ClassRun) -> str | None:
    """Reason why there are no two distinct tokens or eq. 10 does not apply, or None; see `no_gains`."""
    return (None if token_pairs(run) else "No class has two distinct tokens.") or no_equation(run) or no_gains(run)


GAIN = Claim(
    id="snap.theorem3.gain",
    source=f"{SOURCE}, Theorem 3, eq. 11",
    source_words=quoted(
        "section 5, Theorem 3, eq. 11; appendix E",
        "the dynamics of the relative gain .. has the following analytic form .. r_{l/l'|n}(t) = "
        "r_{l/l'|n}(0)e^{2(z_ml(t) - z_ml(0))} =: r_{l/l'|n}(0)chi_l(t)",
        f"Under eq. 10, as the proof has it. {FAST_DECODER}",
    ),
    statement=(
        "Under eq. 10 the relative gain of two distinct tokens l, l' of a class is r_{l/l'}(t) = r_{l/l'}(0) chi_l(t), "
        f"chi_l = exp(2 (z_l(t) - z_l(0))); {EQ_10}. Of Assumption 2 it needs the existence of E' alone."
    ),
    formula=r"r_{l/l'|n}(t)=r_{l/l'|n}(0)e^{2(z_{ml}(t)-z_{ml}(0))}",
    assumptions=("uniform_classes",),
    standing=proved(PAGE + "74-snaptheorem3gain", hunted=11),
    judgement=Equal(
        measure=lambda run: along_the_flow(run)[0],
        expected=lambda run: along_the_flow(run)[1],
        scale=lambda run: _scale(along_the_flow(run)),
    ),
    absent=lambda run: slow_decoder(run) or no_pair(run),
)


@once_a_run
def along_sgd(run: ClassRun) -> tuple[Series, Series]:
    """Both sides of eq. 11 along section 8's SGD on sampled sequences, from a random start.

    The error bar is 10 times the effect of a relative change of the step sizes by `MOVED`.

    Raises
    ------
    BeyondTheRun
        The classes are too large for training.
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


def deviation(run: ClassRun) -> str:
    """Note on the final distance of the two sides."""
    left, right = along_sgd(run)
    last = left.step == SECTION_8.updates if left.step is not None else np.zeros(0, dtype=bool)
    moved = np.abs(left.value - right.value)[last].max(initial=0.0)
    return f"After {SECTION_8.updates} updates the two sides are up to {moved:.3g} apart."


SGD_GAIN = variant(
    GAIN,
    "sgd",
    "Under the training of section 8 in place of eq. 10.",
    source=f"{GAIN.source}, for the SGD of section 8",
    statement=(
        "Under the SGD of section 8 (batches of 128 sequences of 127 contextual tokens, momentum .9, a random start) "
        "r_{l/l'}(t) = r_{l/l'}(0) chi_l(t) too."
    ),
    assumptions=(),
    standing=refuted(
        None,
        severity=Severity.ORDINARY,
        wrong="Theorem 3's gain needs the flow of eq. 10: SGD on sampled sequences departs by the noise in z.",
        hunted=1,
        weakest="the flow of eq. 10 for SGD (snap.theorem3.gain)",
    ),
    judgement=Equal(
        measure=lambda run: along_sgd(run)[0],
        expected=lambda run: along_sgd(run)[1],
        scale=lambda run: _scale(along_sgd(run)),
        note=deviation,
    ),
    absent=lambda run: None,
    instead=(
        "Eq. 11 is exact for eq. 10 alone, of which SGD with sampled sequences and finite steps is a perturbation: "
        r"$r-r(0)\chi$ is of the order of the noise in $z$."
    ),
)

CLAIMS: tuple[Claim, ...] = (GAIN, SGD_GAIN)
