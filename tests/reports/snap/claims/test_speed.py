"""Lemma 9 and Theorem 1 (b) as claims: verdicts, formulas against mpmath, and false twins."""

from dataclasses import replace
from functools import cache
from typing import Any

import latex2mathml.converter
import mpmath
import numpy as np
import pytest

from marginaudit.orders.snap import CASES, SequenceClasses, broken, single_common_dataset, weakly_correlated_dataset
from marginaudit.reports import Claim, Verdict
from marginaudit.reports.series import Series
from marginaudit.reports.snap import ClassConfig, ClassRun, two_stages
from marginaudit.reports.snap.claims import lemma9, theorem1_b
from marginaudit.reports.snap.zeros import VOCABULARIES
from marginaudit.training.snap.attention import snap_start
from marginaudit.training.snap.limit import gamma
from tests.reports.snap.planted import part, scaled, twin
from tests.training.snap.growth import DIGITS, precise_logit

ALL = {claim.id.removeprefix("snap."): claim for claim in (*lemma9.CLAIMS, *theorem1_b.CLAIMS)}
HOLDS, VIOLATED = Verdict.HOLDS, Verdict.VIOLATED
NOTHING, OPEN = Verdict.NOT_APPLICABLE, Verdict.INCONCLUSIVE


@cache
def run(case: str = "snap-single", **config: Any) -> ClassRun:
    data = {
        "random": lambda: weakly_correlated_dataset(K=4, M=5000, seed=0),
        "large": lambda: single_common_dataset(K=5, M=10**9, seed=1),
    }.get(case, CASES.get(case))
    assert data is not None
    return ClassRun(data(), ClassConfig(**{"steps": 10**18, **config}))


def small(M: int, K: int = 1, **config: Any) -> ClassRun:
    data = SequenceClasses.from_weights("small", M, [(f"n{n}", "q", {"n0": 1.0}) for n in range(K)])
    return ClassRun(data, ClassConfig(**{"steps": 10**18, **config}))


RANGE_R = {"snap-single": True, "snap-symmetric": True, "random": True, "large": True, "snap-medium": False}


@pytest.mark.parametrize("case", RANGE_R)
@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        ("lemma9.scan", HOLDS),
        ("lemma9.scan.any-t", VIOLATED),
        ("lemma9.scan.rederived", HOLDS),
        ("lemma9.snap", HOLDS),
        ("theorem1.b", VIOLATED),
        ("theorem1.b.rederived", HOLDS),
    ],
)
def test_verdicts(case: str, claim: str, verdict: Verdict) -> None:
    speaks = RANGE_R[case] or claim.endswith(".rederived")
    for config in ({}, {"steps": 1}, {"at": (5, 30, 10**9)}):
        found = ALL[claim].judge(run(case, **config))
        assert found.verdict is (verdict if speaks else NOTHING), found


@pytest.mark.parametrize("claim", [*lemma9.CLAIMS, *theorem1_b.CLAIMS])
def test_texts(claim: Claim) -> None:
    assert all(text.isprintable() for text in (claim.statement, claim.source, claim.instead))
    assert "\\" not in latex2mathml.converter.convert(claim.formula)


def test_the_range_of_step_sizes() -> None:
    least = 10 * 5000**-0.99
    for claim in (lemma9.LEMMA9_SCAN, lemma9.LEMMA9_SCAN_ANY_T, lemma9.LEMMA9_SNAP, theorem1_b.THEOREM1_B):
        for eta_Y, reason in ((1.0, "to below 1"), (least * 0.999, "is not from 10 M^-0.99")):
            found = claim.judge(run(lr_y=eta_Y))
            assert (found.verdict, reason in found.detail) == (NOTHING, True)
        for eta_Y in (0.999, least * 1.001):
            found = claim.judge(run(lr_y=eta_Y))
            assert found.verdict is (HOLDS if claim in (lemma9.LEMMA9_SCAN, lemma9.LEMMA9_SNAP) else VIOLATED)
        if claim is not lemma9.LEMMA9_SCAN_ANY_T:
            assert f"M/100 = 50, eta_Y/M^-0.99 = {0.5 * 5000**0.99:.4g}." in claim.judge(run()).detail
        found = claim.judge(small(999))
        assert (found.verdict, "large_vocabulary" in found.detail or "overlap" in found.detail) == (NOTHING, True)


def test_what_cannot_be_judged() -> None:
    for name in ("lemma9.scan.rederived", "theorem1.b.rederived"):
        for M, config, verdict in (
            (1, {}, NOTHING),
            (4, {}, NOTHING),
            (5, {}, HOLDS),
            (50, {"lr_y": 501.0}, OPEN),
            (50, {"lr_y": 500.0}, HOLDS),
            (50, {"lr_y": 1e-100}, OPEN),
            (50, {"steps": 0}, OPEN),
        ):
            assert ALL[name].judge(small(M, **config)).verdict is verdict


@pytest.mark.parametrize("assumption", ["uniform_classes", "wide_vocabulary", "small_overlap", "spread_overlap"])
def test_theorem_1_without_an_assumption(assumption: str) -> None:
    data = weakly_correlated_dataset(K=4, M=5000, seed=0)
    found = theorem1_b.THEOREM1_B.judge(ClassRun(broken(data, assumption)))
    assert (found.verdict, found.witness is not None) == (NOTHING, True)
    assert assumption in theorem1_b.THEOREM1_B.assumptions
    only = replace(theorem1_b.THEOREM1_B, assumptions=(assumption,)).judge(ClassRun(broken(data, assumption)))
    assert (only.verdict, assumption in only.detail) == (NOTHING, True)


def test_lemma_9_without_a_large_vocabulary() -> None:
    for claim in (lemma9.LEMMA9_SCAN, lemma9.LEMMA9_SNAP):
        found = claim.judge(small(999))
        assert (found.verdict, found.witness) == (NOTHING, {"M": 999, "least": 1000})
        assert claim.judge(small(1000)).verdict is not NOTHING


# Times


def test_times() -> None:
    M, K, eta_Y = 5000, 2, 0.5
    with mpmath.workdps(DIGITS):
        low, high = (float(mpmath.re(-mpmath.lambertw(mpmath.mpf(-1) / (M - 1), k))) for k in (0, -1))
    at_low = (np.exp(low) + (M - 1) * low - 1) / M
    assert lemma9.under_way(run()) == pytest.approx(at_low * K / eta_Y, rel=1e-10, abs=0)
    scan, snap = two_stages.scan_times(run()), two_stages.snap_times(run())
    assert scan[-1] == pytest.approx(K * np.log(M) / eta_Y, rel=1e-12, abs=0)
    assert snap[0] == pytest.approx(2 * K * high / eta_Y, rel=1e-12, abs=0)
    recorded = run().steps.tolist()
    assert {t for t in recorded if t <= scan[-1]} <= set(scan.tolist())
    assert {t for t in recorded if t >= snap[0]} <= set(snap.tolist())
    assert scan[-1] >= 1e3 * scan[0]
    assert snap[-1] >= 1e3 * snap[0]
    assert lemma9.from_start(run())[0] == 0
    under_way = lemma9.once_under_way(run())
    assert under_way[0] == pytest.approx(at_low * K / eta_Y, rel=1e-5, abs=0)
    assert (np.diff(under_way) > 0).all()


def test_everything_depends_on_the_rate_times_the_time_alone() -> None:
    y = np.geomspace(1e-3, 1e6, 20)
    for K, eta_Y in ((7, 0.3), (2, 1e-4)):
        np.testing.assert_allclose(gamma(y * K / eta_Y, K, 5000, eta_Y).value, gamma(y, 1, 5000, 1.0).value, rtol=1e-12)


def precise_gamma(t: Any, K: int, M: Any, eta_Y: float) -> Any:
    x = precise_logit(mpmath.mpf(t) / K, M, eta_Y)
    return (M - 1) ** 2 * x / M / (M - 1 + mpmath.exp(x))


@pytest.mark.parametrize("t", [0.0, 1.0, 34.0, 1e3, 1e18])
def test_formulas_by_hand(t: float) -> None:
    on, at, M, K, eta_Y = run(), np.array([t]), 5000, 2, 0.5
    with mpmath.workdps(DIGITS):
        x = precise_logit(mpmath.mpf(t) / K, M, eta_Y)
        e = mpmath.exp(x)
        measured: tuple[tuple[Series, Any], ...] = (
            (lemma9.power(on, at), e),
            (two_stages.h(on, at), x / M),
            (two_stages.speeds(on, at), precise_gamma(t, K, M, eta_Y)),
        )
        for found, true in measured:
            assert abs(mpmath.mpf(float(found.value[0])) - true) <= float(found.radius[0])
            assert found.radius[0] <= 1e-12 * abs(found.value[0])
        assert float(lemma9.smaller(on, at)[0]) == pytest.approx(float(min(M - 1, (M - 1) * x)), rel=1e-12, abs=0)
        assert float(lemma9.larger(on, at)[0]) == pytest.approx(float(max(M - 1, (M - 1) * x)), rel=1e-12, abs=0)
    assert lemma9.scan_h(on, at)[0] == pytest.approx(eta_Y * t / M / K, rel=1e-14, abs=0)
    if t > 4:
        y = eta_Y * t / K
        assert two_stages.snap_h(on, at)[0] == pytest.approx(np.log(M * y) / M, rel=1e-14, abs=0)
        assert two_stages.snap_gamma(on, at)[0] == pytest.approx(np.log(M * y) / y, rel=1e-14, abs=0)
        assert theorem1_b.theorem_gamma(on, at)[0] == pytest.approx(np.log(y) / y, rel=1e-14, abs=0)


# Lemma 9


def test_the_smallest_counterexamples_to_the_scan() -> None:
    """At t = 0; and at the step t = 1 of 40 classes, in 60 digits."""
    found = lemma9.LEMMA9_SCAN_ANY_T.judge(run())
    assert (found.first_violation, found.measured, found.bound) == (0, 1.0, 0.0)
    on = small(1000, K=40, lr_y=0.02)
    with mpmath.workdps(DIGITS):
        x = precise_logit(mpmath.mpf(1) / 40, 1000, 0.02)
        assert mpmath.exp(x) > 999 * x
    assert lemma9.LEMMA9_SCAN.absent(on) is None
    without_start = twin(
        lemma9.LEMMA9_SCAN_ANY_T,
        "",
        measure=lambda on: lemma9.power(on, two_stages.scan_times(on)[two_stages.scan_times(on) >= 1]),
    )
    found = without_start.judge(on)
    assert (found.verdict, found.first_violation) == (VIOLATED, 1)
    assert "up to t = 2.0" in lemma9.LEMMA9_SCAN.judge(on).detail
    assert lemma9.LEMMA9_SCAN.judge(on).verdict is HOLDS  # from t = 40 on
    assert lemma9.from_first_step(on)[0] == 40
    assert lemma9.LEMMA9_SCAN_REDERIVED.judge(on).verdict is HOLDS


def test_the_largest_over_M() -> None:
    found = two_stages.largest_over_M("gamma", lambda M: np.array([1.0, 2.0]), lambda _, y: y)
    assert (found.clock, len(found)) == ("M", len(VOCABULARIES))
    for at in (0, 12):
        M = int(VOCABULARIES[at])
        with mpmath.workdps(DIGITS):
            true = max(precise_gamma(y, 1, M, 1.0) / y for y in (1, 2))
            assert abs(mpmath.mpf(float(found.value[at])) - true) <= float(found.radius[at])
    assert (found.radius <= 1e-12 * found.value).all()
    heights = two_stages.largest_over_M("h", lambda M: np.array([1.0, 2.0]), lambda M, y: y / M)
    assert heights.value[0] == pytest.approx(float(precise_logit(1, 1000, 1.0)), rel=1e-12, abs=0)


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("h along t", lambda on, t: t**1.5),
        ("gamma along t", lambda on, t: t**2.0),
        ("h along M", lambda on, M: 1 / M),
        ("gamma along M", lambda on, M: M**-0.5),
    ],
)
def test_the_scan_s_twins(name: str, shape: Any) -> None:
    claim = lemma9.LEMMA9_SCAN
    inverse = {"h along t", "gamma along t"}
    if name in inverse:  # a time that counts less in the end
        false = twin(claim, name, shape=lambda on, t: part(claim, name).shape(on, t) / (1 + 1e4 * t) ** 2)
    else:
        false = twin(claim, name, shape=shape)
    assert false.judge(run()).verdict is VIOLATED
    assert twin(claim, name).judge(run()).verdict is HOLDS


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("h along t", lambda on, t: t**-0.5),
        ("gamma along t", lambda on, t: t**-1.5),
        ("h along M", lambda on, M: 1 / M),
        ("gamma along M", lambda on, M: 1 / M),
    ],
)
def test_the_snap_s_twins(name: str, shape: Any) -> None:
    assert twin(lemma9.LEMMA9_SNAP, name, shape=shape).judge(run()).verdict is VIOLATED
    assert twin(lemma9.LEMMA9_SNAP, name).judge(run()).verdict is HOLDS


def test_the_snap_s_other_twin() -> None:
    found = twin(lemma9.LEMMA9_SNAP, "exp(Mh)").judge(run())
    assert found.verdict is HOLDS
    assert found.slack is not None
    tightened = scaled(lemma9.LEMMA9_SNAP, "exp(Mh)", "lower", 1.000001 / found.slack)
    assert tightened.judge(run()).verdict is VIOLATED


@pytest.mark.parametrize(
    ("claim", "name"),
    [
        ("lemma9.scan.rederived", "exp(Mh) <= M-1"),
        ("lemma9.scan.rederived", "exp(Mh) <= (M-1) M h"),
        ("lemma9.scan.rederived", "h"),
        ("lemma9.scan.rederived", "gamma"),
        ("theorem1.b.rederived", "gamma <= eta_Y t/K in the scan"),
        ("theorem1.b.rederived", "gamma <= eta_Y t/K in the snap"),
        ("theorem1.b.rederived", "gamma in the snap"),
        ("theorem1.b.rederived", "h in the snap"),
    ],
)
def test_the_corrected_one_s_twins(claim: str, name: str) -> None:
    """Each bound, tightened just past the least room that was measured."""
    names = [key for key in ALL[claim].judgement.parts if key == name]  # type: ignore[attr-defined]
    assert names == [name]
    exactly = replace(ALL[claim], judgement=ALL[claim].judgement.parts[name])  # type: ignore[attr-defined]
    found = exactly.judge(run())
    assert found.verdict is HOLDS
    assert found.slack is not None
    assert scaled(exactly, "", "upper", 0.999999 / found.slack).judge(run()).verdict is VIOLATED


# Theorem 1 (b)


def test_the_constants_at_the_start() -> None:
    found = theorem1_b.constants_at_start(run())
    assert found.step is not None
    assert (found.clock, found.step[-1] >= 1e3 * found.step[0]) == ("ln M", True)
    for at in (0, 30, 50):
        L = float(found.step[at])
        with mpmath.workdps(60 + int(L / 2.3)):
            M = mpmath.exp(mpmath.mpf(L))
            x1 = mpmath.findroot(lambda x, M=M: x - mpmath.log(x) - mpmath.log(M - 1), L + 2 * np.log(L))
            y = 2 * x1
            x = mpmath.findroot(lambda x, M=M, y=y: mpmath.log(mpmath.exp(x) + (M - 1) * x) - mpmath.log(M * y + 1), x1)
            true = (M - 1) ** 2 * x / M / (M - 1 + mpmath.exp(x)) * y / mpmath.log(y)
            assert abs(true - mpmath.mpf(float(found.value[at]))) <= float(found.radius[at])
            assert true >= 0.99 * L / (4 * L + 2) * 2 * L / np.log(4 * L)


def test_the_constant_of_this_run() -> None:
    for case, M in (("snap-single", 5000), ("large", 10**9)):
        y = snap_start(1, M, 1.0)
        constant = float(precise_gamma(y, 1, M, 1.0)) * y / np.log(y)
        assert f"At t_0 the constant is {constant:.4g} at this M" in theorem1_b.THEOREM1_B.judge(run(case)).detail


def test_theorem_1_s_twins() -> None:
    claim = theorem1_b.THEOREM1_B
    for name, shape in (
        ("Before, along t", lambda on, t: t / (1 + 1e4 * t) ** 2),
        ("Before, along M", lambda on, M: 1 / M),
        ("After, along t", lambda on, t: t**-1.5),
    ):
        assert twin(claim, name).judge(run()).verdict is HOLDS
        assert twin(claim, name, shape=shape).judge(run()).verdict is VIOLATED
    true = twin(claim, "After, at t_0", shape=lambda _, L: L / np.log(L))
    assert true.judge(run()).verdict is HOLDS
