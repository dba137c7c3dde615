"""Eq. 10, the dynamics of attention, at recorded steps, and how long Assumption 2 keeps holding along it."""

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from marginaudit.claims.claim import BeyondTheRun, NotFollowed
from marginaudit.claims.judgements.compare import without_a_step
from marginaudit.claims.run import once_a_run
from marginaudit.claims.snap.conditions import no_inverse, no_recorded_growth
from marginaudit.claims.snap.readings import FAST_DECODER
from marginaudit.claims.snap.run import ClassRun, evenly_spaced
from marginaudit.claims.verdict import LEAST
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
from marginaudit.training.snap.attention.logits import Logits
from marginaudit.training.snap.attention.path import Path
from marginaudit.training.snap.attention.rates import Rates, mean_counts, off_by, rates
from marginaudit.training.snap.attention.solver import NotIntegrated
from marginaudit.training.snap.limit.continuous import continuous

EQ_10 = (
    "eq. 10 has gamma(t) of h(t/K) (Lemma 9), E and beta of attention as it is at t, beta of what the gradient has "
    "(eq. 88 with its sign mended), and theta = sigma = 0"
)
"""The reading of eq. 10 with which statements on it are judged."""

AT_THE_TIME = (
    "From t = 1 on: at t = 0 gamma is 0. Assumption 2 is asked for at the t of which it is spoken, and theta and "
    f"sigma of Theorem 1 are 0. {FAST_DECODER}"
)
"""Reading of printed statements that ask for Assumption 2."""

FROM_ZERO = "Assumption 2 at Z = 0 alone, and then for all t to the last that is recorded."
"""Reading of their stronger variants."""

FLOW = (
    "For t > 0: at t = 0 gamma is 0. Assumption 2 is asked for at Z = 0 alone, and theta and sigma of Theorem 1 are "
    f"0. {FAST_DECODER}"
)
"""Reading of printed statements that ask for Assumption 2 at the start."""

RECORDS = 60
"""Recorded steps at which rates are computed, at most."""

ENTRIES = 4_000_000
"""Most entries of all those rates; one step is always taken."""


@dataclass(frozen=True)
class RatesAlong:
    """Rates of attention along eq. 10 at some recorded steps.

    Attributes
    ----------
    step : (records,) array
    path : Path
        At these steps.
    found : tuple of Rates
        Per unit of eta_Z, at each.
    """

    step: NDArray[np.int64]
    path: Path
    found: tuple[Rates, ...]

    def z_dot(self, pairs: NDArray[np.int64]) -> Approximation:
        """z-dot of some pairs, shape (records, pairs)."""
        return stacked([rate.z_dot[pairs] for rate in self.found])


def no_equation(run: ClassRun) -> str | None:
    """Why there is no eq. 10, or no t_0, for such classes, or None; see `no_inverse`."""
    return "M is below 4, and there is no t_0." if run.M < 4 else no_inverse(run)


def no_path(run: ClassRun) -> str | None:
    """Why eq. 10 says nothing of the run, or None.

    Raises
    ------
    BeyondTheRun
        It has no steps.
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
    """Eq. 10 at up to `RECORDS` of the recorded steps, evenly through them, the first and the last among them.

    Raises
    ------
    BeyondTheRun
        On its way the classes' attention becomes linearly dependent, as far as float64 can tell.
    """
    one = len(run.path.logits.names) + run.K**2 * len(run.dataset.contextual)
    record = evenly_spaced(len(run.steps), min(RECORDS, max(2, ENTRIES // one)))
    path = Path(run.path.logits, run.path.z[record], run.path.B[record])
    found = []
    for i, t in enumerate(run.steps[record]):
        at = mean_counts(continuous(np.array(t / run.K), run.M, run.eta_Y), run.K)
        try:
            found.append(rates(path.logits, path.z[i], at))
        except ValueError as fault:
            raise BeyondTheRun(f"at t = {t} the classes' attention is linearly dependent, up to rounding") from fault
    return RatesAlong(run.steps[record], path, tuple(found))


def rates_at_start(data: SequenceClasses, eta_Y: float) -> Rates:
    """Eq. 10 where Z = 0, at h(1)."""
    logits = Logits(data)
    none = Approximation(np.zeros(len(logits.names)), np.zeros(len(logits.names)))
    return rates(logits, none, mean_counts(continuous(np.array(1.0), data.M, eta_Y), data.K))


@once_a_run
def at_start(run: ClassRun) -> Approximation:
    """z-dot of every pair over eta_Z gamma where Z = 0; a token that gains there gains for a while."""
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
    """Positions of z of each query and common token that occurs in one of its classes."""
    common = set(common_tokens(run.dataset))
    return np.array([i for i, (_, token) in enumerate(run.logits.names) if token in common], dtype=np.int64)


def common_beside_distinct(run: ClassRun) -> NDArray[np.int64]:
    """Those of `common_pairs` under whose query some class has a distinct token."""
    beside, names = queries_with_distinct(run.dataset), run.logits.names
    return np.array([i for i in common_pairs(run) if names[i][0] in beside], dtype=np.int64)


def attention_along(run: ClassRun) -> tuple[NDArray[np.int64], Approximation]:
    """Steps and z there: the records of a recorded run, `rates_along`'s steps of our own."""
    if run.recorded is not None:
        return run.recorded.step, run.recorded.z
    seen = rates_along(run)
    return seen.step, seen.path.z


def gains_along(run: ClassRun, pairs: NDArray[np.int64]) -> tuple[NDArray[np.int64], Approximation]:
    """Steps and z-dot of some pairs there: from record to record of a recorded run, by eq. 10 of our own."""
    if run.recorded is not None:
        return run.recorded.step[run.recorded.spans], run.recorded.z_dot[:, pairs]
    seen = rates_along(run)
    return seen.step, seen.z_dot(pairs) * run.eta_Z


def no_gains(run: ClassRun) -> str | None:
    """Why no z-dot is known, or None; else see `no_path`.

    Raises
    ------
    BeyondTheRun
        There are no two records between which z can move.
    """
    if run.recorded is None:
        return no_path(run)
    if not len(run.recorded.spans):
        raise BeyondTheRun("there are no two records, the later at t = 2 or after")
    return None


@once_a_run
def overlaps_along(run: ClassRun) -> tuple[AttentionOverlap, ...]:
    """E at each of `attention_along`'s steps, with the error of z in the error bar of its eigenvalues.

    No entry of E is below 0, so that all of them off by one part take an eigenvalue no farther than that part of the
    largest one.
    """
    (_, z), found = attention_along(run), []
    for i in range(len(z.value)):
        own = overlap_of(run.logits.attended(z.value[i]))
        off = off_by(z[i])
        found.append(replace(own, eigenvalue_error=own.eigenvalue_error + 3 * off * (1 + off) * own.largest))
    return tuple(found)


def assumption_2_fails(run: ClassRun) -> dict[str, NDArray[np.bool_]]:
    """At which of `attention_along`'s steps attention may fail each part of Assumption 2."""
    where, K, M = overlaps_along(run), run.K, run.M
    return {
        "|lambda_1| < 1/K": np.array([largest_below(own, Fraction(1, K)) is not None for own in where]),
        "|lambda_i| >= 6/sqrt(M)": np.array([spread_beyond(own, M) is not None for own in where]),
    }


@once_a_run
def meets_assumption_2(run: ClassRun) -> NDArray[np.bool_]:
    """At which of `gains_along`'s steps attention meets Assumption 2, at both ends of a span; M >> K^2 follows."""
    met = np.asarray(~np.logical_or(*assumption_2_fails(run).values()))
    return met if run.recorded is None else met[run.recorded.spans] & met[run.recorded.spans - 1]


def assumption_2_never_met(run: ClassRun) -> str | None:
    """Why Assumption 2 is met at no recorded step, or None.

    Raises
    ------
    BeyondTheRun
        As `no_path`.
    NotFollowed
        It may have been met before the first recorded step, or in a decade without one.
    """
    if reason := no_gains(run):
        return reason
    if meets_assumption_2(run).any():
        return None
    if run.M <= 36 * run.K**2:
        return f"Assumption 2 is met at no t: 6/sqrt(M) <= |lambda_i| < 1/K needs M > 36 K^2, and M is {run.M}."
    reason = f"Assumption 2 is met at no recorded step. {how_long_assumption_2_holds(run)}"
    step, _ = attention_along(run)
    if step[0] > 1 or without_a_step(step, 1, max(run.lengths, default=1)):
        raise NotFollowed(reason.rstrip("."))
    return reason


def how_long_assumption_2_holds(run: ClassRun) -> str:
    """The step from which Assumption 2 fails, and the ends of the phases."""
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
