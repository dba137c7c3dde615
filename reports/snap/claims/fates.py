"""Theorem 2 and Corollary 2 of arXiv 2305.16380: under eq. 10 distinct tokens gain attention, common ones lose it."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from marginaudit.reports.claim import Claim
from marginaudit.reports.judgements import Bounded, Parts
from marginaudit.reports.series import Series, series
from marginaudit.reports.snap.claims.backpropagated import ABOVE_ZERO
from marginaudit.reports.snap.claims.conditions import THEOREM_5
from marginaudit.reports.snap.claims.moving import EQ_10, common_pairs, distinct_pairs, kept, moving, no_path
from marginaudit.reports.snap.claims.overlaps import BELOW_ZERO
from marginaudit.reports.snap.run import ClassRun

SOURCE = "arXiv 2305.16380"

Pairs = Callable[[ClassRun], NDArray[np.int64]]


def extreme(run: ClassRun, pairs: Pairs, sign: int) -> Series:
    """At each step the z-dot of those pairs that is nearest to 0 or beyond it, where all are to have this sign."""
    seen, chosen = moving(run), pairs(run)
    if not len(chosen):
        return series([], step=np.array([], dtype=np.int64))
    found = seen.z_dot(chosen) * run.eta_Z
    at = np.argmin(sign * found.value - found.error, axis=1)
    every = np.arange(len(at))
    names = [run.path.logits.names[chosen[i]] for i in at]
    return series(
        found.value[every, at],
        radius=found.error[every, at],
        step=seen.step,
        label=tuple(f"{token} under {query}" for query, token in names),
    )


GAIN = Bounded(measure=lambda run: extreme(run, distinct_pairs, 1), lower=lambda _, t: np.full(len(t), ABOVE_ZERO))
LOSE = Bounded(measure=lambda run: extreme(run, common_pairs, -1), upper=lambda _, t: np.full(len(t), BELOW_ZERO))

DISTINCT = Claim(
    id="snap.theorem2.distinct",
    source=f"{SOURCE}, Theorem 2 (a), eq. 98",
    statement=f"Under eq. 10 every distinct token gains, z-dot > 0, at every t >= 1; {EQ_10}.",
    formula=r"l\in G_{DT}(n)\ \Rightarrow\ \dot z_{\psi(n)l}=\eta_Zf_{nl}^2\xi_n\gt 0",
    assumptions=THEOREM_5,
    judgement=Parts({"Distinct tokens": GAIN}, note=kept),
    absent=no_path,
)

COMMON = Claim(
    id="snap.theorem2.common",
    source=f"{SOURCE}, Theorem 2 (b), eq. 100",
    statement=(
        "Where one token is common, and under each query under which it occurs some class has a distinct token, under "
        f"eq. 10 the common token loses there, z-dot < 0, at every t >= 1; {EQ_10}."
    ),
    formula=r"\lvert G_{CT}\rvert=1,\ l\in G_{CT}\ \Rightarrow\ "
    r"\dot z_{ml}=-\eta_Z\sum_{n\in\psi^{-1}(m)}(1-f_{nl}^2)\xi_n\lt 0",
    assumptions=(*THEOREM_5, "single_common", "distinct_beside_common"),
    judgement=Parts({"The common token": LOSE}, note=kept),
    absent=no_path,
)

SYMMETRIC = Claim(
    id="snap.corollary2",
    source=f"{SOURCE}, Corollary 2",
    statement=(
        "With one query, symmetric classes, P(l|n) of common tokens l the same for all n, and Z(0) = 0, under eq. 10 "
        f"every common token loses at every t >= 1; {EQ_10}."
    ),
    formula=r"l\in G_{CT}\ \Rightarrow\ \dot z_{m_0l}\lt 0",
    assumptions=(*THEOREM_5, "single_query", "symmetric_classes", "shared_common"),
    judgement=Parts({"Common tokens": LOSE}, note=kept),
    absent=no_path,
)

ANY_CLASSES = replace(
    SYMMETRIC,
    id="snap.corollary2.any-classes",
    source=f"{SOURCE}, Corollary 2 without its conditions (1) to (3)",
    statement=f"From Z(0) = 0, under eq. 10 every common token loses at every t >= 1, whatever the classes; {EQ_10}.",
    assumptions=THEOREM_5,
    instead=(
        "A token that is nearly distinct gains: with two classes of one query, those for which "
        r"$f_1^\top f_2\,(f_{1l}^2+f_{2l}^2)>2f_{1l}f_{2l}$ (docs/proofs-snap.md section 4.2)."
    ),
)

CLAIMS: tuple[Claim, ...] = (DISTINCT, COMMON, SYMMETRIC, ANY_CLASSES)
