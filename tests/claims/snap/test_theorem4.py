"""Eq. 13 and Theorem 4 as claims: constants by hand, B by an independent integration, and phases."""

import re
from dataclasses import replace
from math import e, exp
from typing import Any

import mpmath
import numpy as np
import pytest
from scipy.optimize import brentq

from marginaudit.claims import Verdict
from marginaudit.claims.claim import BeyondTheRun
from marginaudit.claims.snap import ClassConfig, ClassRun
from marginaudit.claims.snap.appendix_d3_growth import two_stages
from marginaudit.claims.snap.appendix_f_transition import common_token, eq13, theorem4_eq14, theorem4_rates
from marginaudit.orders.snap import CASES, SequenceClasses, rescaled, single_common_dataset
from marginaudit.reports import LEDGER
from marginaudit.training.snap.growth import scan_end, snap_start
from tests.claims.snap.samples import run
from tests.training.snap.growth import precise_logit
from tests.training.snap.independent import eq_13
from tests.twins import part

HOLDS, VIOLATED, ABSENT, OPEN = Verdict.HOLDS, Verdict.VIOLATED, Verdict.NOT_APPLICABLE, Verdict.INCONCLUSIVE


@pytest.mark.parametrize("lr_y", [30.0, 190.0, 350.0])
def test_where_attention_snaps_before_lnln_t_is_positive(lr_y: float) -> None:
    """At such step sizes t_0 is below e; a bound of the form C lnln t speaks later."""
    early = run("snap-single", lr_y=lr_y)
    assert two_stages.snap_times(early)[0] < exp(e) < theorem4_eq14.slow_times(early)[0] < 60
    assert set(theorem4_eq14.slow_times(early)) < set(two_stages.snap_times(early))
    found = LEDGER["snap.theorem4.snap.rederived"].judge(early)
    assert found.verdict is not Verdict.BROKEN, found
    assert "nan" not in found.detail
    assert LEDGER["snap.theorem4.snap"].judge(early).verdict is ABSENT


# Eq. 13


def test_weaker_overlaps_by_hand() -> None:
    """Ten times weaker: f_1^T f_2 = e/10, z-dot = - sum of (1 - f^2) xi, xi = beta e/10."""
    on = run("snap-single")
    F, E = on.dataset.overlap.F, on.dataset.overlap.E
    place = int(np.argmin(np.abs(eq13.WEAKER - 10)))
    factor = 1 / eq13.WEAKER[place]
    e, M = E[0, 1] * factor, np.ceil(on.M / factor**2)
    beta = -np.linalg.solve([[1, e], [e, 1]], [M / (M - 1), -M / (M - 1) ** 2])[1]
    common = F[on.dataset.contextual.index("the")] ** 2 * factor
    moved, xi = eq13.weaker(on)
    assert xi.value[place] == pytest.approx(beta * e / e**2, rel=1e-9, abs=0)
    assert moved.value[place] == pytest.approx(-(2 - common.sum()) * beta / e, rel=1e-9, abs=0)


# Theorem 4


def test_phases() -> None:
    on = run("snap-single")
    scan = common_token.scan_times(on)
    assert scan[-1] < scan_end(2, 5000, 0.5)
    assert {t for t in on.steps if t < scan_end(2, 5000, 0.5)} <= set(scan.tolist())
    assert scan[-1] / scan[0] > 1e5
    detail = common_token.gap(on)
    assert re.search(r" = 34\.07 .* = 87\.25, .* 0\.403291 to 0\.536818", detail)


def test_the_constants_of_the_scan_along_ln_m() -> None:
    """B/ln t at the M and times of one entry, in 60 digits."""
    on = run("snap-single")
    found = theorem4_eq14.scan_constants(on)
    assert found.step is not None
    with mpmath.workdps(400):
        for entry in (0, 40):
            L = mpmath.mpf(float(found.step[entry]))
            M, best = mpmath.exp(L), mpmath.mpf(0)
            for share in np.linspace(0, 1, 60):
                y = mpmath.mpf(on.eta_Y) * 2 / on.K
                y *= (max(L / y, 1)) ** mpmath.mpf(float(share))
                x = mpmath.findroot(lambda x, y=y, M=M: mpmath.exp(x) / M + (M - 1) / M * x - y - 1 / M, min(y, L) / 2)
                gamma = mpmath.mpf(on.eta_Z) / on.eta_Y * on.K * ((M - 1) / M * x) ** 2 / 2
                B = mpmath.log1p(4 * gamma / common_token.C0(on)) / 4
                best = max(best, B / mpmath.log(y * on.K / on.eta_Y))
            assert abs(found.value[entry] - float(best)) <= found.radius[entry] < 1e-12


@pytest.mark.parametrize("printed", [True, False])
@pytest.mark.parametrize("phase", ["scan", "snap", "growth", "ends"])
def test_what_eq_14_allows(phase: str, printed: bool) -> None:
    """B with the least and the greatest M h, in 30 digits."""
    on = run("snap-single")
    early, late, ends = [3.0, 30.0], [100.0, 1e9], [scan_end(2, 5000, 0.5), snap_start(2, 5000, 0.5)]
    t = np.array({"scan": early, "snap": late, "growth": early, "ends": ends}[phase])
    claim = LEDGER[f"snap.theorem4.{phase}" + ("" if printed else ".rederived")]
    between = part(claim, {"growth": "The bound", "ends": ""}.get(phase, "Eq. 14"))
    times = 1.0
    if phase == "growth":  # of the distinct token with the largest f
        classes = [[(token, p * p) for token, p in c.probabilities.items()] for c in on.dataset.classes]
        times = 2 * max(q / sum(q for _, q in one) for one in classes for token, q in one if token != "the")
    with mpmath.workdps(30):
        M, C_0, y = mpmath.mpf(on.M), mpmath.mpf(common_token.C0(on)), [mpmath.mpf(on.eta_Y) * x / on.K for x in t]
        rising = [z - mpmath.expm1(z) / M for z in y]
        half, whole = ([mpmath.log(M * z * share) for z in y] for share in (0.5, 1))
        first, last = {
            "scan": (rising, y),
            "growth": (rising, [z * M / (M - 1) for z in y]),
            "snap": (half, whole),
            "ends": ([mpmath.log(M) - 1 + 1 / M, half[1]], [mpmath.log(M), whole[1]]),
        }[phase]
        for bound, x in ((between.lower, first), (between.upper, last)):
            added = [2 * on.K * on.eta_Z / on.eta_Y * ((M - 1) / M * z) ** 2 for z in x]
            expected = [mpmath.log(C_0 + a if printed else 1 + a / C_0) / 4 for a in added]
            assert bound(on, t) == pytest.approx([times * float(B) for B in expected], rel=1e-13, abs=0)


def test_what_the_step_sizes_do() -> None:
    on = run("snap-single")
    top = common_token.fastest(on, 1.0)

    def speed(t: float) -> Any:
        x = precise_logit(mpmath.mpf(t) / 2, 5000, 0.5)
        return x / (4999 + mpmath.exp(x))

    assert speed(top) > max(speed(top * 0.999), speed(top * 1.001))
    assert common_token.fastest(on, 0.1) == pytest.approx(10 * top, rel=1e-4, abs=0)
    B = [eq_13(common_token.C0(on), snap_start(2, 5000, 0.5 * s), 2, 5000, 0.5 * s, 0.05 * s)[1] for s in (1, 0.2)]
    assert B[0] == pytest.approx(B[1], rel=1e-9, abs=0)
    assert theorem4_rates.at_transition(on, slower=True).value[1] == pytest.approx(B[1], rel=1e-9, abs=0)
    assert "B is 0.5368 and 0.3479" in theorem4_rates.earlier_reading(on)


@pytest.mark.parametrize(("eta_Z", "verdict"), [(1e-12, HOLDS), (1e-20, HOLDS), (1e-38, HOLDS), (1e-100, OPEN)])
def test_a_slow_b_shows_its_constant_in_large_vocabularies_alone(eta_Z: float, verdict: Verdict) -> None:
    """B is about A x^2/4 up to x = A^{-1/2}, and no constant that is fitted before serves beyond."""
    on = ClassRun(CASES["snap-single"](), ClassConfig(lr_z=eta_Z))
    with np.errstate(all="raise", under="ignore"):
        assert part(theorem4_eq14.SCAN_REDERIVED, "B = O(ln t)").judge(on).verdict is verdict
    found = theorem4_eq14.scan_constants(on)
    assert found.step is not None
    A = 2 * eta_Z / 0.5 * 2 / common_token.C0(on)
    assert found.step[-1] == pytest.approx(min(1e98, max(1e12, 100 / A**2)), rel=1e-9, abs=0)


def test_a_b_that_never_shows_its_constant_is_not_judged() -> None:
    weak = SequenceClasses.from_weights("weak", 5000, [(n, "q", {"the": 1e-70, n: 1.0}) for n in "mn"])
    with pytest.raises(BeyondTheRun, match="too slowly"):
        theorem4_eq14.scan_constants(ClassRun(weak, ClassConfig(lr_y=100.0, lr_z=1e-100)))


def test_five_tokens_are_too_few_for_smaller_step_sizes_to_gain_more() -> None:
    """docs/proofs-snap.md, section 7.6; B = ln(1 + A x^2)/4, x by Lemma 6, at the t_0 of 0.9 eta_Y."""
    pair = [("m", "q", {"a": 1.0}), ("n", "q", {"a": 1.0})]
    claim = LEDGER["snap.theorem4.rates.any-M"]
    five, six = (ClassRun(SequenceClasses.from_weights("few", M, pair)) for M in (5, 6))
    found = claim.judge(five)
    assert found.verdict is VIOLATED
    assert "Smaller eta_Y: violated" in found.detail
    assert claim.judge(six).verdict is HOLDS

    def B(at: ClassRun, t: float, part: float) -> float:
        y = part * at.eta_Y * t / at.K
        x = brentq(lambda x: np.exp(x) + (at.M - 1) * x - at.M * y - 1, 0, 50, xtol=1e-15, rtol=1e-14)
        A = 2 / common_token.C0(at) * at.eta_Z / (part * at.eta_Y) * at.K * ((at.M - 1) / at.M) ** 2
        return float(np.log1p(A * x**2) / 4)

    for at in (five, six):
        gained = theorem4_rates.larger(at, lambda part: part, lambda _: 1.0, -1)
        assert gained.step is not None
        for share in (0.9, 0.5, 0.1):
            first = [label == f"{share:g} of it" for label in gained.label].index(True)
            t = snap_start(at.K, at.M, share * at.eta_Y)
            assert gained.step[first] == t
            assert gained.value[first] == pytest.approx(B(at, t, share) - B(at, t, 1.0), abs=2e-8)


@pytest.mark.parametrize("K", [2, 5])
def test_eq_13_as_mended_is_the_limit_of_eq_10_as_overlaps_get_weak(K: int) -> None:
    """At the first step, before distinct tokens gain."""
    data = rescaled(single_common_dataset(K=K, M=10**6, seed=1, distinct=(1, 3)), 1e-4)
    found = eq13.beside_eq_10(ClassRun(replace(data, M=10**14), ClassConfig(steps=1, at=(1,))))
    assert ": 1 at t_0', 1 at t_0, 1 at the last step" in found
