"""Lemmas 6 to 8 and Remark 2 as claims: verdicts, formulas against mpmath, and false twins."""

from functools import cache
from typing import Any

import latex2mathml.converter
import mpmath
import numpy as np
import pytest

from marginaudit.orders.snap import CASES, SequenceClasses, weakly_correlated_dataset
from marginaudit.reports import Claim, Verdict
from marginaudit.reports.series import Series, by_formula, series
from marginaudit.reports.snap import ClassConfig, ClassRun, zeros
from marginaudit.reports.snap.claims import lemma6, lemma7, lemma8, remark2
from marginaudit.training.snap.limit import continuous, h_star
from tests.reports.snap.planted import part, scaled, twin
from tests.training.snap.growth import DIGITS, precise_logit, precise_star

ALL = {
    claim.id.removeprefix("snap."): claim for claim in (*lemma6.CLAIMS, *lemma7.CLAIMS, *remark2.CLAIMS, *lemma8.CLAIMS)
}
HOLDS, VIOLATED = Verdict.HOLDS, Verdict.VIOLATED
NOTHING, OPEN = Verdict.NOT_APPLICABLE, Verdict.INCONCLUSIVE


@cache
def run(case: str = "snap-single", **config: Any) -> ClassRun:
    data = weakly_correlated_dataset(K=4, M=5000, seed=0) if case == "random" else CASES[case]()
    return ClassRun(data, ClassConfig(**{"steps": 10**18, **config}))


def small(M: int, **config: Any) -> ClassRun:
    data = SequenceClasses.from_weights("small", M, [("n", "q", {"n": 1.0})])
    return ClassRun(data, ClassConfig(**{"steps": 10**18, **config}))


def contains(found: Series, truth: Any) -> None:
    with mpmath.workdps(DIGITS):
        for value, radius, true in zip(found.value, found.radius, truth, strict=True):
            assert abs(mpmath.mpf(float(value)) - true) <= mpmath.mpf(float(radius))


@pytest.mark.parametrize("case", ["snap-single", "snap-symmetric", "snap-medium", "syn-small", "random"])
@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        ("lemma6", HOLDS),
        ("lemma7.gap", HOLDS),
        ("lemma7.limit", HOLDS),
        ("remark2", VIOLATED),
        ("remark2.rederived", HOLDS),
        ("lemma8", HOLDS),
        ("lemma8.any-M", HOLDS),
        ("lemma8.rederived", HOLDS),
    ],
)
def test_verdicts(case: str, claim: str, verdict: Verdict) -> None:
    found = ALL[claim].judge(run(case))
    expected = NOTHING if claim == "lemma8" and run(case).M < 1000 else verdict
    assert found.verdict is expected, found


@pytest.mark.parametrize("claim", ALL.values())
def test_texts(claim: Claim) -> None:
    assert all(text.isprintable() for text in (claim.statement, claim.source, claim.instead))
    assert "\\" not in latex2mathml.converter.convert(claim.formula)


@pytest.mark.parametrize("claim", ALL.values())
def test_what_cannot_be_judged(claim: Claim) -> None:
    lone = claim.judge(small(1))
    assert (lone.verdict, claim.id == "snap.lemma8" or "M is below" in lone.detail) == (NOTHING, True)
    if "lemma8" not in claim.id:
        assert claim.judge(small(50, lr_y=501.0)).verdict is OPEN
        assert claim.judge(small(50, steps=0)).verdict is OPEN
    for config in ({"steps": 1}, {"at": (3, 10**12)}, {"lr_y": 1e-100}, {"lr_y": 500.0}, {"lr_y": 1e-6}):
        expected = {"snap.remark2": (VIOLATED, HOLDS, OPEN), "snap.lemma8": (NOTHING,)}.get(claim.id, (HOLDS, OPEN))
        assert claim.judge(small(50, **config)).verdict in expected


# Lemma 6


@pytest.mark.parametrize(("M", "eta_Y"), [(2, 30.0), (1000, 0.5), (10**9, 1e-3)])
def test_the_time_of_the_differential_equation(M: int, eta_Y: float) -> None:
    on = small(M, lr_y=eta_Y, at=(1, 20, 10**6, 10**18))
    x = continuous(on.steps, M, eta_Y).logit
    with mpmath.workdps(DIGITS):
        true = [
            mpmath.quad(lambda u: (M - 1 + mpmath.exp(u)) / (M * mpmath.mpf(eta_Y)), np.linspace(0, float(end), 9))
            for end in (precise_logit(int(s), M, eta_Y) for s in on.steps)
        ]
    found = lemma6.ode_times(on)
    contains(found, true)
    assert (found.radius <= 1e-12 * found.value).all()
    assert (x.value > 0).all()


def test_the_time_on_each_of_several_classes() -> None:
    assert lemma6.LEMMA6.judge(run(at=(7, 900))).verdict is HOLDS
    np.testing.assert_allclose(lemma6.ode_times(run(at=(7, 900))).value, [3.5, 450.0], rtol=1e-12)


@pytest.mark.parametrize(("factor", "verdict"), [(1.0, HOLDS), (1 + 1e-10, VIOLATED)])
def test_lemma_6_s_twin(factor: float, verdict: Verdict) -> None:
    expected = part(lemma6.LEMMA6, "").expected
    false = twin(lemma6.LEMMA6, "", expected=lambda on: by_formula(factor * expected(on).value, step=on.steps))
    assert false.judge(run()).verdict is verdict


def test_lemma_6_fails_for_another_equation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lemma6, "continuous", lambda t, M, eta_Y: continuous(t, M + 1, eta_Y))
    assert lemma6.LEMMA6.judge(run()).verdict is VIOLATED


# Lemma 7


@pytest.mark.parametrize(("M", "eta_Y"), [(3, 0.5), (1000, 0.9), (100, 3.0)])
def test_gaps_and_lags(M: int, eta_Y: float) -> None:
    star = precise_star(60, M, eta_Y)
    on = small(M, lr_y=eta_Y, at=tuple(range(1, 61)))
    with mpmath.workdps(DIGITS):
        eta = mpmath.mpf(eta_Y)
        gaps = [(star[s] - precise_logit(s, M, eta_Y)) / eta for s in range(1, 61)]
        lags = [(mpmath.expm1(x) + (M - 1) * x) / (M * eta) - s for s, x in enumerate(star)]
    contains(lemma7.gaps(on), gaps)
    contains(remark2.lag(on), lags[1:])
    last = int(np.log(M) / eta_Y)
    largest = lemma7.largest_lag(M, eta_Y)
    assert largest is not None
    contains(series([largest[0]], radius=[largest[1]]), [lags[last]])
    assert largest[0] == pytest.approx(max(float(found) for found in lags[: last + 1]), rel=1e-9, abs=0)


def test_no_step_before_the_scan_ends() -> None:
    assert lemma7.largest_lag(1000, 7.0) is None
    assert lemma7.lags_by_vocabulary(small(50, lr_y=7.0)).step is not None
    assert len(lemma7.lags_by_vocabulary(small(50, lr_y=7.0))) == 13 - 1  # ln 1000 < 7 < ln 10000


def test_lags_are_swept() -> None:
    by_M, by_rate = lemma7.lags_by_vocabulary(run()), lemma7.lags_by_rate(run())
    assert (by_M.clock, by_rate.clock) == ("M", "1/eta_Y")
    assert by_M.step is not None
    assert by_rate.step is not None
    assert by_M.step[-1] >= 1e12 * by_M.step[0]
    assert by_rate.step[-1] >= 1e6 * by_rate.step[0] * (1 - 1e-12)
    for sweep in (by_M, by_rate):
        assert (sweep.value < 0.25).all()  # ln(1 + 0.567)/2 = 0.2246 for small eta_Y, 0.567 + ln 0.567 = 0


def test_lemma_7_gap_s_twins() -> None:
    found = lemma7.LEMMA7_GAP.judge(run())
    measured = found.measured
    assert measured is not None
    top = float(lemma7.gaps(run()).value.max())
    false = (
        twin(lemma7.LEMMA7_GAP, "(h*", upper=lambda _, s: np.full(len(s), 0.999 * top)),
        twin(lemma7.LEMMA7_GAP, "(h*", lower=lambda _, s: np.full(len(s), 1e-3)),
        twin(lemma7.LEMMA7_GAP, "One c serves every M", shape=lambda _, M: 1 / M),
        twin(lemma7.LEMMA7_GAP, "One c serves every eta_Y", shape=lambda _, x: 1 / x),
    )
    for claim in false:
        assert claim.judge(run()).verdict is VIOLATED
    assert twin(lemma7.LEMMA7_GAP, "(h*", upper=lambda _, s: np.full(len(s), top * 1.001)).judge(run()).verdict is HOLDS


def test_lemma_7_limit() -> None:
    assert twin(lemma7.LEMMA7_LIMIT, "", predicted=lambda _: 1.1).judge(run()).verdict is VIOLATED
    assert lemma7.LEMMA7_LIMIT.judge(run(steps=20)).verdict is OPEN
    for eta_Y in (30.0, 499.0):  # the first step goes far beyond h, which catches up after exp(eta_Y)/eta_Y steps
        assert lemma7.LEMMA7_LIMIT.judge(small(2, lr_y=eta_Y)).verdict in (HOLDS, OPEN)


# Remark 2


def test_the_smallest_counterexample_to_remark_2() -> None:
    """M = 4, eta_Y = 0.5: from some step on h*(s) is beyond h(s + ln M), by the recursion in 60 digits."""
    M, eta_Y = 4, 0.5
    star, c = precise_star(200, M, eta_Y), mpmath.log(4)
    beyond = [s for s in range(1, 201) if star[s] > precise_logit(s + c, M, eta_Y)]
    first = beyond[0]
    assert beyond == list(range(first, 201))
    assert first > 2 * np.log(1 + zeros.omega_1(np.log([4.0]))[0]) / eta_Y
    lag = h_star(np.array([first - 1, first]), M, eta_Y).lag
    assert lag.value[0] + lag.error[0] < np.log(4) < lag.value[1] - lag.error[1]


def test_the_lag_grows_like_half_a_logarithm() -> None:
    lag = h_star(np.array([10**6, 10**12, 10**18]), 5000, 0.5).lag
    np.testing.assert_allclose(np.diff(lag.value), np.log(1e6) / 2, rtol=1e-3)
    assert "2.39 times ln M" in remark2.REMARK2.judge(run()).detail


@pytest.mark.parametrize(("M", "eta_Y"), [(2, 0.01), (5000, 0.5), (10**9, 3.0)])
def test_the_proved_lag_is_less_than_the_lag(M: int, eta_Y: float) -> None:
    found = remark2.proved_lag(small(M, lr_y=eta_Y))
    assert found.step is not None
    assert found.value[0] >= 1 - 1e-12
    near = found.step[found.step < np.log(1e18)]
    s = np.ceil(np.exp(near)).astype(np.int64)
    assert (eta_Y * s >= 4 * np.log(M) + 8).all()
    lag = h_star(s, M, eta_Y).lag
    assert len(s)
    assert (lag.value - lag.error >= found.value[: len(s)] - found.radius[: len(s)]).all()


def test_remark_2_s_twins() -> None:
    slow = twin(remark2.REMARK2, "One c", shape=lambda _, L: L)  # a lag like ln s is true
    assert slow.judge(run()).verdict is HOLDS
    measured = remark2.lag(run())
    bound = part(remark2.REMARK2_REDERIVED, "")
    step = np.array(measured.step, dtype=float)
    upper = float(np.max(measured.value / bound.upper(run(), step)))
    with np.errstate(divide="ignore"):
        lower = float(np.min((measured.value / bound.lower(run(), step))[bound.lower(run(), step) > 0]))
    assert scaled(remark2.REMARK2_REDERIVED, "", "upper", upper * 0.999).judge(run()).verdict is VIOLATED
    assert scaled(remark2.REMARK2_REDERIVED, "", "lower", lower * 1.001).judge(run()).verdict is VIOLATED
    assert step[-1] == 10**6


def test_the_lag_s_bounds_by_hand() -> None:
    on, bound = small(3, lr_y=2.0, at=(1, 5)), part(remark2.REMARK2_REDERIVED, "")
    I = [float(mpmath.log((2 + mpmath.exp(precise_star(5, 3, 2.0)[s])) / 3)) for s in (1, 5)]  # noqa: E741
    np.testing.assert_allclose(bound.lower(on, on.steps), [(i - 2) / 2 for i in I], rtol=1e-12)
    np.testing.assert_allclose(bound.upper(on, on.steps), [np.exp(2) * i / 2 for i in I], rtol=1e-12)


def test_no_lag_beyond_what_is_stepped() -> None:
    found = remark2.REMARK2_REDERIVED.judge(run(at=(10**7,)))
    assert (found.verdict, "no step up to 1000000" in found.detail) == (OPEN, True)


# Lemma 8


@pytest.mark.parametrize("M", [4, 5, 100, 5000, 2**53, 10**299])
def test_zeros(M: int) -> None:
    with mpmath.workdps(400):
        inverse = -1 / mpmath.mpf(M - 1)
        low, high = -mpmath.lambertw(inverse), -mpmath.lambertw(inverse, -1)
        zero = 1 + mpmath.log(low) / mpmath.log(M)
        L = np.array([float(mpmath.log(M))])
        assert zeros.smaller_zero(L)[0] == pytest.approx(float(mpmath.re(low)), rel=1e-12, abs=0)
        assert zeros.larger_zero(L)[0] == pytest.approx(float(mpmath.re(high)), rel=1e-14, abs=0)
        assert zeros.omega_0(L)[0] == pytest.approx(float(mpmath.re(zero)), rel=1e-11, abs=0)
        assert zeros.omega_1(L)[0] == pytest.approx(float(mpmath.re(high) / mpmath.log(M) - 1), rel=1e-12, abs=0)


def test_sides() -> None:
    found = lemma8.sides(small(100))
    assert found.step is not None
    x = found.step
    expected = np.where(np.array(found.label) == "inside", 1, -1) * np.log(np.exp(np.minimum(x, 700)) / (99 * x))
    near = x < 700
    np.testing.assert_allclose(found.value[near], expected[near], rtol=1e-9, atol=1e-12)
    assert (found.label.count("inside"), found.label.count("outside")) == (200, 200)
    low, high = -mpmath.lambertw(mpmath.mpf(-1) / 99), -mpmath.lambertw(mpmath.mpf(-1) / 99, -1)
    zero, one = float(mpmath.log(100 * low, 100)), float(mpmath.log(mpmath.exp(high), 100) - 1)
    assert f"omega_0 = {zero:.3g} and omega_1 = {one:.3g};" in lemma8.LEMMA8_ANY_M.judge(small(100)).detail


@pytest.mark.parametrize("M", [2, 3])
def test_the_counterexample_to_lemma_8(M: int) -> None:
    """At M h = ln M, which every interval with positive omegas contains; by brute force there is no zero at all."""
    x = np.linspace(1e-6, 10, 100_000)
    assert (np.exp(x) > (M - 1) * x).all()
    found = lemma8.LEMMA8_ANY_M.judge(small(M))
    assert (found.verdict, found.worst_step) == (VIOLATED, np.log(M))
    assert found.measured == pytest.approx(M / ((M - 1) * np.log(M)), rel=1e-12, abs=0)
    assert lemma8.LEMMA8_REDERIVED.judge(small(M)).verdict is NOTHING
    assert lemma8.LEMMA8_ANY_M.judge(small(4)).verdict is HOLDS
    assert lemma8.LEMMA8.judge(small(999)).verdict is NOTHING
    assert lemma8.LEMMA8.judge(small(1000)).verdict is HOLDS
    assert lemma8.LEMMA8_REDERIVED.judge(small(4)).verdict is HOLDS


def test_lemma_8_s_twins(monkeypatch: pytest.MonkeyPatch) -> None:
    for claim in (lemma8.LEMMA8, lemma8.LEMMA8_REDERIVED):
        false = (
            twin(claim, "omega_1 from above", shape=lambda _, L: L**-3.0),
            twin(claim, "omega_1 from below", shape=lambda _, L: L),
            twin(claim, "omega_0", shape=lambda _, L: -1.1 * L),
        )
        for wrong in false:
            assert wrong.judge(run()).verdict is VIOLATED
    monkeypatch.setattr(lemma8, "EDGE", -1e-6)  # an interval a little longer than it is
    for claim in (lemma8.LEMMA8, lemma8.LEMMA8_REDERIVED):
        assert claim.judge(run()).verdict is VIOLATED


def test_error_bars_of_sides_and_of_one_plus_the_gap() -> None:
    found = lemma8.sides(small(5000))
    assert found.step is not None
    with mpmath.workdps(DIGITS):
        precise = [mpmath.mpf(float(x)) for x in found.step]
        signs = [1 if side == "inside" else -1 for side in found.label]
        contains(found, [s * (x - mpmath.log(4999 * x)) for s, x in zip(signs, precise, strict=True)])
        star = precise_star(30, 3, 0.5)
        limit = part(lemma7.LEMMA7_LIMIT, "").measure(small(3, at=tuple(range(1, 31))))
        contains(limit, [1 + 6 * (star[s] / 3 - precise_logit(s, 3, 0.5) / 3) for s in range(1, 31)])
    assert (found.radius <= 1e-12 * (1 + found.step)).all()
