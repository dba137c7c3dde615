"""Theorem 1 (b) of arXiv 2305.16380: the speed gamma of self-attention in scan and snap."""

import numpy as np

from marginaudit.claims.claim import Claim
from marginaudit.claims.judgements import HiddenConstant, Parts
from marginaudit.claims.quotation import quoted, rederived
from marginaudit.claims.series import FORMULA_ROUNDING, Series, series
from marginaudit.claims.snap.appendix_d3_growth.two_stages import (
    SCAN_GAMMA,
    along_t,
    at_most,
    beyond_steps,
    h,
    ones,
    range_in_numbers,
    scaled_time,
    scan_times,
    scan_y,
    snap_gamma,
    snap_h,
    snap_times,
    speeds,
    uniform,
)
from marginaudit.claims.snap.conditions import ASSUMPTION_2, RANGE_R, no_recorded_growth, outside_range_r
from marginaudit.claims.snap.readings import IN_RANGE_R, ONE_CONSTANT, PAGE
from marginaudit.claims.snap.run import ClassRun
from marginaudit.claims.standing import Severity, contradicts, proved, refuted
from marginaudit.orders.arrays import Floats
from marginaudit.training.snap.growth import larger_zero, snap_start
from marginaudit.training.snap.limit.continuous import gamma

PROOF = PAGE + "14-snaptheorem1brederived"

LOG_VOCABULARIES = np.geomspace(np.log(1000), 1e6, 121)
"""ln M of Theorem 1 (b)'s sweep."""


def theorem_gamma(run: ClassRun, t: Floats) -> Floats:
    """K ln(eta_Y t/K)/(eta_Y t), without M."""
    return np.asarray(np.log(scaled_time(run, t)) / scaled_time(run, t))


def constants_at_start(run: ClassRun) -> Series:
    """gamma eta_Y t/(K ln(eta_Y t/K)) at t = 2 (1+omega_1) K ln M/eta_Y, along ln M.

    With c = 1 - 1/M and L = ln M, x = L + v solves exp(x) + (M-1) x = M y + 1 where exp(v) + c (L + v) = y + 1/M;
    gamma is c^2 x/(c + exp(v)).
    """
    L = LOG_VOCABULARIES
    one_in_M = np.exp(-L)
    c, y = 1 - one_in_M, 2 * larger_zero(L)
    goal = y + one_in_M - c * L
    v = np.log(goal)  # convex, and beyond the root
    for _ in range(60):
        v = v - (np.exp(v) + c * v - goal) / (np.exp(v) + c)
    speed = c**2 * (L + v) / (c + np.exp(v))
    value = speed * y / np.log(y)
    # goal is a difference of two numbers up to twice as large; v is off by that over the slope, which is about goal
    return series(value, radius=4 * FORMULA_ROUNDING * value, step=L, clock="ln M")


def _constant_here(run: ClassRun) -> str:
    y = snap_start(1, run.M, 1.0)
    found = float(gamma([y], 1, run.M, 1.0).value[0]) * y / np.log(y)
    return f"At t_0 the constant is {found:.4g} at this M; it grows like 2 ln M/lnln M. {range_in_numbers(run)}"


THEOREM1_B = Claim(
    id="snap.theorem1.b",
    source="arXiv 2305.16380, Theorem 1 (b)",
    statement=(
        "Assumption 2, uniform classes, range R: gamma(t) = O(eta_Y t/K) for t <= K ln M/eta_Y, and "
        "gamma(t) = O(K ln(eta_Y t/K)/(eta_Y t)) for t >= t_0 = 2 (1+delta') K ln M/eta_Y, uniformly in M, with "
        "delta' = omega_1. The same classes meet this in every larger vocabulary."
    ),
    formula=(
        r"\gamma(t)=O\left(\frac{\eta_Yt}{K}\right),\ t\le\frac{K\ln M}{\eta_Y};\quad "
        r"\gamma(t)=O\left(\frac{K\ln(\eta_Yt/K)}{\eta_Yt}\right),\ t\ge\frac{2(1+\delta')K\ln M}{\eta_Y}"
    ),
    assumptions=("uniform_classes", *ASSUMPTION_2, RANGE_R),
    judgement=Parts(
        {
            "Before, along t": SCAN_GAMMA,
            "Before, along M": uniform("gamma", scan_y, lambda M, y: y),
            "After, along t": along_t(speeds, snap_times, theorem_gamma),
            "After, at t_0 along ln M": HiddenConstant(measure=constants_at_start, shape=ones),
        },
        note=_constant_here,
    ),
    absent=lambda run: outside_range_r(run) or no_recorded_growth(run),
    instead=(
        r"for $t\ge t_0$ no constant serves every $M$, as at $t_0$ it is about $2\ln M/\ln\ln M$; "
        r"$\gamma\le2K\ln(M\eta_Yt/K)/(\eta_Yt)$ (snap.theorem1.b.rederived)."
    ),
    standing=refuted(
        PROOF,
        "snap.lemma6",
        severity=Severity.CONSTANT,
        wrong="Theorem 1 (b) needs Lemma 9's ln(M eta_Y t/K): it is off by a factor of order ln M/lnln M at t_0.",
        defence="At each M it is true, with a constant that grows like ln M/lnln M; what follows uses Lemma 9's form.",
        hunted=1,
        weakest="one M, or ln(M eta_Y t/K) for ln(eta_Y t/K)",
    ),
    source_words=quoted(
        "section 4, Theorem 1 (b); appendix D.5",
        "gamma(t) = O(eta_Y t/K) when t <= ln(M)K/eta_Y and gamma(t) = O(K ln(eta_Y t/K)/(eta_Y t)) when t >= "
        "2(1+delta')ln(M)K/eta_Y",
        f"{IN_RANGE_R}. delta' is omega_1 of Lemma 8. {ONE_CONSTANT}.",
    ),
    implications=(
        contradicts(
            "snap.lemma6",
            condition="the constant at t_0 grows with M",
            proof=PROOF,
        ),
    ),
)

THEOREM1_B_REDERIVED = Claim(
    id="snap.theorem1.b.rederived",
    source="arXiv 2305.16380, Theorem 1 (b), corrected (docs/proofs-snap.md)",
    statement=(
        "M >= 5: gamma(t) <= eta_Y t/K for every t, and gamma(t) <= 2 K ln(M eta_Y t/K)/(eta_Y t) and "
        "h(t/K) <= ln(M eta_Y t/K)/M for t >= 2 (1+omega_1) K ln M/eta_Y."
    ),
    formula=(
        r"\gamma(t)\le\frac{\eta_Yt}{K};\quad\gamma(t)\le\frac{2K\ln(M\eta_Yt/K)}{\eta_Yt},\ "
        r"h\le\frac{\ln(M\eta_Yt/K)}{M},\ t\ge\frac{2(1+\omega_1)K\ln M}{\eta_Y}"
    ),
    assumptions=(),
    judgement=Parts(
        {
            "gamma <= eta_Y t/K in the scan": at_most(speeds, scan_times, scaled_time),
            "gamma <= eta_Y t/K in the snap": at_most(speeds, snap_times, scaled_time),
            "gamma in the snap": at_most(speeds, snap_times, lambda run, t: 2 * snap_gamma(run, t)),
            "h in the snap": at_most(h, snap_times, snap_h),
        }
    ),
    absent=beyond_steps,
    standing=proved(PROOF, "snap.lemma6", "snap.lemma8.rederived", hunted=311),
    source_words=rederived("snap.theorem1.b", "ln(M eta_Y t/K) in place of ln(eta_Y t/K), with the constants 1 and 2."),
)

CLAIMS: tuple[Claim, ...] = (THEOREM1_B, THEOREM1_B_REDERIVED)
