"""Section 6: one common token and one query, C0 = rho_0^4/K, and B along eq. 13's ODE."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import scipy  # its subpackages load when first used

from marginaudit.claims.claim import BeyondTheRun, Claim, NotFollowed
from marginaudit.claims.judgements import Bounded, Threshold
from marginaudit.claims.run import once_a_run
from marginaudit.claims.series import FORMULA_ROUNDING, Series, series
from marginaudit.claims.snap.appendix_d3_growth.two_stages import beyond_steps, from_first_step, scaled_time
from marginaudit.claims.snap.appendix_d3_growth.two_stages import scan_times as whole_scan
from marginaudit.claims.snap.conditions import RANGE_R, one_class, outside_range_r, slow_decoder
from marginaudit.claims.snap.readings import mended
from marginaudit.claims.snap.run import ClassRun
from marginaudit.claims.standing import Implication, contradicts
from marginaudit.orders.arrays import Floats
from marginaudit.orders.snap import SequenceClasses, common_tokens
from marginaudit.orders.snap.exactly import squared_overlaps
from marginaudit.training.approximation import Approximation
from marginaudit.training.log_time import NotIntegrated
from marginaudit.training.snap.attention.common import follow_common
from marginaudit.training.snap.growth import snap_start
from marginaudit.training.snap.limit.continuous import gamma_value

ASSUMPTIONS = ("uniform_classes", "single_common", "single_query")
"""Section 6: one common token, every next token has the same query."""

PRINTED = (*ASSUMPTIONS, RANGE_R)
"""Theorem 4 relies on Lemma 9, hence on range R, see `no_theorem4`."""

LOWER_LIMIT = "M >= 5; ln((C0 + 4 Gamma)/C0) in place of ln(C0 + 4 Gamma), the integral of eq. 124 from 0 on."
"""The correction in the re-derived statements."""

ALL_OF_IT = "h = (1+o(1)) .. is taken as all that it can be at that t."
"""Reading of h in Theorem 4."""

FASTEST_KNOWN = 1e-4
"""Relative error of the time of the largest gamma."""

OFFSET = "C0 is not 1"

NO_OFFSET = "C0 = 1"
"""Condition for the excess ln(C0)/4 of the printed formulas to vanish."""

NEVER_ONE = f"{NO_OFFSET}, which Assumption 2 excludes: under it C0 > K (K-1)"

LEADER = "snap.theorem4.closed-form"
"""The claim that documents the lower limit missing in eq. 124."""

ORDERS_STAY = (
    "As t grows the offset washes out (eqs. 132, 133): the orders of B and chi, t_0 and the phase transition stay."
)


def mean_square(data: SequenceClasses) -> float:
    """rho_0^-4 at Z = 0: the mean of (f_n^T f_n')^2 over pairs of classes."""
    return float((data.overlap.E**2).sum() / (data.K * (data.K - 1)))


def C0(run: ClassRun) -> float:
    """rho_0^4/K."""
    return 1 / (run.K * mean_square(run.dataset))


def no_overlap(run: ClassRun) -> str | None:
    """Reason why rho_0 is undefined, or None; else see `beyond_steps`.

    Raises
    ------
    NotFollowed
        The squares of the overlaps underflow.
    """
    if not common_tokens(run.dataset):
        return "No two classes share a token: there is no rho_0."
    reason = beyond_steps(run)
    if reason is None and not mean_square(run.dataset) > np.finfo(np.float64).tiny:
        raise NotFollowed("overlaps are so weak that float64 does not have their squares")
    return reason


def no_theorem4(run: ClassRun) -> str | None:
    """Reason why Theorem 4 does not apply to the run, or None; see `no_overlap`."""
    return slow_decoder(run) or outside_range_r(run) or no_overlap(run)


def with_lower_limit(printed: Claim, **fields: Any) -> Claim:
    """Re-derive a printed statement with the lower limit of eq. 124; ``fields`` replace those of the printed claim."""
    own: dict[str, Any] = {
        "source": f"{printed.source}, with the lower limit of eq. 124",
        "assumptions": ASSUMPTIONS,
        "absent": no_overlap,
    }
    return mended(printed, LOWER_LIMIT, **own | fields)


def exact_inverse_C0(run: ClassRun) -> Fraction:
    """Exact 1/C0 of two or more classes."""
    squares = squared_overlaps(run.dataset)
    return run.K * sum(squares, Fraction(0)) / len(squares)


def no_offset(run: ClassRun) -> str | None:
    """Reason why C0 is not known to differ from 1, or None; in rational arithmetic."""
    return one_class(run) or (NO_OFFSET if exact_inverse_C0(run) == 1 else None)


def some_offset(run: ClassRun) -> str | None:
    """Reason for C0 != 1, or None; in rational arithmetic."""
    return None if no_offset(run) == NO_OFFSET else OFFSET


def near_one(least: Callable[[int], Fraction]) -> Callable[[ClassRun], str | None]:
    """Reason why neither C0 nor 1/C0 exceeds a threshold set by M, or None; in rational arithmetic."""

    def unmet(run: ClassRun) -> str | None:
        inverse = Fraction(0) if one_class(run) else exact_inverse_C0(run)
        if not inverse:
            return "the classes share no token"
        return None if max(inverse, 1 / inverse) > least(run.M) else "C0 is near 1"

    return unmet


def by_offset(
    rederived: str,
    proof: str,
    *,
    condition: str = OFFSET,
    unmet: Callable[[ClassRun], str | None] = no_offset,
    unseen: str,
) -> tuple[Implication, ...]:
    """Implications for a printed statement: false with a visible ln(C0)/4 offset, true without one."""
    return (
        contradicts(
            rederived,
            condition=condition,
            proof=proof,
            unmet=unmet,
            unseen=unseen,
        ),
        Implication(sources=(rederived,), condition=NO_OFFSET, proof=proof, unmet=some_offset),
    )


@once_a_run
def growth(run: ClassRun, times: tuple[float, ...], of_Y: float = 1.0, of_Z: float = 1.0) -> Approximation:
    """B at increasing times along eq. 13 as printed, integrated numerically at fractions of the step sizes."""
    try:
        return follow_common(times, C0(run), run.K, run.M, of_Y * run.eta_Y, of_Z * run.eta_Z).B
    except NotIntegrated as reason:
        raise BeyondTheRun(str(reason)) from reason


def along(run: ClassRun, times: Floats) -> Series:
    """B along eq. 13."""
    found = growth(run, tuple(times.tolist()))
    return series(found.value, radius=found.error, step=times)


def scan_times(run: ClassRun) -> Floats:
    """The recorded steps t < t_0', and times up to there."""
    t = whole_scan(run)
    return t[t < run.transition]


def scan_from_first_step(run: ClassRun) -> Floats:
    """`scan_times` from t = K on, starting at h(1)."""
    return from_first_step(run, scan_times(run))


def eq_14(run: ClassRun, logit: Floats, *, printed: bool) -> Floats:
    """Eq. 14 as a function of M h, starting at ln(C0)/4 or at 0."""
    factor = 2 * run.K * ((run.M - 1) / run.M) ** 2 * run.eta_Z / run.eta_Y
    start = np.log(C0(run)) / 4 if printed else 0.0
    return np.asarray(start + np.log1p(factor * logit**2 / C0(run)) / 4)


def between_eq_14(
    times: Callable[[ClassRun], Floats],
    low: Callable[[float, Floats], Floats],
    high: Callable[[float, Floats], Floats],
    *,
    printed: bool,
) -> Bounded:
    """B between the bounds of eq. 14 from the least and greatest M h = (1+o(1)) .., by M and eta_Y t/K.

    The error of C0 is part of B's error bar.
    """

    def measure(run: ClassRun) -> Series:
        found = along(run, times(run))
        return replace(found, radius=found.radius + FORMULA_ROUNDING) if printed else found

    return Bounded(
        measure=measure,
        lower=lambda run, t: eq_14(run, low(run.M, scaled_time(run, t)), printed=printed),
        upper=lambda run, t: eq_14(run, high(run.M, scaled_time(run, t)), printed=printed),
        threshold=lambda run: Threshold(float(times(run)[0])),
    )


@once_a_run
def fastest(run: ClassRun, of_Y: float) -> float:
    """Time of the largest gamma, at a fraction of eta_Y."""
    eta_Y = of_Y * run.eta_Y
    found = scipy.optimize.minimize_scalar(
        lambda log: -gamma_value(np.exp(log), run.K, run.M, eta_Y),
        bounds=(np.log(run.K / eta_Y) - 5, np.log(snap_start(run.K, run.M, eta_Y))),
        method="bounded",
        options={"xatol": FASTEST_KNOWN / 10},
    )
    return float(np.exp(found.x))


def gap(run: ClassRun) -> str:
    """Note on the growth of B between the phases, which the theorem does not cover."""
    early, late = run.transition, run.snap_start
    B = growth(run, (early, late)).value
    return (
        f"C0 = {C0(run):.6g}. Between t_0' = {early:.4g} and t_0 = {late:.4g}, outside the theorem, B goes from "
        f"{B[0]:.6g} to {B[1]:.6g}; gamma is largest at t = {fastest(run, 1.0):.4g}."
    )
