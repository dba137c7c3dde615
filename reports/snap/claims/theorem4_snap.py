"""Theorem 4, eq. 14: B after attention has snapped."""

from dataclasses import replace
from math import e, exp

import numpy as np

from marginaudit.orders.arrays import Floats
from marginaudit.reports.claim import Claim
from marginaudit.reports.judgements import HiddenConstant, Parts
from marginaudit.reports.series import Series, series
from marginaudit.reports.snap import readings
from marginaudit.reports.snap.common_token import (
    ALL_OF_IT,
    ASSUMPTIONS,
    LOWER_LIMIT,
    NO_OFFSET,
    OFFSET,
    PRINTED,
    along,
    between_eq_14,
    gap,
    no_offset,
    no_overlap,
    outside,
    some_offset,
)
from marginaudit.reports.snap.conditions import FAST_DECODER
from marginaudit.reports.snap.readings import PAGE, SOURCE
from marginaudit.reports.snap.run import ClassRun
from marginaudit.reports.snap.two_stages import snap_times
from marginaudit.reports.source_words import corrected, quoted
from marginaudit.reports.standing import Implication, Severity, proved, refuted
from marginaudit.reports.verdict import Verdict

PROOF = PAGE + "45-snaptheorem4scanrederived-snaptheorem4snaprederived"


def slow_times(run: ClassRun) -> Floats:
    """Those of `snap_times` at which lnln t is beyond 1, so that a constant times it can be a bound."""
    times = snap_times(run)
    return times[times > exp(e)]


def exponent(run: ClassRun) -> Series:
    """exp(2 B), below which chi is."""
    found = along(run, slow_times(run))
    value = np.exp(2 * found.value)
    return series(value, radius=value * np.expm1(2 * found.radius), step=found.step)


def in_snap(*, printed: bool) -> Parts:
    """Eq. 14 with M h from ln(M y/2) to ln(M y), y = eta_Y t/K, B = O(lnln t), and exp(2B) = O(ln t)."""
    return Parts(
        {
            "Eq. 14": between_eq_14(
                snap_times, lambda M, y: np.log(M * y / 2), lambda M, y: np.log(M * y), printed=printed
            ),
            "B = O(lnln t)": HiddenConstant(
                measure=lambda run: along(run, slow_times(run)), shape=lambda run, t: np.log(np.log(t))
            ),
            "exp(2B) = O(ln t)": HiddenConstant(measure=exponent, shape=lambda run, t: np.log(t)),
        },
        note=gap,
    )


STATEMENT = (
    "Under eq. 13's ODE, for t >= t_0 = 2 (1+omega_1) K ln M/eta_Y: B_n(t) = ln({start} + 2 K (M-1)^2 (eta_Z/eta_Y) "
    "ln^2(M eta_Y t/K)/(M^2{over}))/4, the (1+o(1)) of h taken as all that it can be there, "
    "M eta_Y t/K divided by 1 to 2; B_n = O(lnln t) and exp(2 B_n) = O(ln t), so chi = O(ln t) by eq. 12."
)

SNAP = Claim(
    id="snap.theorem4.snap",
    source=f"{SOURCE}, Theorem 4, eq. 14, attention snapping",
    source_words=quoted(
        "section 6, Theorem 4, eq. 14; appendix F, eq. 131",
        "B_n(t) = (1/4)ln(C_0 + (2K(M-1)^2/M^2)(eta_Z/eta_Y)ln^2(M eta_Y t/K)) .. t >= t_0 .. B_n(t) = O(ln ln "
        "t) .. chi_{l_0}(t) = O(ln t)",
        f"delta' is omega_1 of Lemma 8. {ALL_OF_IT} {readings.RANGE_R} (Remark 3).",
    ),
    statement=STATEMENT.format(start="C0", over=""),
    formula=r"B_n(t)=\frac14\ln\left(C_0+\frac{2K(M-1)^2}{M^2}\frac{\eta_Z}{\eta_Y}\ln^2(M\eta_Yt/K)\right)"
    r"=O(\ln\ln t),\qquad t\ge t_0=\frac{2(1+o(1))K\ln M}{\eta_Y}",
    assumptions=PRINTED,
    proof_uses=(FAST_DECODER,),
    standing=refuted(
        PROOF,
        "snap.theorem4.snap.rederived",
        severity=Severity.CONSTANT,
        wrong="B is too large by ln(C0)/4, the lower limit that eq. 124 leaves out.",
        hunted=1,
        weakest=NO_OFFSET,
    ),
    implications=(
        Implication(
            sources=("snap.theorem4.snap.rederived",),
            condition=OFFSET,
            proof=PROOF,
            unmet=no_offset,
            verdict=Verdict.VIOLATED,
            unseen="no t is late enough",
        ),
        Implication(sources=("snap.theorem4.snap.rederived",), condition=NO_OFFSET, proof=PROOF, unmet=some_offset),
    ),
    judgement=in_snap(printed=True),
    absent=outside,
    instead=(r"What is printed is $\ln(C_0)/4$ too much, which eq. 124 leaves out (snap.theorem4.snap.rederived)."),
)

SNAP_REDERIVED = replace(
    SNAP,
    id="snap.theorem4.snap.rederived",
    source=f"{SNAP.source}, with the lower limit of eq. 124",
    source_words=corrected(SNAP.id, LOWER_LIMIT),
    statement=STATEMENT.format(start="1", over=" C0"),
    formula=SNAP.formula.replace(r"C_0+\frac{2K(M-1)^2}{M^2}", r"1+\frac{2K(M-1)^2}{M^2C_0}"),
    assumptions=ASSUMPTIONS,
    proof_uses=(),
    standing=proved(PROOF, "snap.theorem4.closed-form.rederived", "snap.theorem1.b.rederived", hunted=8),
    implications=(),
    judgement=in_snap(printed=False),
    absent=no_overlap,
    instead="",
)

CLAIMS: tuple[Claim, ...] = (SNAP, SNAP_REDERIVED)
