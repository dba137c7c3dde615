"""Theorem 4, eq. 14: B during the scan and after the snap."""

from math import e, exp

import numpy as np

from marginaudit.claims.claim import BeyondTheRun, Claim
from marginaudit.claims.judgements import HiddenConstant, Parts
from marginaudit.claims.quotation import quoted
from marginaudit.claims.series import FORMULA_ROUNDING, Series, series
from marginaudit.claims.snap.appendix_d3_growth.two_stages import snap_times
from marginaudit.claims.snap.appendix_d5_theorem1.overlap import BITS
from marginaudit.claims.snap.appendix_f_transition.common_token import (
    ALL_OF_IT,
    C0,
    LEADER,
    NEVER_ONE,
    ORDERS_STAY,
    PRINTED,
    along,
    between_eq_14,
    by_offset,
    exact_inverse_C0,
    gap,
    no_offset,
    no_theorem4,
    scan_from_first_step,
    scan_times,
    with_lower_limit,
)
from marginaudit.claims.snap.conditions import SETTING
from marginaudit.claims.snap.readings import FAST_DECODER, IN_RANGE_R, PAGE, ROUNDED, SOURCE
from marginaudit.claims.snap.run import ClassRun
from marginaudit.claims.standing import Severity, proved, refuted
from marginaudit.orders.arrays import Floats

PROOF = PAGE + "45-snaptheorem4scanrederived-snaptheorem4snaprederived"

OFF = "Eq. 14 is off by ln(C0)/4."

TOO_MUCH = r"What is printed is $\ln(C_0)/4$ too much, which eq. 124 leaves out ({})."

FARTHEST_LOG, MOST_LOG = 1e12, 1e98
"""Least and greatest end of the sweep of B, in ln M."""


def scan_constants(run: ClassRun) -> Series:
    """The largest B/ln t over 2 <= t < t_0', along ln M, by snap.theorem4.closed-form.rederived.

    B is ln(1 + A (c x)^2)/4, about A x^2/4 while small, so that a constant is visible only for x beyond A^{-1/2}. Half
    of the sweep, on its logarithmic scale, covers those x. With L = ln M and c = 1 - 1/M, x = M h solves
    exp(x-L) + c x = y + exp(-L): concave in x's inverse, and Newton's method starts from above, at x = y/c.

    Raises
    ------
    BeyondTheRun
        A is so small that x beyond A^{-1/2} overflows.
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


SLOWLY = HiddenConstant(measure=scan_constants, shape=lambda run, L: np.ones(len(L)))


def in_scan(*, printed: bool) -> Parts:
    """Eq. 14 with M h from y - (exp(y)-1)/M to y, y = eta_Y t/K, and B = O(ln t)."""
    bounds = between_eq_14(
        scan_from_first_step if printed else scan_times,
        lambda M, y: y - np.expm1(y) / M,
        lambda _, y: y,
        printed=printed,
    )
    return Parts({"Eq. 14": bounds, "B = O(ln t)": SLOWLY}, note=gap)


def no_offset_in_scan(run: ClassRun) -> str | None:
    """Reason why eq. 14 is not refuted at t = K, or None; in ball arithmetic.

    At t = K, exp(4B) = 1 + A x^2 with y = eta_Y and x = M h(1), the fixed point of (M y + 1 - exp(x))/(M-1).
    """
    import flint
    from flint import arb, fmpq

    if reason := no_offset(run):
        return reason
    inverse, K, M = exact_inverse_C0(run), run.K, run.M
    with flint.ctx.workprec(BITS):
        one, y = arb(1), arb(run.eta_Y)
        C_0 = one / arb(fmpq(inverse.numerator, inverse.denominator))
        A = 2 * K * (1 - one / M) ** 2 / C_0 * arb(run.eta_Z) / y
        x = y / 2 + arb(0, run.eta_Y)  # 0 <= x <= y
        for _ in range(BITS):
            x = (M * y + 1 - x.exp()) / (M - 1)
        least, most = (C_0 * (1 + A * end**2) for end in (y - (y.exp() - 1) / M, y))
        seen = 1 + A * x**2 < least or 1 + A * x**2 > most
    return None if seen else "C0 is too near 1 for eq. 14 to be false at t = K"


STATEMENT = (
    "Under eq. 13's ODE, for {first}t < t_0' = K ln M/eta_Y: B_n(t) = "
    "ln({start} + 2 (M-1)^2 eta_Y eta_Z t^2/(K M^2{over}))/4, the (1+o(1)) of h taken as all that it can be there, "
    "from 1 - (exp(y)-1)/(M y) to 1 with y = eta_Y t/K; and B_n = O(ln t), t >= 2, with one constant for every M."
)

SCAN = Claim(
    id="snap.theorem4.scan",
    source=f"{SOURCE}, Theorem 4, eq. 14, attention scanning",
    source_words=quoted(
        "section 6, Theorem 4, eq. 14; appendix F, eq. 130",
        "B_n(t) = (1/4)ln(C_0 + (2(M-1)^2/(KM^2))eta_Y eta_Z t^2) .. t < t'_0 := K ln(M)/eta_Y .. = O(ln t)",
        f"{ALL_OF_IT} {IN_RANGE_R}, and t/K >= 1 (Remark 3). {FAST_DECODER}",
    ),
    statement=STATEMENT.format(first="K <= ", start="C0", over=""),
    formula=r"B_n(t)=\frac14\ln\left(C_0+\frac{2(M-1)^2}{KM^2}\eta_Y\eta_Zt^2\right)=O(\ln t),\qquad "
    r"K\le t\lt t_0'=\frac{K\ln M}{\eta_Y}",
    assumptions=PRINTED,
    setting=SETTING,
    standing=refuted(
        PROOF,
        "snap.theorem4.scan.rederived",
        severity=Severity.CONSTANT,
        cause=LEADER,
        wrong=OFF,
        defence=ORDERS_STAY,
        hunted=1,
        weakest=NEVER_ONE,
    ),
    implications=by_offset(
        "snap.theorem4.scan.rederived",
        PROOF,
        condition="eq. 14 is off at t = K",
        unmet=no_offset_in_scan,
        unseen=ROUNDED,
    ),
    judgement=in_scan(printed=True),
    absent=no_theorem4,
    instead=TOO_MUCH.format("snap.theorem4.scan.rederived"),
)

SCAN_REDERIVED = with_lower_limit(
    SCAN,
    statement=STATEMENT.format(first="", start="1", over=" C0"),
    formula=SCAN.formula.replace(r"C_0+\frac{2(M-1)^2}{KM^2}", r"1+\frac{2(M-1)^2}{KM^2C_0}").replace(r"K\le t", "t"),
    standing=proved(PROOF, "snap.theorem4.closed-form.rederived", "snap.lemma9.scan.rederived", hunted=8),
    judgement=in_scan(printed=False),
)


def slow_times(run: ClassRun) -> Floats:
    """The `snap_times` with lnln t > 1, so that a constant times it can be a bound."""
    times = snap_times(run)
    return times[times > exp(e)]


def exponent(run: ClassRun) -> Series:
    """exp(2 B), an upper bound on chi."""
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


SNAP_STATEMENT = (
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
        f"delta' is omega_1 of Lemma 8. {ALL_OF_IT} {IN_RANGE_R} (Remark 3). {FAST_DECODER}",
    ),
    statement=SNAP_STATEMENT.format(start="C0", over=""),
    formula=r"B_n(t)=\frac14\ln\left(C_0+\frac{2K(M-1)^2}{M^2}\frac{\eta_Z}{\eta_Y}\ln^2(M\eta_Yt/K)\right)"
    r"=O(\ln\ln t),\qquad t\ge t_0=\frac{2(1+o(1))K\ln M}{\eta_Y}",
    assumptions=PRINTED,
    setting=SETTING,
    standing=refuted(
        PROOF,
        "snap.theorem4.snap.rederived",
        severity=Severity.CONSTANT,
        cause=LEADER,
        wrong=OFF,
        defence=ORDERS_STAY,
        hunted=1,
        weakest=NEVER_ONE,
    ),
    implications=by_offset("snap.theorem4.snap.rederived", PROOF, unseen="no t is late enough"),
    judgement=in_snap(printed=True),
    absent=no_theorem4,
    instead=TOO_MUCH.format("snap.theorem4.snap.rederived"),
)

SNAP_REDERIVED = with_lower_limit(
    SNAP,
    statement=SNAP_STATEMENT.format(start="1", over=" C0"),
    formula=SNAP.formula.replace(r"C_0+\frac{2K(M-1)^2}{M^2}", r"1+\frac{2K(M-1)^2}{M^2C_0}"),
    standing=proved(PROOF, "snap.theorem4.closed-form.rederived", "snap.theorem1.b.rederived", hunted=8),
    judgement=in_snap(printed=False),
)

CLAIMS: tuple[Claim, ...] = (SCAN, SCAN_REDERIVED, SNAP, SNAP_REDERIVED)
