"""Lemma 8 of arXiv 2305.16380: the interval of exp(Mh) <= (M-1) M h."""

import numpy as np

from marginaudit.claims.claim import Claim
from marginaudit.claims.judgements import Bounded, HiddenConstant, Parts
from marginaudit.claims.quotation import quoted
from marginaudit.claims.series import FORMULA_ROUNDING, Series, by_formula, series
from marginaudit.claims.snap.conditions import HAS_ZEROS, RANGE_R, no_zeros
from marginaudit.claims.snap.readings import PAGE, SOURCE, mended, variant
from marginaudit.claims.snap.run import ClassRun
from marginaudit.claims.standing import Implication, Severity, contradicts, proved, refuted
from marginaudit.training.snap.growth import larger_zero, omega_0, omega_1, smaller_zero

PROOF = PAGE + "58-snaplemma8-for-m-at-least-4"

EDGE = 1e-6
"""Relative distance from a zero for comparing the two sides."""

LOG_VOCABULARIES = np.geomspace(np.log(1000), 690, 61)
"""ln M of the sweep of omega_0 and omega_1: M to 1e299."""


def sides(run: ClassRun) -> Series:
    """The logarithm of exp(Mh)/((M-1) Mh) inside the interval, and of its inverse outside, along M h.

    Without zeros ln M is in the interval for all omega_0 and omega_1 from 0 to 0.1.
    """
    log_M = np.log(np.array([float(run.M)]))
    if not no_zeros(run):
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
    if no_zeros(run):
        return ""
    log_M = np.log(np.array([float(run.M)]))
    zero, one = float(omega_0(log_M)[0]), float(omega_1(log_M)[0])
    return f"At this M omega_0 = {zero:.3g} and omega_1 = {one:.3g}; both are to be much smaller than 1."


LEMMA8 = Claim(
    id="snap.lemma8",
    source=f"{SOURCE}, Lemma 8",
    statement=(
        "M >> 100: exp(Mh) <= (M-1) M h exactly for h between M^-(2-omega_0) and (1+omega_1) ln M/M, with "
        "omega_1 = Theta(lnln M/ln M), and omega_0 = O(1/(M^0.99 ln M)) for M >> 100."
    ),
    formula=(
        r"\exp(Mh)\le(M-1)Mh\iff h\in\left[M^{-(2-\omega_0)},\frac{(1+\omega_1)\ln M}{M}\right],\quad"
        r"\omega_1=\Theta\left(\frac{\ln\ln M}{\ln M}\right),\quad\omega_0=O\left(\frac{1}{M^{0.99}\ln M}\right)"
    ),
    assumptions=(RANGE_R,),
    judgement=Parts(
        {
            "Inside and outside the interval": Bounded(measure=sides, upper=lambda _, x: np.zeros(len(x))),
            "omega_1 from above": HiddenConstant(measure=_omega_1s, shape=lambda _, L: np.log(L) / L),
            "omega_1 from below": HiddenConstant(measure=_omega_1s, shape=lambda _, L: np.log(L) / L, side="lower"),
            "omega_0 from above": HiddenConstant(measure=_log_omega_0s, shape=lambda _, L: -0.99 * L - np.log(L)),
        },
        note=_omegas,
    ),
    standing=proved(PROOF, "snap.lemma8.rederived", hunted=34),
    source_words=quoted(
        "appendix D.3, Lemma 8",
        "for h in J_1 := [1/M^{2-omega_0}, (1+omega_1)ln(M)/M], we have exp(Mh(t)) <= (M-1)Mh(t). And for h not "
        "in J_1, .. exp(Mh(t)) > (M-1)Mh(t)",
        "The indices 2 and 3 are those of omega_0 and omega_1. That both are much smaller than 1 is read as M >> 100, "
        "which the lemma asks for its bound on omega_0, and Remark 3 for the rest: M >= 1000.",
    ),
)

LEMMA8_ANY_M = variant(
    LEMMA8,
    "any-M",
    "For every M.",
    source=f"{SOURCE}, Lemma 8, for every M",
    statement=LEMMA8.statement.replace("M >> 100:", "For every M:", 1),
    assumptions=(),
    absent=lambda run: "M is below 2." if run.M < 2 else None,
    instead="from $M=4$ on it is true (snap.lemma8.rederived).",
    standing=refuted(
        PAGE + "12-snaplemma8rederived",
        "snap.lemma8.rederived",
        severity=Severity.ORDINARY,
        wrong="Lemma 8 needs M >= 4: with two or three tokens exp(Mh) is above (M-1) M h for every h.",
        hunted=1,
        weakest=HAS_ZEROS,
    ),
    implications=(
        contradicts(
            "snap.lemma8.rederived",
            condition="M is 2 or 3",
            proof=PAGE + "12-snaplemma8rederived",
            unmet=lambda run: None if no_zeros(run) else "M is at least 4",
        ),
        Implication(sources=("snap.lemma8.rederived",), condition=HAS_ZEROS, proof=PROOF, unmet=no_zeros),
    ),
)

LEMMA8_REDERIVED = mended(
    LEMMA8,
    f"{HAS_ZEROS}; below there are no two zeros.",
    source=f"{SOURCE}, Lemma 8, corrected (docs/proofs-snap.md)",
    statement=LEMMA8.statement.replace("M >> 100:", f"For {HAS_ZEROS}:", 1),
    assumptions=(),
    absent=lambda run: f"{no_zeros(run)}." if no_zeros(run) else None,
    standing=proved(PROOF, hunted=210),
)

CLAIMS: tuple[Claim, ...] = (LEMMA8, LEMMA8_ANY_M, LEMMA8_REDERIVED)
