"""Statements about limits: true for small steps by proof, and for larger ones as a long run in float64 shows."""

from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from tests.oracle.answer import EQUAL, Answer, unrecorded
from tests.oracle.experiment import Experiment
from tests.oracle.late import Late, late
from tests.oracle.stage1_statements import Statement
from tests.oracle.stage2_statements import one_minus_cos, silence

LONG, LONGEST = 40_000, 1_000_000
"""Steps of the long run: at least and at most, `DEEP` times as many as the regime begins after."""

FARTHEST = 1e12
"""Most of eta t of the long run: beyond, float64 rounds away what the samples' weights add to margins."""

DEEP = 50

SATURATED = 100.0
"""Where the regime begins: eta t/||W*|| this large."""

WINDOW = 64
"""Consecutive steps that are looked at together: a cycle's period divides them or is short beside them."""

REACHED = 1e-7
"""A relative distance from a limit that counts as reached."""


@lru_cache(maxsize=2)
def long_run(e: Experiment) -> Late | None:
    """None where the asymptotic regime is out of reach of its steps, or of float64."""
    steps = max(LONG, int(DEEP * SATURATED * float(e.norm_kq) / e.settings.eta))
    if steps > LONGEST or steps * e.settings.eta > FARTHEST:
        return None
    ends = np.array([steps // 8, steps // 4, steps // 2, steps])
    records = (ends[:, None] - WINDOW + np.arange(WINDOW + 1)).ravel()
    return late(e, steps, records)


def short_steps(e: Experiment) -> bool:
    """eta <= 1/(4 ||W*||), under which the limits are proved."""
    square = e.kq.norm_squared
    return square is None or 16 * Fraction(e.settings.eta) ** 2 * square <= 1


def relative_rates(e: Experiment, run: Late) -> NDArray[np.float64]:
    """The fall of log excess a step over eta/||W*||, less 1, in each window."""
    fall = -np.diff(run.log_excess.reshape(-1, WINDOW + 1)[:, [0, -1]], axis=1)[:, 0] / WINDOW
    return np.asarray(fall * float(e.norm_kq) / e.settings.eta - 1)


def tends_to_zero(distance: NDArray[np.float64]) -> bool | None:
    """Whether distances at ends that double tend to 0: they fall at least like 1/sqrt(t), or stay; else unknown."""
    if (np.abs(distance[-2:]) < REACHED).all():
        return True
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.abs(distance[1:] / distance[:-1])
    if (ratio < 0.75).all():
        return True
    return False if (np.abs(ratio - 1) < 0.05).all() and abs(distance[-1]) > 10 * REACHED else None


def _proved(first: int) -> Statement:
    """True at any step size, and about steps from ``first`` on."""

    def statement(e: Experiment, steps: Iterable[int]) -> Answer:
        if reason := silence(e):
            return Answer(silent=reason)
        return Answer(true=True, perhaps=unrecorded(steps, first), patient=True)

    return statement


def _floor(e: Experiment, steps: Iterable[int]) -> Answer:
    if reason := silence(e):
        return Answer(silent=reason)
    if short_steps(e):
        return Answer(true=True, perhaps=unrecorded(steps, 2), patient=True)
    run = long_run(e)
    return Answer(
        true=None if run is None else tends_to_zero(relative_rates(e, run)), perhaps=unrecorded(steps, 2), patient=True
    )


def _rate(e: Experiment, steps: Iterable[int]) -> Answer:
    if reason := silence(e):
        return Answer(silent=reason)
    if all(abs(one_minus_cos(e, state)).mid() < EQUAL for state in e.states[1:]):
        # t^2 (1 - cos) is 0, and so is its limit
        return Answer(true=True, perhaps="W has the direction of W* at every known t", patient=True)
    if short_steps(e):
        return Answer(true=True, perhaps=unrecorded(steps, 2), patient=True)
    run = long_run(e)
    return Answer(true=None if run is None else settles(run), perhaps=unrecorded(steps, 2), patient=True)


def settles(run: Late) -> bool | None:
    """Whether t^2 (1 - cos) tends to one number, up to log^2 t: no cycle that stays."""
    window = run.scaled.reshape(-1, WINDOW + 1)
    largest = window.max(axis=1)
    if (largest == 0).any():
        return None
    spread = np.ptp(window, axis=1) / largest
    if spread[-1] < 1e-2:
        return True if tends_to_zero(spread) else None
    return False if (np.abs(spread[1:] / spread[:-1] - 1) < 0.05).all() else None


def _for_short_steps(statement: Statement) -> Statement:
    def restricted(e: Experiment, steps: Iterable[int]) -> Answer:
        if silence(e) or short_steps(e) or unrecorded(steps, 2):
            return statement(e, steps)
        return Answer(silent="eta exceeds 1/(4 ||W*||)")

    return restricted


STATEMENTS: dict[str, Statement] = {
    # geometric at any step size: W_kq tends to W*_kq in direction (sharp.theorem1), and grows (sharp.lemma6)
    "ntp.theorem2.rate": _proved(2),
    "sharp.floor": _for_short_steps(_floor),
    "sharp.floor.any-step": _floor,
    "sharp.rate": _for_short_steps(_rate),
    "sharp.rate.any-step": _rate,
    "sharp.theorem1.squared": _proved(1),  # 1 - cos <= (alpha + beta log t)^2/t^2 from a step on
}
