r"""Remark 3 and eq. 64 of arXiv 2305.16380: where h stands after one step, and how fast its share g falls."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import log

import flint
import numpy as np
from flint import arb

from marginaudit.orders.snap.assumptions import MUCH_GREATER
from marginaudit.reports.claim import Claim
from marginaudit.reports.judgements import Bounded, Equal, HiddenConstant, Parts
from marginaudit.reports.series import FORMULA_ROUNDING, Series, by_formula, rounded, series
from marginaudit.reports.snap.ball_arithmetic import BITS
from marginaudit.reports.snap.ball_sgd import ball
from marginaudit.reports.snap.claims.growth import (
    EDGE,
    VOCABULARIES,
    Floats,
    larger_zero,
    omega_0,
    smaller_zero,
)
from marginaudit.reports.snap.conditions import RANGE_R, no_recorded_growth, outside_range_r
from marginaudit.reports.snap.run import ClassRun, evenly
from marginaudit.training.snap.limit import continuous

SOURCE = "arXiv 2305.16380"

MUCH_SMALLER = 0.01 / MUCH_GREATER
"""What stands for "much smaller than 0.01"."""

RECORDS = 40
"""Recorded steps at which g is differentiated."""


def _log_M(run: ClassRun) -> Floats:
    return np.asarray(np.log([float(run.M)]))


# Remark 3


def first_rate(run: ClassRun) -> Series:
    """M^-(1-omega_0), which is the smaller zero x_0 of Lemma 8."""
    L = _log_M(run)
    return by_formula((omega_0(L) - 1) * L, label=("M^-(1-omega_0)",), log=True)


def _power(run: ClassRun, _: Floats) -> Floats:
    """M^-0.99."""
    return -0.99 * _log_M(run)


def first_steps(run: ClassRun) -> Series:
    """M h(1)/eta_Y, along M."""
    found = [continuous(1.0, M, run.eta_Y).logit for M in VOCABULARIES.tolist()]
    value = np.array([float(x.value) for x in found]) / run.eta_Y
    bars = np.array([float(x.error) for x in found]) / run.eta_Y + FORMULA_ROUNDING * value
    return series(value, radius=bars, step=VOCABULARIES, clock="M")


def sides_in_time(run: ClassRun) -> Series:
    """ln(exp(Mh)/((M-1) Mh)) from t = 1 up to where M h is Lemma 8's larger zero, and of the inverse beyond."""
    zero = (2 * (run.M - 1.0) * float(larger_zero(_log_M(run))[0]) - 1) / (run.M * run.eta_Y)
    before, after = np.geomspace(1, zero * (1 - EDGE), 200), np.geomspace(zero * (1 + EDGE), 1e12 * zero, 100)
    t, sign = np.concatenate([before, after]), np.repeat([1.0, -1.0], [len(before), len(after)])
    x, level = continuous(t, run.M, run.eta_Y).logit, log(run.M - 1.0)
    bars = x.error * np.abs(1 - 1 / x.value) + FORMULA_ROUNDING * (x.value + np.abs(np.log(x.value)) + level + 1)
    return series(sign * (x.value - np.log(x.value) - level), radius=bars, step=t, log=True)


def _remark3(below: bool) -> Parts:
    rate = Bounded(measure=first_rate, upper=_power) if below else Bounded(measure=first_rate, lower=_power)
    return Parts(
        {
            "omega_0 << 0.01": Bounded(
                measure=lambda run: by_formula(omega_0(_log_M(run)), label=("omega_0",)),
                upper=lambda run, _: np.array([MUCH_SMALLER]),
            ),
            f"M^-(1-omega_0) {'<' if below else '>'} M^-0.99": rate,
            "h(1) from below": Bounded(measure=first_steps, lower=lambda _, M: np.full(len(M), 0.99))
            if below
            else HiddenConstant(measure=first_steps, shape=lambda _, M: np.ones(len(M)), side="lower"),
            "eta_Y >> M^-(1-omega_0)": Bounded(
                measure=lambda run: by_formula([run.eta_Y], label=("eta_Y",)),
                lower=lambda run, _: MUCH_GREATER * smaller_zero(_log_M(run)),
            ),
            "One zero": Bounded(measure=sides_in_time, upper=lambda _, t: np.zeros(len(t))),
        }
    )


REMARK3 = Claim(
    id="snap.remark3",
    source=f"{SOURCE}, Remark 3",
    statement=(
        "Range R: omega_0 << 0.01, M^-(1-omega_0) > M^-0.99, h(1) is at least of the order of eta_Y/M, and that >> "
        "M^-(2-omega_0); for t >= 1, exp(M h(t)) - (M-1) M h(t) is 0 exactly once, where h = (1+omega_1) ln M/M."
    ),
    formula=r"\omega_0\ll0.01,\quad\frac1{M^{1-\omega_0}}>\frac1{M^{0.99}},\quad "
    r"h(1)\gtrsim\frac{\eta_Y}M\gg\frac1{M^{2-\omega_0}}",
    assumptions=(RANGE_R,),
    judgement=_remark3(below=False),
    absent=outside_range_r,
    instead=(
        r"$M^{-(1-\omega_0)}<M^{-0.99}$, because $\omega_0<0.01$; so $\eta_Y\gg M^{-0.99}$ is the stronger condition, "
        "and the rest is true (snap.remark3.rederived)."
    ),
)

REMARK3_REDERIVED = replace(
    REMARK3,
    id="snap.remark3.rederived",
    source=f"{SOURCE}, Remark 3 with its second inequality turned around",
    statement=REMARK3.statement.replace("> M^-0.99", "< M^-0.99").replace(
        "h(1) is at least of the order of eta_Y/M", "h(1) >= 0.99 eta_Y/M"
    ),
    formula=REMARK3.formula.replace(">", r"\lt").replace(r"h(1)\gtrsim\frac{\eta_Y}M", r"h(1)\ge0.99\frac{\eta_Y}M"),
    judgement=_remark3(below=True),
    instead="",
)


# Eq. 64


@dataclass(frozen=True)
class Share:
    """M h(s), its share g(s) = 1/(M-1+exp(M h(s))), and how fast h and g change, in balls."""

    x: arb
    g: arb
    h_dot: arb
    g_dot: arb


def _along(entry: Callable[[Share, int, arb], arb]) -> Callable[[ClassRun], Series]:
    """What the entry makes of `Share`, M and eta_Y at recorded s; g is differentiated as a power series of h."""

    def measure(run: ClassRun) -> Series:
        M, step, found = run.M, run.steps[evenly(len(run.steps), RECORDS)], []
        levels = continuous(step.astype(float), M, run.eta_Y).logit
        with flint.ctx.workprec(BITS):
            eta = ball(run.eta_Y)
            for value, error in zip(levels.value, levels.error, strict=True):
                x = ball(value, error)
                h_dot = eta / (M - 1 + x.exp())
                g = 1 / (M - 1 + (flint.arb_series([x / M, h_dot], 2) * M).exp())
                found.append(rounded(entry(Share(x, g[0], h_dot, g[1]), M, eta)))
        return series([value for value, _ in found], radius=[bar for _, bar in found], step=step, clock="s")

    return measure


def _printed_slope(at: Share, M: int, eta: arb) -> arb:
    return M * at.x.exp() * at.g**2 * at.h_dot


def _steepest(run: ClassRun, _: Floats) -> Floats:
    """g M/(M-1) eta_Y/4."""
    return _along(lambda at, M, eta: at.g * M / (M - 1) * eta / 4)(run).value


def _eq64(sign: int) -> Parts:
    return Parts(
        {
            "The derivative": Equal(
                measure=_along(lambda at, M, eta: at.g_dot),
                expected=_along(lambda at, M, eta: sign * _printed_slope(at, M, eta)),
            ),
            "Its size": Bounded(measure=_along(lambda at, M, eta: abs(at.g_dot)), upper=_steepest),
        }
    )


EQ64 = Claim(
    id="snap.eq64",
    source=f"{SOURCE}, Lemma 11's proof, eq. 64",
    statement=(
        "g(s) = 1/(M-1+exp(M h(s))), h the continuous one, has dg/ds = M exp(Mh)/(M-1+exp(Mh))^2 dh/ds, which is at "
        "most g M/(M-1) eta_Y/4."
    ),
    formula=r"\frac{dg}{ds}=\frac{M\exp(Mh)}{(M-1+\exp(Mh))^2}\cdot\frac{dh}{ds}\le g\cdot\frac M{M-1}\cdot"
    r"\frac{\eta_Y}4",
    assumptions=(RANGE_R,),
    judgement=_eq64(1),
    absent=lambda run: outside_range_r(run) or no_recorded_growth(run),
    instead=r"$g$ falls: $dg/ds$ is minus that. Its size is what eq. 65 uses, and is right (snap.eq64.rederived).",
)

EQ64_REDERIVED = replace(
    EQ64,
    id="snap.eq64.rederived",
    source=f"{SOURCE}, Lemma 11's proof, eq. 64 with its sign re-derived",
    statement=EQ64.statement.replace("= M exp(Mh)", "= -M exp(Mh)").replace("which is", "whose size is"),
    formula=EQ64.formula.replace(r"\frac{dg}{ds}=", r"-\frac{dg}{ds}="),
    judgement=_eq64(-1),
    assumptions=(),
    absent=no_recorded_growth,
    instead="",
)

CLAIMS: tuple[Claim, ...] = (REMARK3, REMARK3_REDERIVED, EQ64, EQ64_REDERIVED)
