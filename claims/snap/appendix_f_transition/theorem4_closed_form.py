"""Theorem 4's closed form of B, eq. 129."""

import numpy as np

from marginaudit.claims.claim import Claim
from marginaudit.claims.judgements import Equal
from marginaudit.claims.quotation import quoted
from marginaudit.claims.series import FORMULA_ROUNDING, Series, series
from marginaudit.claims.snap.appendix_f_transition.common_token import (
    C0,
    NEVER_ONE,
    ORDERS_STAY,
    PRINTED,
    along,
    by_offset,
    no_theorem4,
    with_lower_limit,
)
from marginaudit.claims.snap.conditions import SETTING
from marginaudit.claims.snap.readings import FAST_DECODER, IN_RANGE_R, PAGE, ROUNDED, SOURCE
from marginaudit.claims.snap.run import ClassRun
from marginaudit.claims.standing import Severity, proved, refuted
from marginaudit.training.snap.attention.path import turned

PROOF = PAGE + "44-snaptheorem4closed-formrederived"


def closed_form(run: ClassRun, *, printed: bool) -> Series:
    """ln(C0 + 4 Gamma)/4, with Gamma = (eta_Z/eta_Y) K (M-1)^2 h^2/2, optionally minus its value at t = 0."""
    found = turned(run.steps, run.K, run.M, run.eta_Y, run.eta_Z) * (4 / C0(run))
    value = np.log1p(found.value) / 4
    bars = found.error / (1 + found.value) / 4 + FORMULA_ROUNDING * value
    start, off = (np.log(C0(run)) / 4, FORMULA_ROUNDING) if printed else (0.0, 0.0)  # C0 is off by that, relative
    return series(value + start, radius=bars + off * (1 + abs(start)), step=run.steps)


CLOSED_FORM = Claim(
    id="snap.theorem4.closed-form",
    source=f"{SOURCE}, Theorem 4's proof, eq. 129",
    source_words=quoted(
        "appendix F, eq. 129",
        "regardless of the specific form of h(t): B_n(t) = (1/4)ln(C_0 + 2(eta_Z/eta_Y)K(M-1)^2 h^2(t/K))",
        f"C0 is rho_0^4/K with the rho_0 that snap.eq13 has. {IN_RANGE_R} (Remark 3). {FAST_DECODER}",
    ),
    statement=(
        "Under eq. 13's ODE from z = 0, B_n(t) = ln(C0 + 2 (eta_Z/eta_Y) K (M-1)^2 h^2(t/K))/4. The ODE is integrated "
        "numerically with gamma(t) of h(t/K)."
    ),
    formula=r"B_n(t)=\frac14\ln\left(C_0+2\frac{\eta_Z}{\eta_Y}K(M-1)^2h^2(t/K)\right)",
    assumptions=PRINTED,
    setting=SETTING,
    standing=refuted(
        PROOF,
        "snap.theorem4.closed-form.rederived",
        severity=Severity.CONSTANT,
        wrong="Theorem 4's B is off by ln(C0)/4, the lower limit that the integral of eq. 124 leaves out.",
        defence=ORDERS_STAY,
        hunted=1,
        weakest=NEVER_ONE,
        relied_on_by=(
            "snap.theorem4.scan",
            "snap.theorem4.snap",
            "snap.theorem4.growth",
            "snap.theorem4.ends",
            "snap.eq132",
            "snap.eq133",
        ),
        remains="All is ln(C0)/4 less: snap.theorem4.scan.rederived, snap.theorem4.snap.rederived; late B has room for "
        "that.",
    ),
    implications=by_offset("snap.theorem4.closed-form.rederived", PROOF, unseen=ROUNDED),
    judgement=Equal(
        measure=lambda run: along(run, run.steps.astype(float)),
        expected=lambda run: closed_form(run, printed=True),
        note=lambda run: f"C0 = {C0(run):.6g}; at t = 0 B_n is 0, and ln(C0)/4 is {np.log(C0(run)) / 4:.4g}.",
    ),
    absent=no_theorem4,
    instead=(
        r"Eq. 124 leaves out the lower limit of its integral, $\ln(C_0)/4$: "
        r"$B_n(t)=\frac14\ln(1+2(\eta_Z/\eta_Y)K(M-1)^2h^2(t/K)/C_0)$ (snap.theorem4.closed-form.rederived)."
    ),
)

CLOSED_FORM_REDERIVED = with_lower_limit(
    CLOSED_FORM,
    source=f"{SOURCE}, eq. 129 with the lower limit of eq. 124",
    statement=CLOSED_FORM.statement.replace(
        "ln(C0 + 2 (eta_Z/eta_Y) K (M-1)^2 h^2(t/K))/4", "ln(1 + 2 (eta_Z/eta_Y) K (M-1)^2 h^2(t/K)/C0)/4"
    ),
    formula=r"B_n(t)=\frac14\ln\left(1+\frac{2}{C_0}\frac{\eta_Z}{\eta_Y}K(M-1)^2h^2(t/K)\right)",
    standing=proved(PROOF, hunted=7),
    judgement=Equal(
        measure=lambda run: along(run, run.steps.astype(float)),
        expected=lambda run: closed_form(run, printed=False),
        note=lambda run: f"C0 = {C0(run):.6g}.",
    ),
)

CLAIMS: tuple[Claim, ...] = (CLOSED_FORM, CLOSED_FORM_REDERIVED)
