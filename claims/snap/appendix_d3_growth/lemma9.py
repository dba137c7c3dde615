"""Lemma 9 of arXiv 2305.16380: h scans, then snaps."""

import numpy as np

from marginaudit.claims.claim import Claim
from marginaudit.claims.judgements import Bounded, Parts
from marginaudit.claims.quotation import quoted, rederived
from marginaudit.claims.series import FORMULA_ROUNDING, Series, series
from marginaudit.claims.snap.appendix_d3_growth.two_stages import (
    SCAN_GAMMA,
    along_t,
    at_most,
    beyond_steps,
    from_first_step,
    h,
    range_in_numbers,
    scaled_time,
    scan_times,
    scan_y,
    snap_gamma,
    snap_h,
    snap_times,
    snap_y,
    speeds,
    uniform,
)
from marginaudit.claims.snap.conditions import RANGE_R, no_recorded_growth, outside_range_r
from marginaudit.claims.snap.readings import IN_RANGE_R, ONE_CONSTANT, PAGE, variant
from marginaudit.claims.snap.run import ClassRun
from marginaudit.claims.standing import Severity, contradicts, proved, refuted
from marginaudit.orders.arrays import Floats
from marginaudit.training.snap.growth import smaller_zero
from marginaudit.training.snap.limit.continuous import continuous

SCAN_PROOF = PAGE + "13-snaplemma9scanrederived"

READING = f"{IN_RANGE_R} (Remark 3). h is the continuous one, at t/K. {ONE_CONSTANT}."

UNDER_WAY = "K (2 (M-1) x_0 - 1)/(M eta_Y)"
"""Start of exp(Mh) <= (M-1) M h, x_0 the smaller zero of exp(x) - (M-1) x."""


def under_way(run: ClassRun) -> float:
    """The t of `UNDER_WAY`, by eq. 45; before it exp(Mh) > (M-1) M h."""
    zero = float(smaller_zero(np.log([float(run.M)]))[0])
    return run.K * (2 * (run.M - 1.0) * zero - 1) / (run.M * run.eta_Y)


def from_start(run: ClassRun) -> Floats:
    """`scan_times`, and t = 0."""
    return np.concatenate([[0.0], scan_times(run)])


def once_under_way(run: ClassRun) -> Floats:
    """`scan_times` from slightly after `under_way`, a margin for rounding."""
    first, t = under_way(run) * (1 + 1e-6), scan_times(run)
    return np.concatenate([[first], t[t > first]])


def power(run: ClassRun, t: Floats) -> Series:
    """exp(M h(t/K))."""
    x = continuous(t / run.K, run.M, run.eta_Y).logit
    value = np.exp(x.value)
    return series(value, radius=value * (np.expm1(x.error) + FORMULA_ROUNDING), step=t)


def others_logit(run: ClassRun, t: Floats) -> Floats:
    """(M-1) M h(t/K)."""
    return (run.M - 1) * continuous(t / run.K, run.M, run.eta_Y).logit.value


def smaller(run: ClassRun, t: Floats) -> Floats:
    """min(M-1, (M-1) M h)."""
    return np.minimum(run.M - 1.0, others_logit(run, t))


def larger(run: ClassRun, t: Floats) -> Floats:
    """max(M-1, (M-1) M h)."""
    return np.maximum(run.M - 1.0, others_logit(run, t))


def scan_h(run: ClassRun, t: Floats) -> Floats:
    """eta_Y t/(M K)."""
    return scaled_time(run, t) / run.M


LEMMA9_SCAN = Claim(
    id="snap.lemma9.scan",
    source="arXiv 2305.16380, Lemma 9",
    statement=(
        "Range R, K <= t <= K ln M/eta_Y, h = h(t/K): exp(Mh) <= min(M-1, (M-1) M h), h = O(eta_Y t/(M K)), "
        "gamma = O(eta_Y t/K)."
    ),
    formula=(
        r"K\le t\le\frac{K\ln M}{\eta_Y}:\quad\exp(Mh)\le\min(M-1,(M-1)Mh),\quad "
        r"h=O\left(\frac{\eta_Yt}{MK}\right),\quad\gamma=O\left(\frac{\eta_Yt}{K}\right)"
    ),
    assumptions=(RANGE_R,),
    judgement=Parts(
        {
            "exp(Mh) <= min(M-1, (M-1) M h)": at_most(
                power, lambda run: from_first_step(run, scan_times(run)), smaller
            ),
            "h along t": along_t(h, scan_times, scan_h),
            "h along M": uniform("h", scan_y, lambda M, y: y / M),
            "gamma along t": SCAN_GAMMA,
            "gamma along M": uniform("gamma", scan_y, lambda M, y: y),
        },
        note=lambda run: (
            f"exp(Mh) > (M-1) M h up to t = {under_way(run):.4g}, about K/(M eta_Y). {range_in_numbers(run)}"
        ),
    ),
    absent=lambda run: outside_range_r(run) or no_recorded_growth(run),
    standing=proved(SCAN_PROOF, "snap.lemma9.scan.rederived", hunted=102),
    source_words=quoted(
        "appendix D.3, Lemma 9",
        "When t <= K ln(M)/eta_Y, we have exp(Mh(t/K)) <= min(M-1, (M-1)Mh(t/K)), h = O(eta_Y t/(MK)) and "
        "gamma(t) = O(eta_Y t/K)",
        f"{READING} t/K >= 1: Remark 3 looks at h on [1, infinity).",
    ),
)

LEMMA9_SCAN_ANY_T = variant(
    LEMMA9_SCAN,
    "any-t",
    "From t = 0 on.",
    source="arXiv 2305.16380, Lemma 9, from t = 0 on",
    statement="Range R, 0 <= t <= K ln M/eta_Y, h = h(t/K): exp(Mh) <= min(M-1, (M-1) M h).",
    formula=r"0\le t\le\frac{K\ln M}{\eta_Y}:\quad\exp(Mh)\le\min(M-1,(M-1)Mh)",
    judgement=at_most(power, from_start, smaller),
    instead=(
        r"$e^{Mh}>(M-1)Mh$ from $t=0$ up to $t=K(2(M-1)x_0-1)/(M\eta_Y)$, about $K/(M\eta_Y)$, $x_0$ the smaller zero "
        "of $e^x-(M-1)x$; from there on all is true, with constants 1 (snap.lemma9.scan.rederived)."
    ),
    standing=refuted(
        SCAN_PROOF,
        "snap.lemma9.scan.rederived",
        severity=Severity.EVERYWHERE,
        wrong="From t = 0 on the exponential is above its bound for K/(M eta_Y) steps, under 0.1 K in range R.",
        hunted=1,
        weakest=f"t >= {UNDER_WAY}, x_0 the smaller zero of Lemma 8",
    ),
    implications=(
        contradicts(
            "snap.lemma9.scan.rederived",
            condition="t = 0 is in the scan",
            proof=SCAN_PROOF,
        ),
    ),
)

LEMMA9_SCAN_REDERIVED = Claim(
    id="snap.lemma9.scan.rederived",
    source="arXiv 2305.16380, Lemma 9, corrected (docs/proofs-snap.md)",
    statement=(
        "M >= 5, t <= K ln M/eta_Y, h = h(t/K): exp(Mh) <= M-1, h <= eta_Y t/(M K), gamma <= eta_Y t/K; and "
        f"exp(Mh) <= (M-1) M h from t = {UNDER_WAY} on, x_0 the smaller zero of exp(x) - (M-1) x."
    ),
    formula=(
        r"\exp(Mh)\le M-1,\quad h\le\frac{\eta_Yt}{MK},\quad\gamma\le\frac{\eta_Yt}{K},\quad "
        r"\exp(Mh)\le(M-1)Mh\ \text{for}\ t\ge\frac{K(2(M-1)x_0-1)}{M\eta_Y}"
    ),
    assumptions=(),
    judgement=Parts(
        {
            "exp(Mh) <= M-1": at_most(power, from_start, lambda run, t: np.full(len(t), run.M - 1.0)),
            "exp(Mh) <= (M-1) M h": at_most(power, once_under_way, others_logit),
            "h": at_most(h, scan_times, scan_h),
            "gamma": at_most(speeds, scan_times, scaled_time),
        }
    ),
    absent=beyond_steps,
    standing=proved(SCAN_PROOF, "snap.lemma6", "snap.lemma8.rederived", hunted=418),
    source_words=rederived("snap.lemma9.scan", "exp(Mh) <= (M-1) M h from an explicit time on."),
)

LEMMA9_SNAP = Claim(
    id="snap.lemma9.snap",
    source="arXiv 2305.16380, Lemma 9",
    statement=(
        "Range R, t >= 2 (1+omega_1) K ln M/eta_Y, h = h(t/K): exp(Mh) >= max(M-1, (M-1) M h), "
        "h = O(ln(M eta_Y t/K)/M), gamma = O(K ln(M eta_Y t/K)/(eta_Y t))."
    ),
    formula=(
        r"t\ge\frac{2(1+\omega_1)K\ln M}{\eta_Y}:\quad\exp(Mh)\ge\max(M-1,(M-1)Mh),\quad "
        r"h=O\left(\frac{\ln(M\eta_Yt/K)}{M}\right),\quad\gamma=O\left(\frac{K\ln(M\eta_Yt/K)}{\eta_Yt}\right)"
    ),
    assumptions=(RANGE_R,),
    judgement=Parts(
        {
            "exp(Mh) >= max(M-1, (M-1) M h)": Bounded(measure=lambda run: power(run, snap_times(run)), lower=larger),
            "h along t": along_t(h, snap_times, snap_h),
            "h along M": uniform("h", snap_y, lambda M, y: np.log(M * y) / M),
            "gamma along t": along_t(speeds, snap_times, snap_gamma),
            "gamma along M": uniform("gamma", snap_y, lambda M, y: np.log(M * y) / y),
        },
        note=range_in_numbers,
    ),
    absent=lambda run: outside_range_r(run) or no_recorded_growth(run),
    standing=proved(PAGE + "14-snaptheorem1brederived", "snap.theorem1.b.rederived", hunted=118),
    source_words=quoted(
        "appendix D.3, Lemma 9",
        "When t >= 2(1+omega_1)K ln(M)/eta_Y .. exp(Mh(t/K)) >= max(M-1, (M-1)Mh(t/K)), h = O((1/M)ln(M eta_Y "
        "t/K)) and gamma(t) = O(K ln(M eta_Y t/K)/(eta_Y t))",
        READING,
    ),
)

CLAIMS: tuple[Claim, ...] = (LEMMA9_SCAN, LEMMA9_SCAN_ANY_T, LEMMA9_SCAN_REDERIVED, LEMMA9_SNAP)
