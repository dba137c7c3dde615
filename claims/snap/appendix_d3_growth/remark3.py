"""Remark 3 of arXiv 2305.16380: range R, and h after one step."""

from math import log

import numpy as np

from marginaudit.claims.claim import Claim
from marginaudit.claims.judgements import Bounded, HiddenConstant, Parts
from marginaudit.claims.quotation import quoted
from marginaudit.claims.series import FORMULA_ROUNDING, Series, by_formula, series
from marginaudit.claims.snap.appendix_d3_growth.lemma8 import EDGE
from marginaudit.claims.snap.conditions import RANGE_R, VOCABULARIES, outside_range_r
from marginaudit.claims.snap.readings import IN_RANGE_R, NO_REFUGE, PAGE, SOURCE, mended
from marginaudit.claims.snap.run import ClassRun
from marginaudit.claims.standing import Severity, Weight, contradicts, proved, refuted
from marginaudit.orders.arrays import Floats
from marginaudit.orders.snap.assumptions import MUCH_GREATER
from marginaudit.training.snap.growth import larger_zero, omega_0, smaller_zero
from marginaudit.training.snap.limit.continuous import continuous

PROOF = PAGE + "81-snapremark3rederived"

MUCH_SMALLER = 0.01 / MUCH_GREATER
"""The reading of "much smaller than 0.01"."""


def _log_M(run: ClassRun) -> Floats:
    return np.asarray(np.log([float(run.M)]))


def first_rate(run: ClassRun) -> Series:
    """M^-(1-omega_0), the smaller zero x_0 of Lemma 8."""
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
    """ln(exp(Mh)/((M-1) Mh)) from t = 1 until M h reaches Lemma 8's larger zero, then of the inverse."""
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
    standing=refuted(
        PROOF,
        "snap.remark3.rederived",
        severity=Severity.SLIP,
        weight=Weight.ASIDE,
        wrong="An inequality of Remark 3 is the wrong way round: M^-(1-omega_0) is below M^-0.99, not above.",
        defence="A slip: range R asks for eta_Y >> M^-0.99, the stronger of the two, and the rest is true.",
        hunted=1,
        weakest=NO_REFUGE,
    ),
    source_words=quoted(
        "appendix D.3, Remark 3",
        "eta_Y >> M^-0.99 > M^-(1-omega_0)",
        f"{IN_RANGE_R}. Much smaller than 0.01 is at most 0.001; the order of h(1) is one constant for every M.",
    ),
    implications=(contradicts("snap.remark3.rederived", proof=PROOF),),
)

REMARK3_REDERIVED = mended(
    REMARK3,
    "M^-(1-omega_0) < M^-0.99, and 0.99 as the constant of h(1).",
    source=f"{SOURCE}, Remark 3 with its second inequality turned around",
    statement=REMARK3.statement.replace("> M^-0.99", "< M^-0.99").replace(
        "h(1) is at least of the order of eta_Y/M", "h(1) >= 0.99 eta_Y/M"
    ),
    formula=REMARK3.formula.replace(">", r"\lt").replace(r"h(1)\gtrsim\frac{\eta_Y}M", r"h(1)\ge0.99\frac{\eta_Y}M"),
    judgement=_remark3(below=True),
    standing=proved(PROOF, "snap.lemma6", "snap.lemma8.rederived", hunted=71),
)

CLAIMS: tuple[Claim, ...] = (REMARK3, REMARK3_REDERIVED)
