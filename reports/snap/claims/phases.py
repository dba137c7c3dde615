r"""What Theorem 4's text and proof say beside eq. 14 in arXiv 2305.16380: growth factors, B at t_0' and t_0, late B."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from marginaudit.orders.arrays import Floats
from marginaudit.orders.snap import distinct_tokens
from marginaudit.reports.claim import Claim
from marginaudit.reports.judgements import Bounded, HiddenConstant, Limit, Parts
from marginaudit.reports.series import FORMULA_ROUNDING, Series, series
from marginaudit.reports.snap.claims.conditions import RANGE_R, outside_range_r
from marginaudit.reports.snap.claims.transition import ASSUMPTIONS, C0, along, no_overlap, piece, scan_times
from marginaudit.reports.snap.run import ClassRun
from marginaudit.training.snap.attention import scan_end, snap_start

SOURCE = "arXiv 2305.16380"

PRINTED = (*ASSUMPTIONS, RANGE_R)
"""Theorem 4 stands on Lemma 9, and so in range R, see `outside`."""

LATE = np.geomspace(1, 1e6, 121)
"""Of lnln(M eta_Y t/K), over where late B begins."""


def outside(run: ClassRun) -> str | None:
    """Why Theorem 4 says nothing of the run, or None; see `no_overlap`."""
    return outside_range_r(run) or no_overlap(run)


def _y(run: ClassRun, t: Floats) -> Floats:
    return np.asarray(run.eta_Y * t / run.K)


# The growth factor in the scan


def dominating(run: ClassRun) -> tuple[str, float]:
    """The distinct token with the largest f_n(0) of all classes, and that f_n(0)^2."""
    own, F, column = distinct_tokens(run.dataset), run.dataset.overlap.F, run.dataset.contextual.index
    return max(
        ((token, float(F[column(token), n]) ** 2) for n, c in enumerate(run.dataset.classes) for token in own[c.next]),
        key=lambda found: found[1],
    )


def exponents(run: ClassRun, *, printed: bool) -> Series:
    """2 f^2 B for t < t_0', from t = K on where h is at 1 if as printed: the logarithm of eq. 12's lower bound.

    Its bar holds what ln C0 is off.
    """
    token, square = dominating(run)
    times = scan_times(run)
    found = along(run, np.unique([run.K, *times[times >= run.K]]) if printed else times)
    start = 1 + abs(np.log(C0(run))) if printed else 0.0
    bars = 2 * square * (found.radius + FORMULA_ROUNDING * (start + found.value))
    return series(2 * square * found.value, radius=bars, step=found.step, label=(token,) * len(found))


def _power(rows: Callable[[ClassRun, Floats], Floats], *, printed: bool) -> Callable[[ClassRun, Floats], Floats]:
    """ln of [K^-1 (rho_0^4 + 2 K^2 (eta_Z/eta_Y) rows^2)]^(f^2/2), or of that over C0."""

    def bound(run: ClassRun, t: Floats) -> Floats:
        return np.asarray(2 * dominating(run)[1] * piece(run, rows(run, _y(run, t)), printed=printed))

    return bound


def linear(run: ClassRun) -> Series:
    """exp(2 B), above chi, for 1 <= t < t_0'; nothing where that is no decade."""
    last = scan_end(run.K, run.M, run.eta_Y)
    found = along(run, np.geomspace(1, last * (1 - 1e-9), 60) if last > 10 else np.empty(0))
    return series(2 * found.value, radius=2 * found.radius, step=found.step, log=True)


def _growth(*, printed: bool) -> Parts:
    return Parts(
        {
            "The bound's logarithm": Bounded(
                measure=partial(exponents, printed=printed),
                lower=_power(lambda run, y: y - np.expm1(y) / run.M, printed=printed),
                upper=_power(lambda run, y: y * run.M / (run.M - 1), printed=printed),
            ),
            "exp(2B) = O(t)": HiddenConstant(measure=linear, shape=lambda _, t: np.log(t)),
        }
    )


def no_distinct_token(run: ClassRun) -> str | None:
    """Why no distinct token dominates, or None; else see `no_overlap`."""
    return (None if any(distinct_tokens(run.dataset).values()) else "No token is distinct.") or no_overlap(run)


GROWTH_STATEMENT = (
    "Under eq. 13's ODE, for {first}t < t_0': eq. 12's lower bound exp(2 f^2 B_n) on chi, f^2 = f_nl0(0)^2, is about "
    "{start}^(f^2/2), M h taken as all that its 1 + o(1) can be there; and exp(2 B_n), above chi, is O(t)."
)

GROWTH = Claim(
    id="snap.theorem4.growth",
    source=f"{SOURCE}, Theorem 4, attention scanning, the growth factor",
    statement=GROWTH_STATEMENT.format(first="K <= ", start="[(rho_0^4 + 2 eta_Y eta_Z t^2)/K]"),
    formula=r"\chi_{l_0}(t)\ge e^{2f_{nl_0}^2(0)B_n(t)}\approx[K^{-1}(\rho_0^4+2\eta_Y\eta_Zt^2)]^{0.5f_{nl_0}^2(0)}",
    assumptions=PRINTED,
    judgement=_growth(printed=True),
    absent=lambda run: outside_range_r(run) or no_distinct_token(run),
    instead=(
        r"What is printed is $C_0^{f^2/2}$ times too much, by the lower limit that eq. 124 leaves out "
        "(snap.theorem4.growth.rederived)."
    ),
)

GROWTH_REDERIVED = replace(
    GROWTH,
    id="snap.theorem4.growth.rederived",
    source=f"{SOURCE}, Theorem 4, attention scanning, the growth factor, with the lower limit of eq. 124",
    statement=GROWTH_STATEMENT.format(first="", start="[1 + 2 eta_Y eta_Z t^2/rho_0^4]"),
    formula=GROWTH.formula.replace(r"K^{-1}(\rho_0^4+2\eta_Y\eta_Zt^2)", r"1+2\eta_Y\eta_Zt^2/\rho_0^4"),
    judgement=_growth(printed=False),
    assumptions=ASSUMPTIONS,
    absent=no_distinct_token,
    instead="",
)


# B at t_0' and t_0


def at_ends(run: ClassRun) -> Series:
    """B(t_0'), B(t_0)."""
    found = along(run, np.array([end(run.K, run.M, run.eta_Y) for end in (scan_end, snap_start)]))
    start = FORMULA_ROUNDING * (1 + abs(np.log(C0(run))))
    return replace(found, radius=found.radius + start, label=("t_0'", "t_0"))


def _ends(*, printed: bool) -> Bounded:
    """M h(t_0'/K) is from ln M - 1 + 1/M to ln M; M h(t_0/K) from ln(My/2) to ln(My), y = 2 (1+omega_1) ln M."""

    def rows(run: ClassRun, t: Floats, half: float) -> Floats:
        L, y = np.log(run.M), _y(run, t)[1]
        return np.array([L - (1 - 1 / run.M) * (half < 1), np.log(half * run.M * y)])

    return Bounded(
        measure=at_ends,
        lower=lambda run, t: piece(run, rows(run, t, 0.5), printed=printed),
        upper=lambda run, t: piece(run, rows(run, t, 1.0), printed=printed),
    )


ENDS_STATEMENT = (
    "Under eq. 13's ODE, nu = eta_Y/eta_Z: B_n(t_0') = ln({start} + 2 K (M-1)^2/(M^2 nu{over}) ln^2 M)/4 and B_n(t_0) "
    "= ln({start} + 2 K (M-1)^2/(M^2 nu{over}) ln^2(2 (1+omega_1) M ln M))/4, M h taken as all that its 1 + o(1) can "
    "be."
)

ENDS = Claim(
    id="snap.theorem4.ends",
    source=f"{SOURCE}, Theorem 4's proof, B(t_0') and B(t_0)",
    statement=ENDS_STATEMENT.format(start="C0", over=""),
    formula=r"B_n(t_0')=\frac14\ln\left(C_0+\frac{2K(M-1)^2}{M^2\nu}\ln^2M\right),\quad "
    r"B_n(t_0)=\frac14\ln\left(C_0+\frac{2K(M-1)^2}{M^2\nu}\ln^2(2(1+\omega_1)M\ln M)\right)",
    assumptions=PRINTED,
    judgement=_ends(printed=True),
    absent=outside,
    instead=(
        r"What is printed is $\ln(C_0)/4$ too much, which eq. 124 leaves out (snap.theorem4.ends.rederived); so $B$ at "
        r"$t_0$ depends on $C_0$ beside $K$, $M$ and $\nu$."
    ),
)

ENDS_REDERIVED = replace(
    ENDS,
    id="snap.theorem4.ends.rederived",
    source=f"{SOURCE}, Theorem 4's proof, B(t_0') and B(t_0), with the lower limit of eq. 124",
    statement=ENDS_STATEMENT.format(start="1", over=" C0"),
    formula=ENDS.formula.replace("C_0+", "1+").replace(r"M^2\nu", r"M^2\nu C_0"),
    judgement=_ends(printed=False),
    assumptions=ASSUMPTIONS,
    absent=no_overlap,
    instead="",
)


# Late B


def log_A(run: ClassRun) -> float:
    """ln(2 K (M-1)^2/(M^2 nu)), and less ln C0 what B has."""
    return float(np.log(2 * run.K) + 2 * np.log1p(-1 / run.M) + np.log(run.eta_Z) - np.log(run.eta_Y))


def log_nu_over_K(run: ClassRun) -> float:
    """ln(nu/K)."""
    return float(np.log(run.eta_Y) - np.log(run.eta_Z) - np.log(run.K))


def late(run: ClassRun) -> Floats:
    """u = lnln(M eta_Y t/K) from where M h is its logarithm to more digits than float64 has, and u is what counts."""
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
    statement=(
        "Under eq. 13's ODE, nu = eta_Y/eta_Z fixed and t to infinity: B_n(t) = (1+o(1)) [lnln(M eta_Y t/K)/2 + ln(2 K "
        "(M-1)^2/(M^2 nu))/4]; judged as the ratio of the two, which tends to 1."
    ),
    formula=r"B_n(t)=(1+o(1))\cdot\left[\frac12\ln\ln(M\eta_Yt/K)+\frac14\ln(2K(M-1)^2M^{-2}\nu^{-1})\right]",
    assumptions=PRINTED,
    judgement=Limit(measure=against_132, predicted=lambda _: 1.0, regime=lambda run: float(late(run)[0])),
    absent=outside,
)

EQ133 = Claim(
    id="snap.eq133",
    source=f"{SOURCE}, Theorem 4's proof, eq. 133",
    statement=(
        "Under eq. 13's ODE, nu = eta_Y/eta_Z fixed and t to infinity: B_n(t) = Theta(lnln(M eta_Z nu t/K) - "
        "ln(nu/K)); its constants are those of t alone, and of no other nu, K or M."
    ),
    formula=r"B_n(t)=\Theta\left(\ln\ln\left(\frac{M\eta_Z\nu t}{K}\right)-\ln\left(\frac\nu K\right)\right)",
    assumptions=PRINTED,
    judgement=Parts(
        {
            f"From {side}": HiddenConstant(
                measure=late_B,
                shape=lambda run, u: u - log_nu_over_K(run),
                side="upper" if side == "above" else "lower",
            )
            for side in ("above", "below")
        }
    ),
    absent=outside,
)

CLAIMS: tuple[Claim, ...] = (GROWTH, GROWTH_REDERIVED, ENDS, ENDS_REDERIVED, EQ132, EQ133)
