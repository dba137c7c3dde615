"""Eqs. 132 and 133: B for large t."""

import numpy as np

from marginaudit.claims.claim import Claim
from marginaudit.claims.judgements import HiddenConstant, Limit, Parts
from marginaudit.claims.quotation import quoted
from marginaudit.claims.series import FORMULA_ROUNDING, Series, series
from marginaudit.claims.snap.appendix_f_transition.common_token import C0, PRINTED, no_theorem4
from marginaudit.claims.snap.readings import FAST_DECODER, IN_RANGE_R, PAGE, SOURCE
from marginaudit.claims.snap.run import ClassRun
from marginaudit.claims.standing import proved
from marginaudit.orders.arrays import Floats

PROOF = PAGE + "89-snapeq132-and-snapeq133"

LATE = np.geomspace(1, 1e6, 121)
"""Values of lnln(M eta_Y t/K), relative to the first of late B."""


def log_A(run: ClassRun) -> float:
    """ln(2 K (M-1)^2/(M^2 nu)); B contains it minus ln C0."""
    return float(np.log(2 * run.K) + 2 * np.log1p(-1 / run.M) + np.log(run.eta_Z) - np.log(run.eta_Y))


def log_nu_over_K(run: ClassRun) -> float:
    """ln(nu/K)."""
    return float(np.log(run.eta_Y) - np.log(run.eta_Z) - np.log(run.K))


def late(run: ClassRun) -> Floats:
    """u = lnln(M eta_Y t/K), from the point at which M h is exp(u) beyond float64's digits and only u matters."""
    L = 4 * np.log(run.M) + 200
    return np.asarray((np.log(L) + 2 * (abs(log_A(run)) + abs(log_nu_over_K(run)) + abs(np.log(C0(run))))) * LATE)


def late_B(run: ClassRun) -> Series:
    """ln(1 + A L^2/C0)/4 along u = ln L, L = ln(M eta_Y t/K) (snap.theorem4.closed-form.rederived).

    Lemma 6 makes M h at least L + ln(1 - M L exp(-L)), and L at most: L to within exp(-100).
    """
    u, start = late(run), log_A(run) - np.log(C0(run))
    value = np.logaddexp(0.0, start + 2 * u) / 4
    return series(value, radius=FORMULA_ROUNDING * (u + abs(start)), step=u, clock="lnln(M eta_Y t/K)")


def against_132(run: ClassRun) -> Series:
    """`late_B` over eq. 132 without its 1 + o(1)."""
    found = late_B(run)
    bracket = late(run) / 2 + log_A(run) / 4
    value = found.value / bracket
    bars = found.radius / bracket + FORMULA_ROUNDING * value
    return series(value, radius=bars, step=found.step, clock=found.clock)


EQ132 = Claim(
    id="snap.eq132",
    source=f"{SOURCE}, Theorem 4's proof, eq. 132",
    source_words=quoted(
        "appendix F, (3), eq. 132",
        "B_n(t) = (1+o(1)) [(1/2) lnln(M eta_Y t/K) + (1/4) ln(2K (M-1)^2 M^{-2} nu^{-1})]",
        f"{IN_RANGE_R} (Remark 3). {FAST_DECODER} In the limit of t, all else fixed. "
        "Its stated range, t from (M eta_Y)^-1 exp(1/sqrt(2 nu)) on, is "
        "not judged: by eq. 131 it would have nu for 1/nu, and K.",
    ),
    statement=(
        "Under eq. 13's ODE, nu = eta_Y/eta_Z fixed and t to infinity: B_n(t) = (1+o(1)) [lnln(M eta_Y t/K)/2 + ln(2 K "
        "(M-1)^2/(M^2 nu))/4]; judged as the ratio of the two, which tends to 1."
    ),
    formula=r"B_n(t)=(1+o(1))\cdot\left[\frac12\ln\ln(M\eta_Yt/K)+\frac14\ln(2K(M-1)^2M^{-2}\nu^{-1})\right]",
    assumptions=PRINTED,
    standing=proved(PROOF, "snap.theorem4.closed-form.rederived", "snap.lemma6", hunted=265),
    judgement=Limit(measure=against_132, predicted=lambda _: 1.0, regime=lambda run: float(late(run)[0])),
    absent=no_theorem4,
)

EQ133 = Claim(
    id="snap.eq133",
    source=f"{SOURCE}, Theorem 4's proof, eq. 133",
    source_words=quoted(
        "appendix F, (3), eq. 133",
        "B_n(t) .. = Theta(lnln(M eta_Z nu t/K) - ln(nu/K))",
        f"{IN_RANGE_R} (Remark 3). {FAST_DECODER} In the limit of t, all else fixed, so that constants "
        "of Theta are about t alone.",
    ),
    statement=(
        "Under eq. 13's ODE, nu = eta_Y/eta_Z fixed and t to infinity: B_n(t) = Theta(lnln(M eta_Z nu t/K) - "
        "ln(nu/K)); its constants are those of t alone, and of no other nu, K or M."
    ),
    formula=r"B_n(t)=\Theta\left(\ln\ln\left(\frac{M\eta_Z\nu t}{K}\right)-\ln\left(\frac\nu K\right)\right)",
    assumptions=PRINTED,
    standing=proved(PROOF, "snap.theorem4.closed-form.rederived", "snap.lemma6", hunted=220),
    judgement=Parts(
        {
            "From above": HiddenConstant(measure=late_B, shape=lambda run, u: u - log_nu_over_K(run), side="upper"),
            "From below": HiddenConstant(measure=late_B, shape=lambda run, u: u - log_nu_over_K(run), side="lower"),
        }
    ),
    absent=no_theorem4,
)

CLAIMS: tuple[Claim, ...] = (EQ132, EQ133)
