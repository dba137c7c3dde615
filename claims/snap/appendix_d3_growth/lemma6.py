"""Lemma 6 of arXiv 2305.16380: the continuous growth h of a class's row of W."""

import numpy as np

from marginaudit.claims.claim import Claim
from marginaudit.claims.judgements import Equal
from marginaudit.claims.quotation import quoted
from marginaudit.claims.series import FORMULA_ROUNDING, Series, by_formula, series
from marginaudit.claims.snap.conditions import no_recorded_growth
from marginaudit.claims.snap.readings import PAGE
from marginaudit.claims.snap.run import ClassRun
from marginaudit.claims.standing import proved
from marginaudit.orders.arrays import Floats
from marginaudit.training.snap.limit.continuous import continuous

PANELS, NODES = 128, 12
"""Gauss-Legendre quadrature over M h: on a panel at most 1 long the relative error is below 1e-30."""


def _times(run: ClassRun) -> Floats:
    """s = t/K at the recorded steps: continuous time on one class."""
    return np.asarray(run.steps / run.K, dtype=np.float64)


def ode_times(run: ClassRun) -> Series:
    """When the solution of h' = eta_Y/(M - 1 + exp(M h)) reaches the h(s) of eq. 45.

    It is the integral of (M - 1 + exp(x))/(M eta_Y) from 0 to x = M h, by Gauss-Legendre quadrature.
    """
    s = _times(run)
    x = continuous(s, run.M, run.eta_Y).logit
    node, weight = np.polynomial.legendre.leggauss(NODES)
    left = np.arange(PANELS)[:, np.newaxis]
    part = ((left + (1 + node) / 2) / PANELS).ravel()
    rate = run.M - 1 + np.exp(x.value[:, np.newaxis] * part)
    scale = run.M * run.eta_Y
    time = x.value / (2 * PANELS) * (rate @ np.tile(weight, PANELS)) / scale
    # nodes, weights and sums have a few roundings each, exp also those of its argument
    rounding = (FORMULA_ROUNDING + 8 * np.finfo(float).eps * (1 + x.value)) * time
    return series(
        time, radius=(run.M - 1 + np.exp(x.value)) / scale * x.error + rounding, step=run.steps, label=_labels(s)
    )


def _labels(s: Floats) -> tuple[str, ...]:
    return tuple(f"s = {time:.6g}" for time in s)


LEMMA6 = Claim(
    id="snap.lemma6",
    source="arXiv 2305.16380, Lemma 6",
    statement=(
        "exp(M h) + (M-1) M h = M eta_Y t + 1 for the continuous growth h(t) with h(0) = 0; audited as the time at "
        "which the differential equation of eq. 44, integrated numerically, reaches the root h(s) of eq. 45."
    ),
    formula=r"\exp(Mh)+(M-1)Mh=M\eta_Y t+1",
    assumptions=(),
    judgement=Equal(measure=ode_times, expected=lambda run: by_formula(_times(run), step=run.steps)),
    absent=no_recorded_growth,
    standing=proved(PAGE + "55-snaplemma6", hunted=82),
    source_words=quoted(
        "appendix D.3, Lemma 6, eqs. 44 and 45",
        "assume h(0) = 0, then we have exp(Mh(t)) + (M-1)Mh(t) = M eta_Y t + 1",
    ),
)

CLAIMS: tuple[Claim, ...] = (LEMMA6,)
