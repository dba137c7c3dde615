"""Theorem 2 and Corollary 2 of arXiv 2305.16380: under eq. 10 distinct tokens gain attention, common ones lose it."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from marginaudit.orders.snap import common_tokens, distinct_tokens
from marginaudit.reports.claim import Claim
from marginaudit.reports.judgements import Bounded, Parts
from marginaudit.reports.judgements.bounded import LEAST
from marginaudit.reports.series import Series, series
from marginaudit.reports.snap.conditions import THEOREM_5
from marginaudit.reports.snap.eq10 import (
    EQ_10,
    assumption_2_never_met,
    at_start,
    common_pairs,
    distinct_pairs,
    how_long_assumption_2_holds,
    meets_assumption_2,
    no_equation,
    no_path,
    rates_along,
)
from marginaudit.reports.snap.run import ClassRun

SOURCE = "arXiv 2305.16380"

ONE_COMMON = ("single_common", "distinct_beside_common")

AT_FIRST = "At first, over eta_Z gamma"

Pairs = Callable[[ClassRun], NDArray[np.int64]]


def extreme(run: ClassRun, pairs: Pairs, sign: int, *, where_weak: bool = False) -> Series:
    """At each step the z-dot of those pairs that is nearest to 0 or beyond it, where all are to have this sign.

    Or at those steps alone at which Assumption 2 holds.
    """
    seen, chosen = rates_along(run), pairs(run)
    if not len(chosen):
        return series([], radius=0, step=np.array([], dtype=np.int64))
    found = seen.z_dot(chosen) * run.eta_Z
    at = np.argmin(sign * found.value - found.error, axis=1)
    rows = np.flatnonzero(meets_assumption_2(run)) if where_weak else np.arange(len(at))
    names = [run.path.logits.names[chosen[i]] for i in at[rows]]
    return series(
        found.value[rows, at[rows]],
        radius=found.error[rows, at[rows]],
        step=seen.step[rows],
        label=tuple(f"{token} under {query}" for query, token in names),
    )


def starting(run: ClassRun, pairs: Pairs) -> Series:
    """Z-dot of those pairs over eta_Z gamma where Z = 0, which no choice of recorded steps leaves out."""
    chosen = pairs(run)
    found = at_start(run)[chosen]
    names = [run.path.logits.names[i] for i in chosen]
    label = tuple(f"{token} under {query} where Z = 0" for query, token in names)
    return series(found.value, radius=found.error, label=label)


def nothing_distinct(run: ClassRun) -> str | None:
    """Why nothing is said of distinct tokens, or None; see `no_path`."""
    none = None if any(distinct_tokens(run.dataset).values()) else "No class has a distinct token."
    return no_equation(run) or none or no_path(run)


def nothing_common(run: ClassRun) -> str | None:
    """Why nothing is said of common tokens, or None; see `no_path`."""
    none = None if common_tokens(run.dataset) else "No two classes share a token."
    return no_equation(run) or none or no_path(run)


def _above(_: ClassRun, t: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.full(len(t), LEAST)


def _below(_: ClassRun, t: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.full(len(t), -LEAST)


def _gain(name: str, *, from_zero: bool) -> Parts:
    found = Bounded(measure=lambda run: extreme(run, distinct_pairs, 1, where_weak=not from_zero), lower=_above)
    first = Bounded(measure=lambda run: starting(run, distinct_pairs), lower=_above)
    return Parts({name: found} | ({AT_FIRST: first} if from_zero else {}), note=how_long_assumption_2_holds)


def _lose(name: str, *, from_zero: bool) -> Parts:
    found = Bounded(measure=lambda run: extreme(run, common_pairs, -1, where_weak=not from_zero), upper=_below)
    first = Bounded(measure=lambda run: starting(run, common_pairs), upper=_below)
    return Parts({name: found} | ({AT_FIRST: first} if from_zero else {}), note=how_long_assumption_2_holds)


DISTINCT = Claim(
    id="snap.theorem2.distinct",
    source=f"{SOURCE}, Theorem 2 (a), eq. 98",
    statement=(
        "Under eq. 10 from Z = 0 every distinct token gains, z-dot > 0, at every t > 0 at which attention, as it is "
        f"then, meets Assumption 2; {EQ_10}."
    ),
    formula=r"l\in G_{DT}(n)\ \Rightarrow\ \dot z_{\psi(n)l}=\eta_Zf_{nl}^2\xi_n\gt 0",
    assumptions=("uniform_classes",),
    judgement=_gain("Distinct tokens", from_zero=False),
    absent=lambda run: nothing_distinct(run) or assumption_2_never_met(run),
)

DISTINCT_FROM_ZERO = replace(
    DISTINCT,
    id="snap.theorem2.distinct.from-zero",
    source=f"{SOURCE}, Theorem 2 (a) with Assumption 2 at Z = 0 alone",
    statement=(
        "Where Assumption 2 holds at Z = 0, under eq. 10 from there every distinct token gains, z-dot > 0, at every t "
        f"from 1 to the last that is recorded; {EQ_10}."
    ),
    assumptions=THEOREM_5,
    judgement=_gain("Distinct tokens", from_zero=True),
    absent=nothing_distinct,
)

COMMON = Claim(
    id="snap.theorem2.common",
    source=f"{SOURCE}, Theorem 2 (b), eq. 100",
    statement=(
        "Where one token is common, and under each query under which it occurs some class has a distinct token, under "
        "eq. 10 from Z = 0 the common token loses there, z-dot < 0, at every t > 0 at which attention, as it is then, "
        f"meets Assumption 2; {EQ_10}."
    ),
    formula=r"\lvert G_{CT}\rvert=1,\ l\in G_{CT}\ \Rightarrow\ "
    r"\dot z_{ml}=-\eta_Z\sum_{n\in\psi^{-1}(m)}(1-f_{nl}^2)\xi_n\lt 0",
    assumptions=("uniform_classes", *ONE_COMMON),
    judgement=_lose("The common token", from_zero=False),
    absent=lambda run: nothing_common(run) or assumption_2_never_met(run),
)

COMMON_FROM_ZERO = replace(
    COMMON,
    id="snap.theorem2.common.from-zero",
    source=f"{SOURCE}, Theorem 2 (b) with Assumption 2 at Z = 0 alone",
    statement=(
        "Where one token is common, under each query under which it occurs some class has a distinct token, and "
        "Assumption 2 holds at Z = 0, under eq. 10 from there the common token loses, z-dot < 0, at every t > 0; "
        f"{EQ_10}."
    ),
    assumptions=(*THEOREM_5, *ONE_COMMON),
    judgement=_lose("The common token", from_zero=True),
    absent=nothing_common,
)

SYMMETRIC = Claim(
    id="snap.corollary2",
    source=f"{SOURCE}, Corollary 2",
    statement=(
        "With one query, symmetric classes, P(l|n) of common tokens l the same for all n, and Z(0) = 0, under eq. 10 "
        f"every common token loses at every t > 0; {EQ_10}."
    ),
    formula=r"l\in G_{CT}\ \Rightarrow\ \dot z_{m_0l}\lt 0",
    assumptions=(*THEOREM_5, "single_query", "symmetric_classes", "shared_common"),
    judgement=_lose("Common tokens", from_zero=True),
    absent=nothing_common,
)

ANY_CLASSES = replace(
    SYMMETRIC,
    id="snap.corollary2.any-classes",
    source=f"{SOURCE}, Corollary 2 without its conditions (1) to (3)",
    statement=f"From Z(0) = 0, under eq. 10 every common token loses at every t > 0, whatever the classes; {EQ_10}.",
    assumptions=THEOREM_5,
    instead=(
        "A token that is nearly distinct gains: with two classes of one query, those for which "
        r"$f_1^\top f_2\,(f_{1l}^2+f_{2l}^2)>2f_{1l}f_{2l}$ (docs/proofs-snap.md section 4.2)."
    ),
)

CLAIMS: tuple[Claim, ...] = (DISTINCT, DISTINCT_FROM_ZERO, COMMON, COMMON_FROM_ZERO, SYMMETRIC, ANY_CLASSES)
