"""Remark 4 of arXiv 2305.16380 with eq. 60: counts of uniform classes are near their mean."""

from collections.abc import Callable
from functools import partial

import numpy as np

from marginaudit.claims.claim import Claim
from marginaudit.claims.judgements import Limit, Parts
from marginaudit.claims.quotation import quoted
from marginaudit.claims.run import once_a_run
from marginaudit.claims.series import Series, by_formula
from marginaudit.claims.snap.appendix_d4_sampled_classes.enough_steps import deterministic_counts, enough, enough_steps
from marginaudit.claims.snap.chances import Chances, chances, rarely
from marginaudit.claims.snap.readings import MUCH, PAGE
from marginaudit.claims.snap.run import ClassRun
from marginaudit.claims.standing import proved
from marginaudit.orders.arrays import Floats
from marginaudit.training.snap.counts.binomial import Interval
from marginaudit.training.snap.counts.mean_counts import radius_of

SHOWN = (0.1, 0.01)
"""Values of delta for the series of Delta/N-bar."""


@once_a_run
def beyond(run: ClassRun) -> Chances:
    """Probability of |N_n - N-bar| > 2 Delta, at each delta and N."""
    N = enough(run)
    mean = np.asarray(-(-N // run.K), dtype=np.float64)
    # counts are whole numbers: half of one as a margin makes rounding irrelevant
    return chances(
        run.K,
        lambda delta: (N, Interval.around(mean, 2 * radius_of(N, delta) + 0.5), (f"N = {n}" for n in N)),
    )


def _vanishes(ratio: Callable[[ClassRun, Floats], Floats]) -> Limit:
    """Judgement that 1 + a ratio tends to 1 along N, over seven decades from N >> K^2 on."""

    def measure(run: ClassRun) -> Series:
        N = np.ceil(enough_steps(run) * 10 ** np.linspace(0, 7, 71))
        return by_formula(1 + ratio(run, N), step=N, clock="N")

    return Limit(
        measure=measure,
        predicted=lambda _: 1.0,
        regime=lambda _: 1.0,
    )


def _relative_radius(run: ClassRun, N: Floats, delta: float) -> Floats:
    return np.asarray(radius_of(N, delta) / np.ceil(N / run.K))


def _from_where(run: ClassRun) -> str:
    need = ", ".join(f"{100 * run.K**2 * np.log(1 / delta):.4g} for delta = {delta:g}" for delta in SHOWN)
    return f"10 Delta <= N-bar takes about N >= 100 K^2 ln(1/delta): {need}."


REMARK4 = Claim(
    id="snap.remark4",
    source="arXiv 2305.16380, Remark 4, eq. 60",
    statement=(
        "Uniform classes, N >> K^2, N-bar = ceil(N/K), Delta = ceil(sqrt(N ln(1/delta))): N/K >> sqrt(N), and with "
        "probability at least 1 - delta |N_n - N-bar| <= C Delta << N-bar, C = 2 for every K, N and delta in (0, 1). "
        "Chances are exact; much smaller is that the ratio tends to 0 as N grows, at each delta."
    ),
    formula=r"\lvert N_n-\bar N\rvert\lesssim\Delta\ll\bar N",
    assumptions=("uniform_classes",),
    judgement=Parts(
        {
            "The chance of more than 2 Delta": rarely(beyond),
            "sqrt(N)/(N/K)": _vanishes(lambda run, N: run.K / np.sqrt(N)),
            **{f"Delta/N-bar, delta = {delta:g}": _vanishes(partial(_relative_radius, delta=delta)) for delta in SHOWN},
        },
        note=_from_where,
    ),
    absent=deterministic_counts,
    standing=proved(PAGE + "83-snapremark4", "snap.lemma10.rederived", hunted=127),
    source_words=quoted(
        "appendix D.4, Remark 4, eq. 60",
        "So N_n are all concentrated around N P(n)",
        f"{MUCH}: N >= 10 K^2. For each class by itself. Much smaller is in the limit of many steps, at each delta: at "
        'no N is Delta below N-bar for every delta. "Less than about" is with the constant 2, for all of them.',
    ),
)

CLAIMS: tuple[Claim, ...] = (REMARK4,)
