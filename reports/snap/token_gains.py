"""Which tokens gain attention along eq. 10, and which lose it: z-dot nearest to 0, or beyond it, at each step."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from marginaudit.orders.snap import common_tokens, distinct_tokens
from marginaudit.reports.claim import NotJudged
from marginaudit.reports.judgements import Bounded, Parts
from marginaudit.reports.series import Series, series
from marginaudit.reports.snap.eq10 import (
    above_zero,
    at_start,
    common_pairs,
    distinct_pairs,
    gains_along,
    how_long_assumption_2_holds,
    meets_assumption_2,
    no_equation,
    no_gains,
)
from marginaudit.reports.snap.run import ClassRun
from marginaudit.reports.verdict import LEAST

AT_FIRST = "At first, over eta_Z gamma"

Pairs = Callable[[ClassRun], NDArray[np.int64]]


def extreme(run: ClassRun, pairs: Pairs, sign: int, *, where_assumption_2: bool = False) -> Series:
    """At each step the z-dot of those pairs that is nearest to 0 or beyond it, where all are to have this sign.

    Or at those steps alone at which Assumption 2 holds.
    """
    chosen = pairs(run)
    if not len(chosen):
        return series([], radius=0, step=np.array([], dtype=np.int64))
    step, found = gains_along(run, chosen)
    at = np.argmin(sign * found.value - found.error, axis=1)
    rows = np.flatnonzero(meets_assumption_2(run)) if where_assumption_2 else np.arange(len(at))
    names = [run.logits.names[chosen[i]] for i in at[rows]]
    return series(
        found.value[rows, at[rows]],
        radius=found.error[rows, at[rows]],
        step=step[rows],
        label=tuple(f"{token} under {query}" for query, token in names),
    )


def starting(run: ClassRun, pairs: Pairs) -> Series:
    """Z-dot of those pairs over eta_Z gamma where Z = 0, whichever steps are recorded; nothing of a recorded run.

    Raises
    ------
    NotJudged
        A recorded run does not start there.
    """
    if run.recorded is not None:
        if not run.recorded.starts_at_zero:
            raise NotJudged("it is about runs from Z = 0, and the first record is not Z = 0 at step 0")
        return series([], radius=0)
    chosen = pairs(run)
    found = at_start(run)[chosen]
    names = [run.logits.names[i] for i in chosen]
    label = tuple(f"{token} under {query} where Z = 0" for query, token in names)
    return series(found.value, radius=found.error, label=label)


def nothing_distinct(run: ClassRun) -> str | None:
    """Why nothing is said of distinct tokens, or None; see `no_gains`."""
    none = None if any(distinct_tokens(run.dataset).values()) else "No class has a distinct token."
    return no_equation(run) or none or no_gains(run)


def nothing_common(run: ClassRun) -> str | None:
    """Why nothing is said of common tokens, or None; see `no_gains`."""
    none = None if common_tokens(run.dataset) else "No two classes share a token."
    return no_equation(run) or none or no_gains(run)


def below_zero(_: ClassRun, t: NDArray[np.float64]) -> NDArray[np.float64]:
    """The largest negative float at each step."""
    return np.full(len(t), -LEAST)


def gain(name: str, *, from_zero: bool) -> Parts:
    """Every distinct token gains, where Assumption 2 holds or at Z = 0 and every recorded step."""
    found = Bounded(
        measure=lambda run: extreme(run, distinct_pairs, 1, where_assumption_2=not from_zero), lower=above_zero
    )
    first = Bounded(measure=lambda run: starting(run, distinct_pairs), lower=above_zero)
    return Parts({name: found} | ({AT_FIRST: first} if from_zero else {}), note=how_long_assumption_2_holds)


def lose(name: str, *, from_zero: bool) -> Parts:
    """Every common token loses, where Assumption 2 holds or at Z = 0 and every recorded step."""
    found = Bounded(
        measure=lambda run: extreme(run, common_pairs, -1, where_assumption_2=not from_zero), upper=below_zero
    )
    first = Bounded(measure=lambda run: starting(run, common_pairs), upper=below_zero)
    return Parts({name: found} | ({AT_FIRST: first} if from_zero else {}), note=how_long_assumption_2_holds)
