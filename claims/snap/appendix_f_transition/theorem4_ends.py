"""Theorem 4's values of B at the end of the scan and the start of the snap."""

from dataclasses import replace
from fractions import Fraction

import numpy as np

from marginaudit.claims.claim import Claim
from marginaudit.claims.judgements import Bounded, Threshold
from marginaudit.claims.quotation import quoted
from marginaudit.claims.series import FORMULA_ROUNDING, Series
from marginaudit.claims.snap.appendix_d3_growth.two_stages import scaled_time
from marginaudit.claims.snap.appendix_f_transition.common_token import (
    ALL_OF_IT,
    C0,
    LEADER,
    NEVER_ONE,
    ORDERS_STAY,
    PRINTED,
    along,
    by_offset,
    eq_14,
    near_one,
    no_theorem4,
    with_lower_limit,
)
from marginaudit.claims.snap.conditions import SETTING
from marginaudit.claims.snap.readings import FAST_DECODER, IN_RANGE_R, PAGE, ROUNDED, SOURCE
from marginaudit.claims.snap.run import ClassRun
from marginaudit.claims.standing import Severity, Weight, proved, refuted
from marginaudit.orders.arrays import Floats

PROOF = PAGE + "88-snaptheorem4growthrederived-snaptheorem4endsrederived"

OFF = Fraction(116, 100)
"""Least C0 or 1/C0 that puts the printed formulas outside their range."""


def at_ends(run: ClassRun) -> Series:
    """B(t_0'), B(t_0)."""
    found = along(run, np.array([run.transition, run.snap_start]))
    start = FORMULA_ROUNDING * (1 + abs(np.log(C0(run))))
    return replace(found, radius=found.radius + start, label=("t_0'", "t_0"))


def between_ends(*, printed: bool) -> Bounded:
    """M h(t_0'/K) is from ln M - 1 + 1/M to ln M; M h(t_0/K) from ln(My/2) to ln(My), y = 2 (1+omega_1) ln M."""

    def logits(run: ClassRun, t: Floats, half: float) -> Floats:
        L, y = np.log(run.M), scaled_time(run, t)[1]
        return np.array([L - (1 - 1 / run.M) * (half < 1), np.log(half * run.M * y)])

    return Bounded(
        measure=at_ends,
        threshold=lambda run: Threshold(run.transition),
        lower=lambda run, t: eq_14(run, logits(run, t, 0.5), printed=printed),
        upper=lambda run, t: eq_14(run, logits(run, t, 1.0), printed=printed),
    )


STATEMENT = (
    "Under eq. 13's ODE, nu = eta_Y/eta_Z: B_n(t_0') = ln({start} + 2 K (M-1)^2/(M^2 nu{over}) ln^2 M)/4 and B_n(t_0) "
    "= ln({start} + 2 K (M-1)^2/(M^2 nu{over}) ln^2(2 (1+omega_1) M ln M))/4, M h taken as all that its 1 + o(1) can "
    "be."
)

ENDS = Claim(
    id="snap.theorem4.ends",
    source=f"{SOURCE}, Theorem 4's proof, B(t_0') and B(t_0)",
    source_words=quoted(
        "appendix F, below eqs. 130 and 131",
        "B_n(t_0) = (1/4) ln(C_0 + 2K (M-1)^2 M^{-2} nu^{-1} ln^2(2(1+omega_1) M ln M))",
        f"nu is eta_Y/eta_Z. {ALL_OF_IT} {IN_RANGE_R} (Remark 3). {FAST_DECODER}",
    ),
    statement=STATEMENT.format(start="C0", over=""),
    formula=r"B_n(t_0')=\frac14\ln\left(C_0+\frac{2K(M-1)^2}{M^2\nu}\ln^2M\right),\quad "
    r"B_n(t_0)=\frac14\ln\left(C_0+\frac{2K(M-1)^2}{M^2\nu}\ln^2(2(1+\omega_1)M\ln M)\right)",
    assumptions=PRINTED,
    setting=SETTING,
    standing=refuted(
        PROOF,
        "snap.theorem4.ends.rederived",
        severity=Severity.CONSTANT,
        weight=Weight.STEP,
        cause=LEADER,
        wrong="B is off by ln(C0)/4 at t_0' and at t_0.",
        defence=ORDERS_STAY,
        hunted=1,
        weakest=NEVER_ONE,
    ),
    implications=by_offset(
        "snap.theorem4.ends.rederived",
        PROOF,
        condition=f"C0 or 1/C0 is above {float(OFF)}",
        unmet=near_one(lambda _: OFF),
        unseen=ROUNDED,
    ),
    judgement=between_ends(printed=True),
    absent=no_theorem4,
    instead=(
        r"What is printed is $\ln(C_0)/4$ too much, which eq. 124 leaves out (snap.theorem4.ends.rederived); so $B$ at "
        r"$t_0$ depends on $C_0$ beside $K$, $M$ and $\nu$."
    ),
)

ENDS_REDERIVED = with_lower_limit(
    ENDS,
    statement=STATEMENT.format(start="1", over=" C0"),
    formula=ENDS.formula.replace("C_0+", "1+").replace(r"M^2\nu", r"M^2\nu C_0"),
    standing=proved(PROOF, "snap.theorem4.scan.rederived", "snap.theorem4.snap.rederived", hunted=7),
    judgement=between_ends(printed=False),
)

CLAIMS: tuple[Claim, ...] = (ENDS, ENDS_REDERIVED)
