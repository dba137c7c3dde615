"""Section 6 of arXiv 2305.16380: eq. 13, what is left of eq. 10 for one common token, and Theorem 4 on it."""

from collections.abc import Callable
from dataclasses import replace
from math import e, exp

import numpy as np
import scipy  # its subpackages load when first used
from numpy.typing import NDArray

from marginaudit.orders.snap import common_tokens, distinct_tokens, rescaled
from marginaudit.reports.claim import BeyondTheRun, Claim, NotFollowed
from marginaudit.reports.judgements import Bounded, Equal, HiddenConstant, Limit, Parts, Threshold
from marginaudit.reports.run import once_a_run
from marginaudit.reports.series import FORMULA_ROUNDING, Series, series
from marginaudit.reports.snap.claims.conditions import RANGE_R, outside_range_r
from marginaudit.reports.snap.eq10 import no_path
from marginaudit.reports.snap.run import ClassRun
from marginaudit.reports.snap.setting import no_inverse
from marginaudit.reports.snap.two_stages import AFTER, BEFORE, beyond_steps
from marginaudit.training.snap.attention import (
    Logits,
    follow_common,
    mean_counts,
    rates,
    scan_end,
    snap_start,
    turned,
)
from marginaudit.training.snap.attention.solver import NotIntegrated
from marginaudit.training.snap.limit import Approximation, continuous, gamma

SOURCE = "arXiv 2305.16380"

Floats = NDArray[np.float64]

ASSUMPTIONS = ("uniform_classes", "single_common", "single_query")
"""Section 6: one common token, every next token has the same query."""

PRINTED = (*ASSUMPTIONS, RANGE_R)
"""Theorem 4 stands on Lemma 9, and so in range R, see `outside`."""

FARTHEST_LOG, MOST_LOG = 1e12, 1e98
"""The ln M up to which B is swept, at least and at most."""

WEAKER = np.geomspace(1, 1e5, 61)
"""How many times weaker the overlaps are made to see what "approximately" comes to."""

SLOWER = (0.9, 0.5, 0.1)
"""Parts of the step sizes that are compared with the whole ones."""

NO_PART = 1e-4
"""Up to which the time where gamma is largest is found, relative."""


def mean_square(run: ClassRun) -> float:
    """rho_0^-4 where Z = 0: the mean of (f_n^T f_n')^2 over pairs of classes."""
    return float((run.dataset.overlap.E**2).sum() / (run.K * (run.K - 1)))


def C0(run: ClassRun) -> float:
    """rho_0^4/K."""
    return 1 / (run.K * mean_square(run))


def no_overlap(run: ClassRun) -> str | None:
    """Why there is no rho_0, or None; else see `beyond_steps`.

    Raises
    ------
    NotFollowed
        Overlaps are so weak that their squares are no float64.
    """
    if not common_tokens(run.dataset):
        return "No two classes share a token: there is no rho_0."
    reason = beyond_steps(run)
    if reason is None and not mean_square(run) > np.finfo(np.float64).tiny:
        raise NotFollowed("overlaps are so weak that float64 does not have their squares")
    return reason


def outside(run: ClassRun) -> str | None:
    """Why Theorem 4 says nothing of the run, or None; see `no_overlap`."""
    return outside_range_r(run) or no_overlap(run)


# Eq. 13


def no_weaker(run: ClassRun) -> str | None:
    """Why the overlaps cannot be made weaker, or None; else see `no_path`."""
    own = distinct_tokens(run.dataset)
    bare = next((c.next for c in run.dataset.classes if not own[c.next]), None)
    if bare is not None:
        return f"Class {bare} has no distinct token: overlaps cannot be made weaker."
    return no_inverse(run) or no_overlap(run) or no_path(run)


@once_a_run
def weaker(run: ClassRun) -> tuple[Approximation, Approximation]:
    """z-dot of the common token and mean xi of eq. 10 over gamma rho_0^-4 where Z = 0, along `WEAKER`.

    M grows with the square of that, so that Assumption 2 is no farther than it was.
    """
    [common] = common_tokens(run.dataset)
    moved, xi = [], []
    for times in WEAKER:
        data = replace(rescaled(run.dataset, 1 / times), M=int(np.ceil(run.M * times**2)))
        logits = Logits(data)
        none = Approximation(np.zeros(len(logits.names)), np.zeros(len(logits.names)))
        found = rates(logits, none, mean_counts(continuous(np.array(1.0), data.M, run.eta_Y), run.K))
        unit = found.gradient.gamma * float((data.overlap.E**2).sum() / (run.K * (run.K - 1)))
        moved.append(found.z_dot[[name for _, name in logits.names].index(common)] / unit)
        xi.append(found.gradient.xi.sum() / unit / float(run.K))
    return tuple(
        Approximation(np.array([x.value for x in part]), np.array([x.error for x in part])) for part in (moved, xi)
    )  # type: ignore[return-value]


def against(run: ClassRun, part: int, predicted: float) -> Series:
    """One of `weaker` over what is stated for it."""
    found = weaker(run)[part] / predicted
    return series(
        found.value, radius=found.error + FORMULA_ROUNDING * np.abs(found.value), step=WEAKER, clock="1/overlap"
    )


def _tends(part: int, stated: Callable[[int], float]) -> Limit:
    return Limit(
        measure=lambda run: against(run, part, stated(run.K)), predicted=lambda run: 1.0, regime=lambda run: 1.0
    )


def beside_eq_10(run: ClassRun) -> str:
    """B of eq. 10 over that of eq. 13 as mended, along t."""
    K, t = run.K, run.steps
    mended = np.log1p(4 * K * (K - 1) * mean_square(run) * turned(t, K, run.M, run.eta_Y, run.eta_Z).value) / (4 * K)
    parts = (run.path.B.value.mean(axis=1) / mended).tolist()
    marks = {
        "t_0'": scan_end(K, run.M, run.eta_Y),
        "t_0": snap_start(K, run.M, run.eta_Y),
        "the last step": float(t[-1]),
    }
    found = [f"{parts[int(np.argmin(np.abs(np.log(t / at))))]:.4g} at {name}" for name, at in marks.items()]
    return (
        f"Mean B_n of eq. 10 over that of the mended eq. 13, on this dataset: {', '.join(found)}. Normalizations grow "
        "with the distinct tokens, so it is no constant."
    )


EQ13 = Claim(
    id="snap.eq13",
    source=f"{SOURCE}, eq. 13",
    statement=(
        "One common token, one query: where overlaps are weak, eq. 10 is approximately z-dot = -C0^{-1} eta_Z gamma "
        "exp(4z) and xi_n = C0^{-1} gamma exp(4z), C0 = rho_0^4/K. Judged at Z = 0 as the limit of weak overlaps, "
        "rho_0^-4 the mean of (f_n^T f_n')^2, xi the mean over n."
    ),
    formula=r"\dot z_{ml}\approx-C_0^{-1}\eta_Z\gamma e^{4z_{ml}},\quad\xi_n\approx C_0^{-1}\gamma e^{4z_{ml}},\quad "
    r"C_0=\rho_0^4/K",
    assumptions=ASSUMPTIONS,
    judgement=Parts({"z-dot": _tends(0, lambda K: -K), "xi": _tends(1, lambda K: K)}, note=beside_eq_10),
    absent=no_weaker,
    instead=(
        r"$\dot z=-K(K-1)\rho_0^{-4}\eta_Z\gamma e^{4z}$ and $\xi_n=(K-1)\rho_0^{-4}\gamma e^{4z}$: a class meets "
        "$K-1$ others, and $z$ hears of $K$ classes (snap.eq13.rederived)."
    ),
)

EQ13_REDERIVED = replace(
    EQ13,
    id="snap.eq13.rederived",
    source=f"{SOURCE}, eq. 13 with its constants re-derived",
    statement=(
        "One common token, one query: where overlaps are weak, eq. 10 is approximately z-dot = -K (K-1) rho_0^-4 eta_Z "
        "gamma exp(4z) and xi_n = (K-1) rho_0^-4 gamma exp(4z). Judged as snap.eq13 is."
    ),
    formula=r"\dot z_{ml}\approx-\frac{K(K-1)}{\rho_0^4}\eta_Z\gamma e^{4z_{ml}},\quad\xi_n\approx"
    r"\frac{K-1}{\rho_0^4}\gamma e^{4z_{ml}}",
    judgement=Parts({"z-dot": _tends(0, lambda K: -K * (K - 1)), "xi": _tends(1, lambda K: K - 1)}, note=beside_eq_10),
    instead="",
)


# Theorem 4


@once_a_run
def growth(run: ClassRun, times: tuple[float, ...], of_Y: float = 1.0, of_Z: float = 1.0) -> Approximation:
    """B at increasing times along eq. 13 as printed, integrated numerically at parts of the step sizes."""
    try:
        return follow_common(times, C0(run), run.K, run.M, of_Y * run.eta_Y, of_Z * run.eta_Z).B
    except NotIntegrated as reason:
        raise BeyondTheRun(str(reason)) from reason


def along(run: ClassRun, times: Floats) -> Series:
    """B along eq. 13."""
    found = growth(run, tuple(times.tolist()))
    return series(found.value, radius=found.error, step=times)


def closed_form(run: ClassRun, *, printed: bool) -> Series:
    """ln(C0 + 4 Gamma)/4, with Gamma = (eta_Z/eta_Y) K (M-1)^2 h^2/2, or that from its value at t = 0 on."""
    found = turned(run.steps, run.K, run.M, run.eta_Y, run.eta_Z) * (4 / C0(run))
    value = np.log1p(found.value) / 4
    bars = found.error / (1 + found.value) / 4 + FORMULA_ROUNDING * value
    start, off = (np.log(C0(run)) / 4, FORMULA_ROUNDING) if printed else (0.0, 0.0)  # C0 is off by that, relative
    return series(value + start, radius=bars + off * (1 + abs(start)), step=run.steps)


CLOSED_FORM = Claim(
    id="snap.theorem4.closed-form",
    source=f"{SOURCE}, Theorem 4's proof, eq. 129",
    statement=(
        "Under eq. 13's ODE from z = 0, B_n(t) = ln(C0 + 2 (eta_Z/eta_Y) K (M-1)^2 h^2(t/K))/4. The ODE is integrated "
        "numerically with gamma(t) of h(t/K)."
    ),
    formula=r"B_n(t)=\frac14\ln\left(C_0+2\frac{\eta_Z}{\eta_Y}K(M-1)^2h^2(t/K)\right)",
    assumptions=PRINTED,
    judgement=Equal(
        measure=lambda run: along(run, run.steps.astype(float)),
        expected=lambda run: closed_form(run, printed=True),
        note=lambda run: f"C0 = {C0(run):.6g}; at t = 0 B_n is 0, and ln(C0)/4 is {np.log(C0(run)) / 4:.4g}.",
    ),
    absent=outside,
    instead=(
        r"Eq. 124 leaves out the lower limit of its integral, $\ln(C_0)/4$: "
        r"$B_n(t)=\frac14\ln(1+2(\eta_Z/\eta_Y)K(M-1)^2h^2(t/K)/C_0)$ (snap.theorem4.closed-form.rederived)."
    ),
)

CLOSED_FORM_REDERIVED = replace(
    CLOSED_FORM,
    id="snap.theorem4.closed-form.rederived",
    source=f"{SOURCE}, eq. 129 with the lower limit of eq. 124",
    statement=CLOSED_FORM.statement.replace(
        "ln(C0 + 2 (eta_Z/eta_Y) K (M-1)^2 h^2(t/K))/4", "ln(1 + 2 (eta_Z/eta_Y) K (M-1)^2 h^2(t/K)/C0)/4"
    ),
    formula=r"B_n(t)=\frac14\ln\left(1+\frac{2}{C_0}\frac{\eta_Z}{\eta_Y}K(M-1)^2h^2(t/K)\right)",
    assumptions=ASSUMPTIONS,
    absent=no_overlap,
    judgement=Equal(
        measure=lambda run: along(run, run.steps.astype(float)),
        expected=lambda run: closed_form(run, printed=False),
        note=lambda run: f"C0 = {C0(run):.6g}.",
    ),
    instead="",
)


def scan_times(run: ClassRun) -> Floats:
    """The recorded steps t < t_0', and times up to there."""
    last = scan_end(run.K, run.M, run.eta_Y)
    return np.unique(np.concatenate([run.steps[run.steps < last], last * BEFORE[:-1]]))


def scan_from_first_step(run: ClassRun) -> Floats:
    """`scan_times` from t = K on, where h is at 1."""
    t = scan_times(run)
    return np.unique(np.concatenate([[float(run.K)], t[t >= run.K]]))


def snap_times(run: ClassRun) -> Floats:
    """The recorded steps t >= t_0, and times from there on."""
    first = snap_start(run.K, run.M, run.eta_Y)
    return np.unique(np.concatenate([run.steps[run.steps >= first], first * AFTER]))


def piece(run: ClassRun, rows: Floats, *, printed: bool) -> Floats:
    """Eq. 14 where M h is ``rows``: from ln(C0)/4 on, or from 0."""
    factor = 2 * run.K * ((run.M - 1) / run.M) ** 2 * run.eta_Z / run.eta_Y
    start = np.log(C0(run)) / 4 if printed else 0.0
    return np.asarray(start + np.log1p(factor * rows**2 / C0(run)) / 4)


def _y(run: ClassRun, t: Floats) -> Floats:
    return np.asarray(run.eta_Y * t / run.K)


def _pieces(
    times: Callable[[ClassRun], Floats],
    low: Callable[[float, Floats], Floats],
    high: Callable[[float, Floats], Floats],
    *,
    printed: bool,
) -> Bounded:
    """B between eq. 14 with the least and the greatest that its M h = (1+o(1)) .. stands for.

    What C0 is off is part of B's error bar.
    """

    def measure(run: ClassRun) -> Series:
        found = along(run, times(run))
        return replace(found, radius=found.radius + FORMULA_ROUNDING) if printed else found

    return Bounded(
        measure=measure,
        lower=lambda run, t: piece(run, low(run.M, _y(run, t)), printed=printed),
        upper=lambda run, t: piece(run, high(run.M, _y(run, t)), printed=printed),
        threshold=lambda run: Threshold(float(times(run)[0])),
    )


def _scan(*, printed: bool) -> Bounded:
    times = scan_from_first_step if printed else scan_times
    return _pieces(times, lambda M, y: y - np.expm1(y) / M, lambda _, y: y, printed=printed)


def _snap(*, printed: bool) -> Bounded:
    return _pieces(snap_times, lambda M, y: np.log(M * y / 2), lambda M, y: np.log(M * y), printed=printed)


def scan_constants(run: ClassRun) -> Series:
    """The largest B/ln t over 2 <= t < t_0', along ln M, by snap.theorem4.closed-form.rederived.

    B is ln(1 + A (c x)^2)/4, which is about A x^2/4 while that is small, so that no constant shows before x is beyond
    A^{-1/2}; half of the sweep, on its logarithmic scale, goes there. With L = ln M and c = 1 - 1/M, x = M h solves
    exp(x-L) + c x = y + exp(-L): concave in x's inverse, and Newton's method comes from above, x = y/c.

    Raises
    ------
    BeyondTheRun
        A is so small that float64 has no such x.
    """
    A = 2 * run.eta_Z / run.eta_Y * run.K / C0(run)
    if not A * MOST_LOG**1.5 > 1:
        raise BeyondTheRun(f"with eta_Z/eta_Y = {run.eta_Z / run.eta_Y:.3g} B grows too slowly for a constant to show")
    vocabularies = np.geomspace(np.log(1000), min(MOST_LOG, max(FARTHEST_LOG, 100 / A / A)), 121)
    L = vocabularies[:, np.newaxis]
    first = 2 * run.eta_Y / run.K
    y = first * np.maximum(L / first, 1) ** np.linspace(0, 1, 60)
    c = -np.expm1(-L)
    x = np.minimum(y / c, L)
    for _ in range(60):
        power = np.exp(np.minimum(x - L, 0.0))  # x <= L; beyond L = 1e16 rounding alone takes it farther
        x = x - (power - np.exp(-L) + c * x - y) / (power + c)
    B = np.log1p(A * (c * x) ** 2) / 4
    value = (B / np.log(y * run.K / run.eta_Y)).max(axis=1)
    return series(value, radius=4 * FORMULA_ROUNDING * value, step=vocabularies, clock="ln M")


def slow_times(run: ClassRun) -> Floats:
    """Those of `snap_times` at which lnln t is beyond 1, so that a constant times it can be a bound."""
    times = snap_times(run)
    return times[times > exp(e)]


def exponent(run: ClassRun) -> Series:
    """exp(2 B), below which chi is."""
    found = along(run, slow_times(run))
    value = np.exp(2 * found.value)
    return series(value, radius=value * np.expm1(2 * found.radius), step=found.step)


def gap(run: ClassRun) -> str:
    """What lies between the phases, of which the theorem says nothing."""
    early, late = scan_end(run.K, run.M, run.eta_Y), snap_start(run.K, run.M, run.eta_Y)
    B = growth(run, (early, late)).value
    return (
        f"C0 = {C0(run):.6g}. Between t_0' = {early:.4g} and t_0 = {late:.4g}, of which it says nothing, B goes from "
        f"{B[0]:.6g} to {B[1]:.6g}; gamma is largest at t = {fastest(run, 1.0):.4g}."
    )


SLOWLY = HiddenConstant(measure=scan_constants, shape=lambda run, L: np.ones(len(L)))

EXPLICIT = "the (1+o(1)) of h taken as all that it can be there, "

SCAN_STATEMENT = (
    "Under eq. 13's ODE, for {first}t < t_0' = K ln M/eta_Y: B_n(t) = "
    "ln({start} + 2 (M-1)^2 eta_Y eta_Z t^2/(K M^2{over}))/4, "
    + EXPLICIT
    + "from 1 - (exp(y)-1)/(M y) to 1 with y = eta_Y t/K; and B_n = O(ln t), t >= 2, with one constant for every M."
)

SNAP_STATEMENT = (
    "Under eq. 13's ODE, for t >= t_0 = 2 (1+omega_1) K ln M/eta_Y: B_n(t) = ln({start} + 2 K (M-1)^2 (eta_Z/eta_Y) "
    "ln^2(M eta_Y t/K)/(M^2{over}))/4, "
    + EXPLICIT
    + "M eta_Y t/K divided by 1 to 2; B_n = O(lnln t) and exp(2 B_n) = O(ln t), so chi = O(ln t) by eq. 12."
)

MISSING_START = r"What is printed is $\ln(C_0)/4$ too much, which eq. 124 leaves out (snap.theorem4.{part}.rederived)."

SCAN = Claim(
    id="snap.theorem4.scan",
    source=f"{SOURCE}, Theorem 4, eq. 14, attention scanning",
    statement=SCAN_STATEMENT.format(first="K <= ", start="C0", over=""),
    formula=r"B_n(t)=\frac14\ln\left(C_0+\frac{2(M-1)^2}{KM^2}\eta_Y\eta_Zt^2\right)=O(\ln t),\qquad "
    r"K\le t\lt t_0'=\frac{K\ln M}{\eta_Y}",
    assumptions=PRINTED,
    judgement=Parts(
        {
            "Eq. 14": _scan(printed=True),
            "B = O(ln t)": SLOWLY,
        },
        note=gap,
    ),
    absent=outside,
    instead=MISSING_START.format(part="scan"),
)

SCAN_REDERIVED = replace(
    SCAN,
    id="snap.theorem4.scan.rederived",
    source=f"{SOURCE}, Theorem 4, eq. 14, attention scanning, with the lower limit of eq. 124",
    statement=SCAN_STATEMENT.format(first="", start="1", over=" C0"),
    formula=SCAN.formula.replace(r"C_0+\frac{2(M-1)^2}{KM^2}", r"1+\frac{2(M-1)^2}{KM^2C_0}").replace(r"K\le t", "t"),
    assumptions=ASSUMPTIONS,
    absent=no_overlap,
    judgement=Parts({"Eq. 14": _scan(printed=False), "B = O(ln t)": SLOWLY}, note=gap),
    instead="",
)

LATE = {
    "B = O(lnln t)": HiddenConstant(
        measure=lambda run: along(run, slow_times(run)), shape=lambda run, t: np.log(np.log(t))
    ),
    "exp(2B) = O(ln t)": HiddenConstant(measure=exponent, shape=lambda run, t: np.log(t)),
}

SNAP = Claim(
    id="snap.theorem4.snap",
    source=f"{SOURCE}, Theorem 4, eq. 14, attention snapping",
    statement=SNAP_STATEMENT.format(start="C0", over=""),
    formula=r"B_n(t)=\frac14\ln\left(C_0+\frac{2K(M-1)^2}{M^2}\frac{\eta_Z}{\eta_Y}\ln^2(M\eta_Yt/K)\right)"
    r"=O(\ln\ln t),\qquad t\ge t_0=\frac{2(1+o(1))K\ln M}{\eta_Y}",
    assumptions=PRINTED,
    judgement=Parts({"Eq. 14": _snap(printed=True), **LATE}, note=gap),
    absent=outside,
    instead=MISSING_START.format(part="snap"),
)

SNAP_REDERIVED = replace(
    SNAP,
    id="snap.theorem4.snap.rederived",
    source=f"{SOURCE}, Theorem 4, eq. 14, attention snapping, with the lower limit of eq. 124",
    statement=SNAP_STATEMENT.format(start="1", over=" C0"),
    formula=SNAP.formula.replace(r"C_0+\frac{2K(M-1)^2}{M^2}", r"1+\frac{2K(M-1)^2}{M^2C_0}"),
    assumptions=ASSUMPTIONS,
    absent=no_overlap,
    judgement=Parts({"Eq. 14": _snap(printed=False), **LATE}, note=gap),
    instead="",
)


# What the step sizes do


def fastest(run: ClassRun, of_Y: float) -> float:
    """The time at which gamma is largest, at a part of eta_Y."""
    eta_Y = of_Y * run.eta_Y
    found = scipy.optimize.minimize_scalar(
        lambda log: -float(gamma(np.exp(log), run.K, run.M, eta_Y).value),
        bounds=(np.log(run.K / eta_Y) - 5, np.log(snap_start(run.K, run.M, eta_Y))),
        method="bounded",
        options={"xatol": NO_PART / 10},
    )
    return float(np.exp(found.x))


def transitions(run: ClassRun) -> Series:
    """`fastest` at eta_Y."""
    value = np.repeat(fastest(run, 1.0), len(SLOWER))
    label = tuple(f"against {part:g} eta_Y" for part in SLOWER)
    return series(value, radius=2 * NO_PART * value, label=label)


def at_transition(run: ClassRun, *, slower: bool) -> Series:
    """B(t_0) at parts of both step sizes, or at the whole ones."""
    found = []
    for part in SLOWER:
        of = part if slower else 1.0
        found.append(growth(run, (snap_start(run.K, run.M, of * run.eta_Y),), of, of))
    return series(
        [x.value[0] for x in found],
        radius=[x.error[0] for x in found],
        label=tuple(f"{part:g} of both step sizes" for part in SLOWER),
    )


def common_times(run: ClassRun, part: float) -> Floats:
    """Times from the t_0 of a part of eta_Y on, which is the later one."""
    return np.asarray(snap_start(run.K, run.M, part * run.eta_Y) * AFTER)


def larger(run: ClassRun, of_Y: Callable[[float], float], of_Z: Callable[[float], float], sign: int) -> Series:
    """B at the whole step sizes less that at parts of them, or the other way round; beyond the t_0 of both."""
    times = [common_times(run, part) for part in SLOWER]
    found = [
        (growth(run, tuple(late.tolist())) - growth(run, tuple(late.tolist()), of_Y(part), of_Z(part))) * float(sign)
        for part, late in zip(SLOWER, times, strict=True)
    ]
    return series(
        np.concatenate([x.value for x in found]),
        radius=np.concatenate([x.error for x in found]),
        step=np.concatenate(times),
        label=tuple(f"{part:g} of it" for part in SLOWER for _ in AFTER),
    )


def _positive(measure: Callable[[ClassRun], Series]) -> Bounded:
    return Bounded(measure=measure, lower=lambda run, t: np.zeros(len(t)))


def earlier_reading(run: ClassRun) -> str:
    """What a smaller eta_Y does at the t_0 of the larger one."""
    t = snap_start(run.K, run.M, run.eta_Y)
    whole, small = growth(run, (t,)).value[0], growth(run, (t,), min(SLOWER)).value[0]
    return (
        f"At t_0 of the whole eta_Y, before that of {min(SLOWER):g} of it, B is {whole:.4g} and {small:.4g}: (c) is "
        f"about times beyond the t_0 of both. {gap(run)}"
    )


RATES = Claim(
    id="snap.theorem4.rates",
    source=f"{SOURCE}, Theorem 4, insights (a) to (c), and fig. 9",
    statement=(
        "Under eq. 13's ODE: at larger eta_Y gamma is largest earlier; at fixed eta_Y/eta_Z, B_n(t_0) does not depend "
        "on eta_Z; both step sizes larger: larger B_n(t); at fixed eta_Z, smaller eta_Y: larger B_n(t); the latter two "
        f"beyond the t_0 of both. Compared at {', '.join(f'{part:g}' for part in SLOWER)} of the step sizes."
    ),
    formula=r"t_0\downarrow\text{ in }\eta_Y;\quad B_n(t_0)\text{ depends on }\eta_Y/\eta_Z\text{ alone};\quad "
    r"B_n(t)\uparrow\text{ in }(\eta_Y,\eta_Z);\quad B_n(t)\downarrow\text{ in }\eta_Y,\ t\ge t_0",
    assumptions=PRINTED,
    judgement=Parts(
        {
            "Earlier transition": Bounded(
                measure=transitions, upper=lambda run, _: np.array([fastest(run, part) for part in SLOWER])
            ),
            "B(t_0) at fixed ratio": Equal(
                measure=lambda run: at_transition(run, slower=True),
                expected=lambda run: at_transition(run, slower=False),
            ),
            "Both larger": _positive(lambda run: larger(run, lambda part: part, lambda part: part, 1)),
            "Smaller eta_Y": _positive(lambda run: larger(run, lambda part: part, lambda _: 1.0, -1)),
        },
        note=earlier_reading,
    ),
    absent=outside,
)

RATES_ANY_M = replace(
    RATES,
    id="snap.theorem4.rates.any-M",
    source=f"{RATES.source}, for every M",
    assumptions=ASSUMPTIONS,
    absent=no_overlap,
    instead=(
        "From $M=6$ on it is true at every step size; at $M=5$, just beyond the $t_0$ of both, the larger of two "
        r"$\eta_Y$ near each other has the larger $B$ (docs/proofs-snap.md section 7.6)."
    ),
)

CLAIMS: tuple[Claim, ...] = (
    EQ13,
    EQ13_REDERIVED,
    CLOSED_FORM,
    CLOSED_FORM_REDERIVED,
    SCAN,
    SCAN_REDERIVED,
    SNAP,
    SNAP_REDERIVED,
    RATES,
    RATES_ANY_M,
)
