"""Step counts N for statements on uniform classes: from N >> K^2 and N-bar >> Delta on."""

from math import ceil, log, log10

import numpy as np

from marginaudit.claims.claim import BeyondTheRun
from marginaudit.claims.snap.conditions import no_growth, no_zeros
from marginaudit.claims.snap.run import ClassRun
from marginaudit.orders.arrays import Integers
from marginaudit.orders.snap.assumptions import MUCH_GREATER
from marginaudit.training.snap.counts.mean_counts import radius_of

MAY_BE_UNDRAWN = "a class may never be drawn: there are two"
"""Refutation of statements with probability 1 - delta for unrestricted delta; see `one_class`."""

DECADES = 7
"""Decades of N after the first that a statement covers."""

A_DECADE = 4

FARTHEST = 10**12
"""Largest N with computed binomial tails."""


def enough_steps(run: ClassRun, delta: float = 1.0) -> float:
    """N >> K^2, and N-bar >> Delta."""
    return float(max(MUCH_GREATER, MUCH_GREATER**2 * log(1 / delta)) * run.K**2)


def enough(run: ClassRun, delta: float = 1.0) -> Integers:
    """`DECADES` of N from N >> K^2 and N-bar >> Delta on."""
    return within(steps_from(enough_steps(run, delta)), run, delta)


def within(N: Integers, run: ClassRun, delta: float) -> Integers:
    """Restrict to N with N-bar >> Delta: rounding up can exclude the first."""
    return N if delta == 1 else N[MUCH_GREATER * radius_of(N, delta) <= -(-N // run.K)]


def steps_from(first: float, farthest: float = 0.0) -> Integers:
    """`A_DECADE` values of N a decade, for `DECADES` from the first on, or to the farthest if that is later.

    Raises
    ------
    BeyondTheRun
        N is too large for binomial tails in float64.
    """
    if first * 1e3 > FARTHEST:
        raise BeyondTheRun(f"it applies from N = {first:.4g} on, too large for computed probabilities")
    decades = max(DECADES, log10(max(farthest, first) / first))
    last = min(first * 10.0**decades, FARTHEST)
    return np.unique(np.ceil(np.geomspace(first, last, ceil(A_DECADE * decades) + 1)).astype(np.int64))


def deterministic_counts(run: ClassRun) -> str | None:
    """Reason why the counts are deterministic, or None."""
    return "There is one class, and N_n = N." if run.K == 1 else None


def no_fluctuation(run: ClassRun) -> str | None:
    """Reason why the counts are deterministic or h is not computed, or None."""
    return deterministic_counts(run) or no_growth(run)


def no_transition(run: ClassRun) -> str | None:
    """Reason why eq. 62 lacks its two phases, or None."""
    if reason := no_zeros(run):
        return f"{reason}: omega_1 of Lemma 8, on which eq. 62 turns, does not exist."
    return no_fluctuation(run)
