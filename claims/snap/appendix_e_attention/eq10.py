"""Eq. 10, the dynamics of attention, at recorded steps, and the duration of Assumption 2 along it."""

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from marginaudit.claims.claim import BeyondTheRun, NotFollowed
from marginaudit.claims.judgements.compare import without_a_step
from marginaudit.claims.run import once_a_run
from marginaudit.claims.series import Series, series
from marginaudit.claims.snap.conditions import no_inverse, no_recorded_growth
from marginaudit.claims.snap.readings import FAST_DECODER
from marginaudit.claims.snap.run import ClassRun, evenly_spaced
from marginaudit.claims.verdict import LEAST
from marginaudit.orders.arrays import Floats
from marginaudit.orders.snap import (
    AttentionOverlap,
    SequenceClasses,
    common_tokens,
    distinct_tokens,
    overlap_of,
    queries_with_distinct,
)
from marginaudit.orders.snap.assumptions import largest_below, spread_beyond
from marginaudit.training.approximation import Approximation, stacked
from marginaudit.training.log_time import NotIntegrated
from marginaudit.training.snap.attention.logits import Logits
from marginaudit.training.snap.attention.path import AttentionPath
from marginaudit.training.snap.attention.rates import Rates, mean_counts, off_by, rates
from marginaudit.training.snap.limit.continuous import continuous
from marginaudit.training.snap.recorded.mean_steps import Vectors

EQ_10 = (
    "eq. 10 has gamma(t) of h(t/K) (Lemma 9), E and beta of attention as it is at t, beta of what the gradient has "
    "(eq. 88 with its sign mended), and theta = sigma = 0"
)
"""Reading of eq. 10 for judging statements on it."""

AT_THE_TIME = (
    "From t = 1 on: at t = 0 gamma is 0. Assumption 2 is required at each t of the statement, and theta "
    f"and sigma of Theorem 1 are 0. {FAST_DECODER}"
)
"""Reading of printed statements that require Assumption 2."""

FROM_ZERO = "Assumption 2 at Z = 0 alone, for all t up to the last recorded one."
"""Reading of their stronger variants."""

IN_THE_MEAN = (
    "On recorded runs by batches of sequences, with or without momentum or by Adam: in the mean over their draw, "
    "summed over the run, without Assumptions 1 (c) and 2."
)
"""Reading of variants on recorded runs."""

OF_RUNS = "the mean of SGD's steps on sequences of a given length, of which no theorem speaks without Assumption 2"
"""What would settle variants on recorded runs."""

FLOW = (
    "For t > 0: at t = 0 gamma is 0. Assumption 2 is required at Z = 0 alone, and theta and sigma of Theorem 1 are "
    f"0. {FAST_DECODER}"
)
"""Reading of printed statements that require Assumption 2 at the start."""

RECORDS = 60
"""Most recorded steps with computed rates."""

ENTRIES = 4_000_000
"""Most entries of the rates of all steps. One step is always computed."""


@dataclass(frozen=True)
class RatesAlong:
    """Rates of attention along eq. 10, at a sample of the recorded steps.

    Attributes
    ----------
    step : (records,) array
    path : AttentionPath
        At these steps.
    found : tuple of Rates
        Per unit of eta_Z, at each step.
    """

    step: NDArray[np.int64]
    path: AttentionPath
    found: tuple[Rates, ...]

    def z_dot(self, pairs: NDArray[np.int64]) -> Approximation:
        """z-dot of some pairs, shape (records, pairs)."""
        return stacked([rate.z_dot[pairs] for rate in self.found])


def no_equation(run: ClassRun) -> str | None:
    """Reason why eq. 10 or t_0 is undefined for the classes, or None; see `no_inverse`."""
    return "M is below 4, and there is no t_0." if run.M < 4 else no_inverse(run)


def no_path(run: ClassRun) -> str | None:
    """Reason why eq. 10 does not apply to the run, or None.

    Raises
    ------
    BeyondTheRun
        The run has no steps.
    NotFollowed
        Float64 cannot follow it.
    """
    if reason := no_equation(run) or no_recorded_growth(run):
        return reason
    try:
        _ = run.path
    except NotIntegrated as fault:
        raise NotFollowed(str(fault)) from fault
    return None


@once_a_run
def rates_along(run: ClassRun) -> RatesAlong:
    """Eq. 10 at up to `RECORDS` of the recorded steps, evenly spaced, including the first and the last.

    Raises
    ------
    BeyondTheRun
        Along eq. 10 the classes' attention becomes linearly dependent within float64.
    """
    one = len(run.path.logits.names) + run.K**2 * len(run.dataset.contextual)
    record = evenly_spaced(len(run.steps), min(RECORDS, max(2, ENTRIES // one)))
    path = AttentionPath(run.path.logits, run.path.z[record], run.path.B[record])
    found = []
    levels = continuous(run.steps[record] / run.K, run.M, run.eta_Y)
    for i, t in enumerate(run.steps[record]):
        at = mean_counts(replace(levels, logit=levels.logit[i, ...], share=levels.share[i, ...]), run.K)
        try:
            found.append(rates(path.logits, path.z[i], at))
        except ValueError as fault:
            raise BeyondTheRun(f"at t = {t} the classes' attention is linearly dependent, up to rounding") from fault
    return RatesAlong(run.steps[record], path, tuple(found))


def rates_at_start(data: SequenceClasses, eta_Y: float) -> Rates:
    """Eq. 10 at Z = 0 and h(1)."""
    logits = Logits(data)
    none = Approximation(np.zeros(len(logits.names)), np.zeros(len(logits.names)))
    return rates(logits, none, mean_counts(continuous(np.array(1.0), data.M, eta_Y), data.K))


@once_a_run
def at_start(run: ClassRun) -> Approximation:
    """z-dot of every pair over eta_Z gamma at Z = 0. A token with a positive value gains for a while."""
    found = rates_at_start(run.dataset, run.eta_Y)
    return found.z_dot / found.gradient.gamma


def above_zero(_: ClassRun, t: NDArray[np.float64]) -> NDArray[np.float64]:
    """The least positive float at each entry, as the lower bound of a positive quantity."""
    return np.full(len(t), LEAST)


def distinct_pairs(run: ClassRun) -> NDArray[np.int64]:
    """Positions of z of each class's distinct tokens."""
    own, logits = distinct_tokens(run.dataset), run.logits
    return np.array(
        [logits.position(n, token) for n, c in enumerate(run.dataset.classes) for token in own[c.next]], dtype=np.int64
    )


def common_pairs(run: ClassRun) -> NDArray[np.int64]:
    """Positions of z of each query and common token of its classes."""
    common = set(common_tokens(run.dataset))
    return np.array([i for i, (_, token) in enumerate(run.logits.names) if token in common], dtype=np.int64)


def common_beside_distinct(run: ClassRun) -> NDArray[np.int64]:
    """The `common_pairs` of queries with a distinct token in some class."""
    beside, names = queries_with_distinct(run.dataset), run.logits.names
    return np.array([i for i in common_pairs(run) if names[i][0] in beside], dtype=np.int64)


def attention_along(run: ClassRun) -> tuple[NDArray[np.int64], Approximation]:
    """Steps, and z at each: records of a recorded run, before each step if its rule is declared, or `rates_along`'s."""
    if (mean := run.mean_steps) is not None:
        return mean.step, mean.states
    if run.recorded is not None:
        return run.recorded.step, run.recorded.z
    seen = rates_along(run)
    return seen.step, seen.path.z


def gains_along(
    run: ClassRun, pairs: NDArray[np.int64], *, where_assumption_2: bool = False
) -> tuple[NDArray[np.int64], Approximation]:
    """Steps, and z-dot of some pairs at each, optionally only where Assumption 2 holds.

    Of a recorded run these are differences between records, or mean steps over windows, by their last step, if its
    rule is declared; of our own run eq. 10.
    """
    if (mean := run.mean_steps) is not None:
        run.used_noise = True
        chosen = meets_assumption_2(run) if where_assumption_2 else np.ones(len(mean.step), dtype=bool)
        step = mean.ends(chosen)
        each = [_mean_gain(run, int(pair), where_assumption_2) for pair in pairs]
        if not each:
            return step, Approximation(*np.zeros((2, len(step), 0)))
        return step, Approximation(*(np.stack(columns, axis=1) for columns in zip(*each, strict=True)))
    if run.recorded is not None:
        step, found = run.recorded.step[run.recorded.spans], run.recorded.z_dot[:, pairs]
    else:
        seen = rates_along(run)
        step, found = seen.step, seen.z_dot(pairs) * run.eta_Z
    if not where_assumption_2:
        return step, found
    rows = np.flatnonzero(meets_assumption_2(run))
    return step[rows], found[rows]


@once_a_run
def _mean_gain(run: ClassRun, pair: int, where_assumption_2: bool) -> tuple[Floats, Floats]:
    """Mean change of z of a pair per step in each window, and its error bar."""
    found = mean_rates(run, unit(pair), where_assumption_2)
    return found.value, found.error


def no_rule(run: ClassRun) -> str | None:
    """Reason why the run has no mean steps, or None."""
    if run.mean_steps is not None:
        return None
    return "It is about recorded runs whose draw of sequences is known: give --batch and --length."


def gains_of_the_run(run: ClassRun, vectors: dict[str, Vectors]) -> Series:
    """Mean per step, over the whole run, of eta_Z times the product of z's gradient with each of the named vectors."""
    mean = run.mean_steps
    if mean is None or not vectors:
        return series([], radius=0)
    run.used_noise = True
    found = [mean.means(of) * run.eta_Z for of in vectors.values()]
    value, radius = (np.concatenate(each) for each in zip(*((one.value, one.error) for one in found), strict=True))
    return series(value, radius=radius, label=tuple(vectors))


def gains_of_pairs(run: ClassRun, pairs: NDArray[np.int64]) -> Series:
    """Mean change of z of some pairs per step, over the whole run."""
    names = run.logits.names
    return gains_of_the_run(run, {f"{names[i][1]} under {names[i][0]}": unit(int(i)) for i in pairs})


def clock(run: ClassRun) -> str:
    """Name of the steps of `gains_along`: steps t, or the last of each window of a run's mean steps."""
    return "t" if run.mean_steps is None else "window end"


def unit(pair: int) -> Vectors:
    """Vectors of one pair alone."""
    return lambda z: np.broadcast_to((np.arange(z.shape[1]) == pair).astype(np.float64), z.shape)


def mean_rates(run: ClassRun, of: Vectors, where_assumption_2: bool) -> Approximation:
    """Mean per step of the product of a vector with z's step, without momentum, in each window of `MeanSteps`."""
    mean = run.mean_steps
    if mean is None:
        raise ValueError("got a run without a declared rule, expected one with mean steps")
    run.used_noise = True
    chosen = meets_assumption_2(run) if where_assumption_2 else np.ones(len(mean.step), dtype=bool)
    return mean.means(of, chosen) * run.eta_Z


def no_gains(run: ClassRun) -> str | None:
    """Reason why z-dot is unknown, or None; else see `no_path`.

    Raises
    ------
    BeyondTheRun
        Fewer than two records, or, of a declared rule, no step alone within a decade.
    """
    if run.recorded is None:
        return no_path(run)
    if (mean := run.mean_steps) is not None:
        if mean.alone and (gap := without_a_step(mean.step, 1, int(run.recorded.step[-1]))):
            raise BeyondTheRun(f"the file shows no step alone from {gap}")
        return None
    if not len(run.recorded.spans):
        raise BeyondTheRun("there are no two records, the later at t = 2 or after")
    return None


@once_a_run
def overlaps_along(run: ClassRun) -> tuple[AttentionOverlap, ...]:
    """E at each step of `attention_along`, the error of z included in the error bar of its eigenvalues.

    The entries of E are not negative, so a common relative error of them shifts an eigenvalue by at most that part of
    the largest one.
    """
    (_, z), found = attention_along(run), []
    for i in range(len(z.value)):
        own = overlap_of(run.logits.attended(z.value[i]))
        off = off_by(z[i])
        found.append(replace(own, eigenvalue_error=own.eigenvalue_error + 3 * off * (1 + off) * own.largest))
    return tuple(found)


@once_a_run
def assumption_2_fails(run: ClassRun) -> dict[str, NDArray[np.bool_]]:
    """For each part of Assumption 2, the steps of `attention_along` at which attention may fail it."""
    where, K, M = overlaps_along(run), run.K, run.M
    return {
        "|lambda_1| < 1/K": np.array([largest_below(own, Fraction(1, K)) is not None for own in where]),
        "|lambda_i| >= 6/sqrt(M)": np.array([spread_beyond(own, M) is not None for own in where]),
    }


@once_a_run
def meets_assumption_2(run: ClassRun) -> NDArray[np.bool_]:
    """Steps of `gains_along` at which attention meets Assumption 2, at both ends of a span; M >> K^2 follows.

    Of a run with mean steps, those before which it does.
    """
    met = np.asarray(~np.logical_or(*assumption_2_fails(run).values()))
    return (
        met
        if run.recorded is None or run.mean_steps is not None
        else met[run.recorded.spans] & met[run.recorded.spans - 1]
    )


def assumption_2_never_met(run: ClassRun) -> str | None:
    """Reason why no recorded step meets Assumption 2, or None.

    Raises
    ------
    BeyondTheRun
        As `no_path`.
    NotFollowed
        Assumption 2 may hold before the first recorded step, or in a decade without records.
    """
    if reason := no_gains(run):
        return reason
    step, _ = attention_along(run)
    if run.M <= 36 * run.K**2:
        return f"Assumption 2 is met at no t: 6/sqrt(M) <= |lambda_i| < 1/K needs M > 36 K^2, and M is {run.M}."
    if meets_assumption_2(run).any():
        return None
    reason = f"Assumption 2 is met at no recorded step. {how_long_assumption_2_holds(run)}"
    if step[0] > 1 or without_a_step(step, 1, max(run.lengths, default=1)):
        raise NotFollowed(reason.rstrip("."))
    return reason


def how_long_assumption_2_holds(run: ClassRun) -> str:
    """Note on the step at which Assumption 2 starts to fail, and the ends of the phases."""
    step, _ = attention_along(run)
    last = int(step[-1])
    ends = [
        f"{name} is not met from t = {int(step[int(np.argmax(fails))])} on"
        for name, fails in assumption_2_fails(run).items()
        if any(fails)
    ]
    if run.recorded is not None:
        return f"Along the run {' and '.join(ends) or f'Assumption 2 keeps holding to t = {last}'}."
    phases = f"t_0' = {run.transition:.4g}, t_0 = {run.snap_start:.4g}, eta_Y/eta_Z = {run.eta_Y / run.eta_Z:.4g}"
    if not ends:
        return f"Assumption 2 keeps holding along the path to t = {last}; {phases}."
    return f"Along the path {' and '.join(ends)}; {phases}."
