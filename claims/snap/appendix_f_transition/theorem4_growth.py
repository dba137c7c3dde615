"""Theorem 4's growth factor of the dominant token during the scan."""

from collections.abc import Callable
from fractions import Fraction
from functools import partial

import numpy as np

from marginaudit.claims.claim import Claim
from marginaudit.claims.judgements import Bounded, HiddenConstant, Parts
from marginaudit.claims.quotation import quoted
from marginaudit.claims.series import FORMULA_ROUNDING, Series, series
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
    no_overlap,
    scan_from_first_step,
    scan_times,
    with_lower_limit,
)
from marginaudit.claims.snap.conditions import SETTING, outside_range_r, slow_decoder
from marginaudit.claims.snap.readings import FAST_DECODER, IN_RANGE_R, PAGE, SOURCE
from marginaudit.claims.snap.run import ClassRun
from marginaudit.claims.standing import Severity, proved, refuted
from marginaudit.orders.arrays import Floats
from marginaudit.orders.snap import distinct_tokens

PROOF = PAGE + "88-snaptheorem4growthrederived-snaptheorem4endsrederived"


def dominating(run: ClassRun) -> tuple[str, float]:
    """The distinct token with the largest f_n(0) over all classes, and its f_n(0)^2."""
    own, F, column = distinct_tokens(run.dataset), run.dataset.overlap.F, run.dataset.contextual.index
    return max(
        ((token, float(F[column(token), n]) ** 2) for n, c in enumerate(run.dataset.classes) for token in own[c.next]),
        key=lambda found: found[1],
    )


def exponents(run: ClassRun, *, printed: bool) -> Series:
    """2 f^2 B for t < t_0', if as printed from h(1) at t = K on: the logarithm of eq. 12's lower bound.

    The error bar includes the error of ln C0.
    """
    token, square = dominating(run)
    found = along(run, scan_from_first_step(run) if printed else scan_times(run))
    start = 1 + abs(np.log(C0(run))) if printed else 0.0
    bars = 2 * square * (found.radius + FORMULA_ROUNDING * (start + found.value))
    return series(2 * square * found.value, radius=bars, step=found.step, label=(token,) * len(found))


def power(logit: Callable[[int, Floats], Floats], *, printed: bool) -> Callable[[ClassRun, Floats], Floats]:
    """ln of [K^-1 (rho_0^4 + 2 K^2 (eta_Z/eta_Y) logit^2)]^(f^2/2), or of that over C0; logit is M h by M and y."""

    def bound(run: ClassRun, t: Floats) -> Floats:
        return np.asarray(2 * dominating(run)[1] * eq_14(run, logit(run.M, scaled_time(run, t)), printed=printed))

    return bound


def linear(run: ClassRun) -> Series:
    """exp(2 B), an upper bound on chi, for 1 <= t < t_0'; empty for less than a decade."""
    last = run.transition
    found = along(run, np.geomspace(1, last * (1 - 1e-9), 60) if last > 10 else np.empty(0))
    return series(2 * found.value, radius=2 * found.radius, step=found.step, log=True)


def growth_factor(*, printed: bool) -> Parts:
    """Eq. 12's lower bound between its least and its greatest, and exp(2B) = O(t)."""
    return Parts(
        {
            "The bound's logarithm": Bounded(
                measure=partial(exponents, printed=printed),
                lower=power(lambda M, y: y - np.expm1(y) / M, printed=printed),
                upper=power(lambda M, y: y * M / (M - 1), printed=printed),
            ),
            "exp(2B) = O(t)": HiddenConstant(measure=linear, shape=lambda _, t: np.log(t), regime=lambda _: 0.0),
        }
    )


def no_distinct_token(run: ClassRun) -> str | None:
    """Reason why no distinct token dominates, or None; else see `no_overlap`."""
    return (None if any(distinct_tokens(run.dataset).values()) else "No token is distinct.") or no_overlap(run)


STATEMENT = (
    "Under eq. 13's ODE, for {first}t < t_0': eq. 12's lower bound exp(2 f^2 B_n) on chi, f^2 = f_nl0(0)^2, is about "
    "{start}^(f^2/2), M h taken as all that its 1 + o(1) can be there; and exp(2 B_n), above chi, is O(t)."
)

GROWTH = Claim(
    id="snap.theorem4.growth",
    source=f"{SOURCE}, Theorem 4, attention scanning, the growth factor",
    source_words=quoted(
        "section 6, Theorem 4, attention scanning",
        "chi_{l_0}(t) >= e^{2f_{nl_0}^2(0)B_n(t)} ≈ [K^{-1}(rho_0^4 + 2 eta_Y eta_Z t^2)]^{0.5f_{nl_0}^2(0)}",
        f"B is that of eq. 13's ODE. l_0 is the distinct token with the largest f_n(0). {ALL_OF_IT} "
        f"{IN_RANGE_R}, and t/K >= 1 (Remark 3). {FAST_DECODER}",
    ),
    statement=STATEMENT.format(first="K <= ", start="[(rho_0^4 + 2 eta_Y eta_Z t^2)/K]"),
    formula=r"\chi_{l_0}(t)\ge e^{2f_{nl_0}^2(0)B_n(t)}\approx[K^{-1}(\rho_0^4+2\eta_Y\eta_Zt^2)]^{0.5f_{nl_0}^2(0)}",
    assumptions=PRINTED,
    setting=SETTING,
    standing=refuted(
        PROOF,
        "snap.theorem4.growth.rederived",
        severity=Severity.CONSTANT,
        cause=LEADER,
        wrong="Theorem 4's growth factor is off by the factor C0^(f^2/2), from the ln(C0)/4 in B.",
        defence=ORDERS_STAY,
        hunted=1,
        weakest=NEVER_ONE,
    ),
    implications=by_offset(
        "snap.theorem4.growth.rederived",
        PROOF,
        condition="C0 or 1/C0 is above 1 + 7/M",
        unmet=near_one(lambda M: 1 + Fraction(7, M)),
        unseen="no recorded t is early enough",
    ),
    judgement=growth_factor(printed=True),
    absent=lambda run: slow_decoder(run) or outside_range_r(run) or no_distinct_token(run),
    instead=(
        r"What is printed is $C_0^{f^2/2}$ times too much, by the lower limit that eq. 124 leaves out "
        "(snap.theorem4.growth.rederived)."
    ),
)

GROWTH_REDERIVED = with_lower_limit(
    GROWTH,
    statement=STATEMENT.format(first="", start="[1 + 2 eta_Y eta_Z t^2/rho_0^4]"),
    formula=GROWTH.formula.replace(r"K^{-1}(\rho_0^4+2\eta_Y\eta_Zt^2)", r"1+2\eta_Y\eta_Zt^2/\rho_0^4"),
    standing=proved(PROOF, "snap.theorem4.scan.rederived", hunted=8),
    judgement=growth_factor(printed=False),
    absent=no_distinct_token,
)

CLAIMS: tuple[Claim, ...] = (GROWTH, GROWTH_REDERIVED)
