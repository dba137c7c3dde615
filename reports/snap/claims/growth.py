r"""Lemmas 6 to 8 and Remark 2 of arXiv 2305.16380: the growth h of a class's row of W = F^T Y, and its steps h*."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from marginaudit.reports.claim import BeyondTheRun, Claim, NotFollowed
from marginaudit.reports.judgements import Bounded, Equal, HiddenConstant, Limit, Parts
from marginaudit.reports.series import FORMULA_ROUNDING, Series, by_formula, series
from marginaudit.reports.snap.conditions import no_recorded_growth
from marginaudit.reports.snap.run import FARTHEST, ClassRun
from marginaudit.training.snap.limit import Steps, continuous, gap, h_star
from marginaudit.training.snap.limit.recursion import TAKEN

Floats: TypeAlias = NDArray[np.float64]

VOCABULARIES = np.unique([round(10 ** (decade / 2)) for decade in range(6, 32)]).astype(np.int64)
"""The M along which statements are swept, each a float64: 1000 to 3.16e15, two a decade."""

RATES = np.geomspace(1, 1e-6, 13)
"""The eta_Y along which Lemma 7 is swept."""

PANELS, NODES = 128, 12
"""Of the Gauss-Legendre quadrature over M h: on a panel, at most 1 long, its error is below 1e-30 of the value."""

EDGE = 1e-6
"""So near, relative, the ends of Lemma 8's interval are told from what lies beyond them."""

STEPS_TO_ZERO = 60
"""Newton's steps, more than are needed for ln(M-1) from 1.09 on."""

LOG_VOCABULARIES = np.geomspace(np.log(1000), 690, 61)
"""The ln M along which omega_0 and omega_1 are swept: M to 1e299."""


# Lemma 6


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
    # the nodes, weights and sums are off by a few roundings each, exp by those of its argument besides
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
)


# Lemma 7


def _star(run: ClassRun) -> Steps:
    """h* after the recorded steps, all on one class."""
    return h_star(run.steps, run.M, run.eta_Y)


def gaps(run: ClassRun) -> Series:
    """(h*(s) - h(s)) M/eta_Y."""
    found = gap(_star(run), run.eta_Y)
    scale = run.M / run.eta_Y
    value = found.value * scale
    return series(value, radius=found.error * scale + FORMULA_ROUNDING * value, step=run.steps, clock="s")


def largest_lag(M: int, eta_Y: float) -> tuple[float, float] | None:
    """The lag at the last step s <= ln M/eta_Y, h*(s) = h(s + lag), and its error; None where that is none.

    The lag never decreases.

    Raises
    ------
    BeyondTheRun
        That step is beyond `FARTHEST`.
    """
    last = np.floor(np.log(M) / eta_Y)
    if last > FARTHEST:
        raise BeyondTheRun(f"ln M/eta_Y is beyond {FARTHEST:.0e} steps")
    if last < 1:
        return None
    lag = h_star([int(last)], M, eta_Y).lag
    return float(lag.value[0]), float(lag.error[0])


def _lags(found: list[tuple[float, tuple[float, float] | None]], clock: str) -> Series:
    known = [(position, *lag) for position, lag in found if lag is not None]
    position, value, error = np.array(known, dtype=np.float64).reshape(-1, 3).T
    return series(value, radius=error, step=position, clock=clock)


def lags_by_vocabulary(run: ClassRun) -> Series:
    """The largest lag for s <= ln M/eta_Y, along M."""
    return _lags([(float(M), largest_lag(int(M), run.eta_Y)) for M in VOCABULARIES[::2]], "M")


def lags_by_rate(run: ClassRun) -> Series:
    """The largest lag for s <= ln M/eta_Y, along 1/eta_Y."""
    return _lags([(1 / eta_Y, largest_lag(run.M, eta_Y)) for eta_Y in RATES.tolist()], "1/eta_Y")


def _one(run: ClassRun, at: Floats) -> Floats:
    return np.ones(len(at))


LEMMA7_GAP = Claim(
    id="snap.lemma7.gap",
    source="arXiv 2305.16380, Lemma 7 (a)",
    statement=(
        "0 <= h*(s) - h(s) <= 2 eta_Y/M for all s; and h(s+c) >= h*(s) >= h(s) with a constant c for all "
        "s <= ln M/eta_Y, whatever M and eta_Y: h* is h, later by at most c."
    ),
    formula=(
        r"0\le h^*(s)-h(s)\le\frac{2\eta_Y}{M},\quad "
        r"h(s+c)\ge h^*(s)\ge h(s)\ \text{for}\ s\le\frac{\ln M}{\eta_Y}"
    ),
    assumptions=(),
    judgement=Parts(
        {
            "(h* - h) M/eta_Y is between 0 and 2": Bounded(
                measure=gaps, lower=lambda _, s: np.zeros(len(s)), upper=lambda _, s: np.full(len(s), 2.0)
            ),
            "One c serves every M at this eta_Y": HiddenConstant(measure=lags_by_vocabulary, shape=_one),
            "One c serves every eta_Y at this M": HiddenConstant(measure=lags_by_rate, shape=_one),
        }
    ),
    absent=no_recorded_growth,
)


def caught_up(run: ClassRun) -> float:
    """(ln M + exp(eta_Y))/eta_Y: from about there on h has passed what the first step makes of h*."""
    return float((np.log(run.M) + np.exp(run.eta_Y)) / run.eta_Y)


def _one_and_gaps(run: ClassRun) -> Series:
    """1 + (h* - h) M/eta_Y, whose distance from 1 a `Limit` judges."""
    found = gaps(run)
    return series(1 + found.value, radius=found.radius + FORMULA_ROUNDING, step=run.steps, clock="s")


LEMMA7_LIMIT = Claim(
    id="snap.lemma7.limit",
    source="arXiv 2305.16380, Lemma 7 (b)",
    statement="h*(s) - h(s) tends to 0; audited as 1 + (h* - h) M/eta_Y, which tends to 1.",
    formula=r"h^*(s)-h(s)\to0",
    assumptions=(),
    judgement=Limit(
        measure=_one_and_gaps,
        predicted=lambda _: 1.0,
        regime=caught_up,
    ),
    absent=no_recorded_growth,
)


# Remark 2


def proved_lag(run: ClassRun) -> Series:
    """What the lag is at least, (ln(eta_Y s/2) - eta_Y)/2, along ln s: docs/proofs-snap.md, section 1.1.

    It is proved for eta_Y s >= 4 ln M + 8. The first s is such, and makes it at least 1.
    """
    shift = np.log(run.eta_Y / 2) - run.eta_Y
    first = max(np.log((4 * np.log(run.M) + 8) / run.eta_Y), 2 - shift)
    log_s = first * np.geomspace(1, 1e5, 101)
    value = (log_s + shift) / 2
    return series(value, radius=FORMULA_ROUNDING * (log_s + abs(shift)), step=log_s, clock="ln s")


def _seen_lag(run: ClassRun) -> str:
    found = _star(run)
    if not len(found.step):
        return ""
    return (
        f"On this run the lag is {found.lag.value[-1]:.4g} at s = {int(found.step[-1])}, "
        f"{found.lag.value[-1] / np.log(run.M):.3g} times ln M."
    )


REMARK2 = Claim(
    id="snap.remark2",
    source="arXiv 2305.16380, Remark 2",
    statement=(
        "eta_Y = O(1): h*(s) <= h(s + c) with one c = O(ln M) for all s > s_1 = 2 ln(1+omega_1)/eta_Y; audited by the "
        "least lag that is proved, as s grows."
    ),
    formula=r"h^*(s)\le h(s+c),\quad c=O(\ln M),\quad s>\frac{2\ln(1+\omega_1)}{\eta_Y}",
    assumptions=(),
    judgement=Parts(
        {
            "One c serves every s": HiddenConstant(
                measure=proved_lag, shape=lambda run, at: np.full(len(at), np.log(run.M))
            )
        },
        note=_seen_lag,
    ),
    absent=no_recorded_growth,
    instead=(
        r"$h^*$ is $h$, later by a lag that grows without end, like $\ln(\eta_Ys)/2$: it lies between "
        r"$(\ln(1+u)-\eta_Y)/2$ and $e^{\eta_Y}\ln(1+u)/2$, where $1+u=(M-1+e^{Mh^*(s)})/M$ (snap.remark2.rederived)."
    ),
)


def _near(run: ClassRun) -> Steps:
    """h* after the recorded steps that are taken one by one."""
    return h_star(run.steps[run.steps <= TAKEN], run.M, run.eta_Y)


def lag(run: ClassRun) -> Series:
    """How much later h is where h* is."""
    found = _near(run)
    return series(found.lag.value, radius=found.lag.error, step=found.step, clock="s")


def _integral(run: ClassRun) -> Floats:
    """ln((M - 1 + exp(M h*))/M), the integral of exp(x)/(M - 1 + exp(x)) from 0 to M h*."""
    return np.log1p(np.expm1(_near(run).level.logit.value) / run.M)


def _no_step_near(run: ClassRun) -> str | None:
    if reason := no_recorded_growth(run):
        return reason
    if run.steps[0] > TAKEN:
        raise NotFollowed(f"no step up to {TAKEN} was recorded, and beyond the lag is known by this alone")
    return None


REMARK2_REDERIVED = Claim(
    id="snap.remark2.rederived",
    source="arXiv 2305.16380, Remark 2, corrected (docs/proofs-snap.md)",
    statement=(
        "h*(s) = h(s + lag) with (I - eta_Y)/2 <= lag <= exp(eta_Y) I/2, I = ln((M-1+exp(M h*(s)))/M), for all s; "
        "audited up to 1e6 steps, which are taken one by one."
    ),
    formula=(
        r"h^*(s)=h(s+\ell),\quad\frac{I-\eta_Y}{2}\le\ell\le\frac{e^{\eta_Y}}{2}I,\quad "
        r"I=\ln\frac{M-1+\exp(Mh^*(s))}{M}"
    ),
    assumptions=(),
    judgement=Bounded(
        measure=lag,
        lower=lambda run, _: (_integral(run) - run.eta_Y) / 2,
        upper=lambda run, _: np.exp(run.eta_Y) * _integral(run) / 2,
    ),
    absent=_no_step_near,
)


# Lemma 8


def others(log_M: Floats) -> Floats:
    """ln(M-1)."""
    return np.asarray(log_M + np.log1p(-np.exp(-log_M)))


def smaller_zero(log_M: Floats) -> Floats:
    """The zero x_0 < 1 of exp(x) - (M-1) x, from ln M up to 700; there is none below M = e + 1.

    Newton's steps on the convex x - ln x - ln(M-1), from the side on which they stay.

    >>> f"{float(smaller_zero(np.log([1000.0]))[0]):.12g}"
    '0.0010020045112'
    """
    x = np.exp(-others(log_M))
    for _ in range(STEPS_TO_ZERO):
        x = x - (x - np.log(x) - others(log_M)) / (1 - 1 / x)
    return x


def larger_zero(log_M: Floats) -> Floats:
    """The zero x_1 > 1, from any ln M: see `smaller_zero`.

    >>> f"{float(larger_zero(np.log([1000.0]))[0]):.12g}"
    '9.11688271695'
    """
    x = 2 * others(log_M) + 1
    for _ in range(STEPS_TO_ZERO):
        x = x - (x - np.log(x) - others(log_M)) / (1 - 1 / x)
    return x


def omega_1(log_M: Floats) -> Floats:
    """The larger zero is (1 + omega_1) ln M."""
    return np.asarray(larger_zero(log_M) / log_M - 1)


def omega_0(log_M: Floats) -> Floats:
    """The smaller zero is M^(omega_0 - 1): eq. 50."""
    return np.asarray((smaller_zero(log_M) - np.log1p(-np.exp(-log_M))) / log_M)


def has_crossings(run: ClassRun) -> bool:
    """Whether exp(x) = (M-1) x for some x: M - 1 is at least e."""
    return run.M >= 4


def sides(run: ClassRun) -> Series:
    """The logarithm of exp(Mh)/((M-1) Mh) inside the interval, and of its inverse outside, along M h.

    Where there is no zero, ln M is in the interval for all omega_0 and omega_1 between 0 and 1.
    """
    log_M = np.log(np.array([float(run.M)]))
    if has_crossings(run):
        low, high = float(smaller_zero(log_M)[0]), float(larger_zero(log_M)[0])
        inside = np.geomspace(low * (1 + EDGE), high * (1 - EDGE), 200)
        outside = np.concatenate(
            [np.geomspace(1e-12 * low, low * (1 - EDGE), 100), np.geomspace(high * (1 + EDGE), 1e6 * high, 100)]
        )
    else:
        inside, outside = log_M, np.empty(0)
    x = np.concatenate([inside, outside])
    sign = np.concatenate([np.ones(len(inside)), -np.ones(len(outside))])
    level = np.log(run.M - 1.0)
    return series(
        sign * (x - np.log(x) - level),
        radius=8 * np.finfo(float).eps * (x + np.abs(np.log(x)) + level + 1),
        step=x,
        label=("inside",) * len(inside) + ("outside",) * len(outside),
        log=True,
        clock="M h",
    )


def _omega_1s(run: ClassRun) -> Series:
    value = omega_1(LOG_VOCABULARIES)
    return series(value, radius=FORMULA_ROUNDING * (1 + value), step=LOG_VOCABULARIES, clock="ln M")


def _log_omega_0s(run: ClassRun) -> Series:
    value = np.log(omega_0(LOG_VOCABULARIES))
    return by_formula(value, step=LOG_VOCABULARIES, log=True, clock="ln M")


def _omegas(run: ClassRun) -> str:
    if not has_crossings(run):
        return ""
    log_M = np.log(np.array([float(run.M)]))
    zero, one = float(omega_0(log_M)[0]), float(omega_1(log_M)[0])
    return f"At this M omega_0 = {zero:.3g} and omega_1 = {one:.3g}; both are to be much smaller than 1."


def _lemma8(suffix: str, condition: str, note: str = "", instead: str = "", least: int = 2) -> Claim:
    return Claim(
        id=f"snap.lemma8{suffix}",
        source=f"arXiv 2305.16380, Lemma 8{note}",
        statement=(
            f"{condition}exp(Mh) <= (M-1) M h exactly for h between M^-(2-omega_0) and (1+omega_1) ln M/M, with "
            "omega_1 = Theta(lnln M/ln M), and omega_0 = O(1/(M^0.99 ln M)) for M >> 100."
        ),
        formula=(
            r"\exp(Mh)\le(M-1)Mh\iff h\in\left[M^{-(2-\omega_0)},\frac{(1+\omega_1)\ln M}{M}\right],\quad"
            r"\omega_1=\Theta\left(\frac{\ln\ln M}{\ln M}\right),\quad\omega_0=O\left(\frac{1}{M^{0.99}\ln M}\right)"
        ),
        assumptions=() if suffix else ("large_vocabulary",),
        judgement=Parts(
            {
                "Inside and outside the interval": Bounded(measure=sides, upper=lambda _, x: np.zeros(len(x))),
                "omega_1 from above": HiddenConstant(measure=_omega_1s, shape=lambda _, L: np.log(L) / L),
                "omega_1 from below": HiddenConstant(measure=_omega_1s, shape=lambda _, L: np.log(L) / L, side="lower"),
                "omega_0 from above": HiddenConstant(measure=_log_omega_0s, shape=lambda _, L: -0.99 * L - np.log(L)),
            },
            note=_omegas,
        ),
        absent=lambda run: f"M is below {least}." if least > run.M else None,
        instead=instead,
    )


LEMMA8 = _lemma8("", "M >> 100: ")
LEMMA8_ANY_M = _lemma8(
    ".any-M",
    "For every M: ",
    ", for every M",
    instead="for $M=2$ and $M=3$ $e^{Mh}>(M-1)Mh$ for every $h$; from $M=4$ on it is true (snap.lemma8.rederived).",
)
LEMMA8_REDERIVED = _lemma8(".rederived", "For M >= 4: ", ", corrected (docs/proofs-snap.md)", least=4)

CLAIMS: tuple[Claim, ...] = (
    LEMMA6,
    LEMMA7_GAP,
    LEMMA7_LIMIT,
    REMARK2,
    REMARK2_REDERIVED,
    LEMMA8,
    LEMMA8_ANY_M,
    LEMMA8_REDERIVED,
)
