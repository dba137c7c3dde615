r"""Lemma 9 and Theorem 1 (b) of arXiv 2305.16380: h scans, then snaps, and the speed gamma of self-attention with it.

h(t/K) and gamma(t) depend on M and on y = eta_Y t/K alone, so a constant that serves every y at every M serves every
K and every eta_Y too.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from marginaudit.reports.claim import Claim, NotFollowed
from marginaudit.reports.judgements import Bounded, HiddenConstant, Parts
from marginaudit.reports.series import FORMULA_ROUNDING, Series, series
from marginaudit.reports.snap.claims.growth import VOCABULARIES, Floats, larger_zero, smaller_zero
from marginaudit.reports.snap.conditions import no_recorded_growth
from marginaudit.reports.snap.run import FARTHEST, ClassRun
from marginaudit.training.snap.limit import continuous, gamma

MUCH_GREATER = 10
"""What stands for "much greater"."""

RANGE_R = ("large_vocabulary",)
"""The part of M >> 100, M^-0.99 << eta_Y < 1 that is about the dataset."""

ASSUMPTIONS = ("uniform_classes", "wide_vocabulary", "small_overlap", "spread_overlap", *RANGE_R)

BEFORE = np.geomspace(1e-6, 1, 121)
"""Times of the scan, over its last."""

AFTER = np.geomspace(1, 1e12, 121)
"""Times of the snap, over its first."""

LOG_VOCABULARIES = np.geomspace(np.log(1000), 1e6, 121)
"""The ln M along which Theorem 1 (b) is swept."""

Shape = Callable[[ClassRun, Floats], Floats]


def outside_range(run: ClassRun) -> str | None:
    """Why range R has no such step size, or None."""
    if run.eta_Y >= 1:
        return f"eta_Y = {run.eta_Y:g} is not below 1."
    if ratio(run) < MUCH_GREATER:
        return f"eta_Y is {ratio(run):.3g} times M^-0.99, which is not much greater: less than {MUCH_GREATER} times."
    return no_recorded_growth(run)


def beyond_steps(run: ClassRun) -> str | None:
    """Why the corrected statements say nothing, or None.

    Raises
    ------
    NotFollowed
        The scan ends beyond `FARTHEST`, or see `no_recorded_growth`.
    """
    if run.M < 5:
        return "M is below 5."
    if reason := no_recorded_growth(run):
        return reason
    if run.transition > FARTHEST:
        raise NotFollowed(f"the scan ends at t = {run.transition:.3g}, beyond {FARTHEST:.0e} steps")
    return None


def ratio(run: ClassRun) -> float:
    """eta_Y/M^-0.99."""
    return float(run.eta_Y * run.M**0.99)


def _range(run: ClassRun) -> str:
    return f"M/100 = {run.M / 100:.4g}, eta_Y/M^-0.99 = {ratio(run):.4g}."


def scan_end(M: int) -> float:
    """y = ln M where the scan ends."""
    return float(np.log(M))


def snap_start(M: int) -> float:
    """y = 2 (1 + omega_1) ln M where the snap begins."""
    return float(2 * larger_zero(np.log(np.array([float(M)])))[0])


def scan_start(M: int) -> float:
    """y = 2 (M-1) x_0/M - 1/M, before which exp(Mh) > (M-1) M h, from eq. 45 at the smaller zero x_0 of Lemma 8."""
    return float((2 * (M - 1.0) * smaller_zero(np.log(np.array([float(M)])))[0] - 1) / M)


def _times(run: ClassRun, y: float) -> float:
    """The step t at eta_Y t/K = y."""
    return float(y * run.K / run.eta_Y)


def scan_times(run: ClassRun) -> Floats:
    """The recorded steps t <= K ln M/eta_Y, and times up to there."""
    last = _times(run, scan_end(run.M))
    return np.unique(np.concatenate([run.steps[run.steps <= last], last * BEFORE]))


def snap_times(run: ClassRun) -> Floats:
    """The recorded steps t >= 2 (1 + omega_1) K ln M/eta_Y, and times from there on."""
    first = _times(run, snap_start(run.M))
    return np.unique(np.concatenate([run.steps[run.steps >= first], first * AFTER]))


def from_start(run: ClassRun) -> Floats:
    """`scan_times`, and t = 0."""
    return np.concatenate([[0.0], scan_times(run)])


def from_first_step(run: ClassRun) -> Floats:
    """`scan_times` from t = K on, where h is at 1."""
    t = scan_times(run)
    return np.unique(np.concatenate([[float(run.K)], t[t >= run.K]]))


def once_under_way(run: ClassRun) -> Floats:
    """`scan_times` from `scan_start` on, a little later so that rounding does not decide."""
    first, t = _times(run, scan_start(run.M)) * (1 + 1e-6), scan_times(run)
    return np.concatenate([[first], t[t > first]])


# What is measured at this M, along t


def power(run: ClassRun, t: Floats) -> Series:
    """exp(M h(t/K))."""
    x = continuous(t / run.K, run.M, run.eta_Y).logit
    value = np.exp(x.value)
    return series(value, radius=value * (np.expm1(x.error) + FORMULA_ROUNDING), step=t)


def _others_logit(run: ClassRun, t: Floats) -> Floats:
    """(M-1) M h(t/K)."""
    return (run.M - 1) * continuous(t / run.K, run.M, run.eta_Y).logit.value


def smaller(run: ClassRun, t: Floats) -> Floats:
    """min(M-1, (M-1) M h)."""
    return np.minimum(run.M - 1.0, _others_logit(run, t))


def larger(run: ClassRun, t: Floats) -> Floats:
    """max(M-1, (M-1) M h)."""
    return np.maximum(run.M - 1.0, _others_logit(run, t))


def h(run: ClassRun, t: Floats) -> Series:
    """h(t/K)."""
    found = continuous(t / run.K, run.M, run.eta_Y).h
    return series(found.value, radius=found.error, step=t)


def speeds(run: ClassRun, t: Floats) -> Series:
    """gamma(t)."""
    found = gamma(t, run.K, run.M, run.eta_Y)
    return series(found.value, radius=found.error, step=t)


def _y(run: ClassRun, t: Floats) -> Floats:
    """eta_Y t/K."""
    return np.asarray(run.eta_Y * t / run.K)


def scan_h(run: ClassRun, t: Floats) -> Floats:
    """eta_Y t/(M K)."""
    return _y(run, t) / run.M


def snap_h(run: ClassRun, t: Floats) -> Floats:
    """ln(M eta_Y t/K)/M."""
    return np.asarray(np.log(run.M * _y(run, t)) / run.M)


def snap_gamma(run: ClassRun, t: Floats) -> Floats:
    """K ln(M eta_Y t/K)/(eta_Y t)."""
    return np.asarray(np.log(run.M * _y(run, t)) / _y(run, t))


def theorem_gamma(run: ClassRun, t: Floats) -> Floats:
    """K ln(eta_Y t/K)/(eta_Y t), with no M."""
    return np.asarray(np.log(_y(run, t)) / _y(run, t))


# The same along M: the largest over y


def largest_over_M(quantity: str, y: Callable[[int], Floats], shape: Callable[[int, Floats], Floats]) -> Series:
    """The largest quantity over shape(M, y), along M; the quantity is "h" or "gamma", at K = 1 and eta_Y = 1."""
    values, radii = [], []
    for M in VOCABULARIES.tolist():
        at = y(M)
        found = continuous(at, M, 1.0).h if quantity == "h" else gamma(at, 1, M, 1.0)
        needed = found.value / shape(M, at)
        top = int(np.argmax(needed))
        values.append(needed[top])
        radii.append(needed[top] * (found.error[top] / found.value[top] + FORMULA_ROUNDING))
    return series(values, radius=radii, step=VOCABULARIES, clock="M")


def _scan_y(M: int) -> Floats:
    return scan_end(M) * BEFORE


def _snap_y(M: int) -> Floats:
    return snap_start(M) * AFTER


def _one(run: ClassRun, at: Floats) -> Floats:
    return np.ones(len(at))


def _uniform(quantity: str, y: Callable[[int], Floats], shape: Callable[[int, Floats], Floats]) -> HiddenConstant:
    """One constant serves every M, with every K and eta_Y."""
    return HiddenConstant(measure=lambda run: largest_over_M(quantity, y, shape), shape=_one)


def _along(
    measure: Callable[[ClassRun, Floats], Series], times: Callable[[ClassRun], Floats], shape: Shape
) -> HiddenConstant:
    return HiddenConstant(measure=lambda run: measure(run, times(run)), shape=shape)


def _at_most(
    measure: Callable[[ClassRun, Floats], Series], times: Callable[[ClassRun], Floats], upper: Shape, factor: float = 1
) -> Bounded:
    return Bounded(measure=lambda run: measure(run, times(run)), upper=lambda run, t: factor * upper(run, t))


# Lemma 9

SCAN_H = _along(h, scan_times, scan_h)
SCAN_GAMMA = _along(speeds, scan_times, _y)

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
    assumptions=RANGE_R,
    judgement=Parts(
        {
            "exp(Mh) <= min(M-1, (M-1) M h)": _at_most(power, from_first_step, smaller),
            "h along t": SCAN_H,
            "h along M": _uniform("h", _scan_y, lambda M, y: y / M),
            "gamma along t": SCAN_GAMMA,
            "gamma along M": _uniform("gamma", _scan_y, lambda M, y: y),
        },
        note=lambda run: (
            f"exp(Mh) > (M-1) M h up to t = {_times(run, scan_start(run.M)):.4g}, about K/(M eta_Y). {_range(run)}"
        ),
    ),
    absent=outside_range,
)

LEMMA9_SCAN_ANY_T = replace(
    LEMMA9_SCAN,
    id="snap.lemma9.scan.any-t",
    source="arXiv 2305.16380, Lemma 9, from t = 0 on",
    statement="Range R, 0 <= t <= K ln M/eta_Y, h = h(t/K): exp(Mh) <= min(M-1, (M-1) M h).",
    formula=r"0\le t\le\frac{K\ln M}{\eta_Y}:\quad\exp(Mh)\le\min(M-1,(M-1)Mh)",
    judgement=_at_most(power, from_start, smaller),
    instead=(
        r"$e^{Mh}>(M-1)Mh$ from $t=0$ up to $t=K(2(M-1)x_0-1)/(M\eta_Y)$, about $K/(M\eta_Y)$, $x_0$ the smaller zero "
        "of $e^x-(M-1)x$; from there on all is true, with constants 1 (snap.lemma9.scan.rederived)."
    ),
)

LEMMA9_SCAN_REDERIVED = Claim(
    id="snap.lemma9.scan.rederived",
    source="arXiv 2305.16380, Lemma 9, corrected (docs/proofs-snap.md)",
    statement=(
        "M >= 5, t <= K ln M/eta_Y, h = h(t/K): exp(Mh) <= M-1, h <= eta_Y t/(M K), gamma <= eta_Y t/K; and "
        "exp(Mh) <= (M-1) M h from t = K (2 (M-1) x_0 - 1)/(M eta_Y) on, x_0 the smaller zero of exp(x) - (M-1) x."
    ),
    formula=(
        r"\exp(Mh)\le M-1,\quad h\le\frac{\eta_Yt}{MK},\quad\gamma\le\frac{\eta_Yt}{K},\quad "
        r"\exp(Mh)\le(M-1)Mh\ \text{for}\ t\ge\frac{K(2(M-1)x_0-1)}{M\eta_Y}"
    ),
    assumptions=(),
    judgement=Parts(
        {
            "exp(Mh) <= M-1": _at_most(power, from_start, lambda run, t: np.full(len(t), run.M - 1.0)),
            "exp(Mh) <= (M-1) M h": _at_most(power, once_under_way, _others_logit),
            "h": _at_most(h, scan_times, scan_h),
            "gamma": _at_most(speeds, scan_times, _y),
        }
    ),
    absent=beyond_steps,
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
    assumptions=RANGE_R,
    judgement=Parts(
        {
            "exp(Mh) >= max(M-1, (M-1) M h)": Bounded(measure=lambda run: power(run, snap_times(run)), lower=larger),
            "h along t": _along(h, snap_times, snap_h),
            "h along M": _uniform("h", _snap_y, lambda M, y: np.log(M * y) / M),
            "gamma along t": _along(speeds, snap_times, snap_gamma),
            "gamma along M": _uniform("gamma", _snap_y, lambda M, y: np.log(M * y) / y),
        },
        note=_range,
    ),
    absent=outside_range,
)


# Theorem 1 (b)


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
    y = snap_start(run.M)
    found = float(gamma([y], 1, run.M, 1.0).value[0]) * y / np.log(y)
    return f"At t_0 the constant is {found:.4g} at this M; it grows like 2 ln M/lnln M. {_range(run)}"


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
    assumptions=ASSUMPTIONS,
    judgement=Parts(
        {
            "Before, along t": SCAN_GAMMA,
            "Before, along M": _uniform("gamma", _scan_y, lambda M, y: y),
            "After, along t": _along(speeds, snap_times, theorem_gamma),
            "After, at t_0 along ln M": HiddenConstant(measure=constants_at_start, shape=_one),
        },
        note=_constant_here,
    ),
    absent=outside_range,
    instead=(
        r"for $t\ge t_0$ no constant serves every $M$, as at $t_0$ it is about $2\ln M/\ln\ln M$; "
        r"$\gamma\le2K\ln(M\eta_Yt/K)/(\eta_Yt)$ (snap.theorem1.b.rederived)."
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
            "gamma <= eta_Y t/K in the scan": _at_most(speeds, scan_times, _y),
            "gamma <= eta_Y t/K in the snap": _at_most(speeds, snap_times, _y),
            "gamma in the snap": _at_most(speeds, snap_times, snap_gamma, 2),
            "h in the snap": _at_most(h, snap_times, snap_h),
        }
    ),
    absent=beyond_steps,
)

CLAIMS: tuple[Claim, ...] = (
    LEMMA9_SCAN,
    LEMMA9_SCAN_ANY_T,
    LEMMA9_SCAN_REDERIVED,
    LEMMA9_SNAP,
    THEOREM1_B,
    THEOREM1_B_REDERIVED,
)
