"""Each series has the whole error bar of what it is made of, and the quantiles are those of the law by brute force."""

from dataclasses import replace
from fractions import Fraction
from math import comb, log
from typing import Any

import numpy as np
import pytest

from marginaudit.claims.series import FORMULA_ROUNDING
from marginaudit.claims.snap.appendix_c_gradients import lemma2, lemma18
from marginaudit.claims.snap.appendix_d2_one_class import lemma5, remark1
from marginaudit.claims.snap.appendix_d3_growth import (
    eq64,
    lemma6,
    lemma7,
    lemma8,
    lemma9,
    remark2,
    remark3,
    two_stages,
)
from marginaudit.claims.snap.appendix_d4_sampled_classes import lemma10, lemma11, lemma12, remark4
from marginaudit.claims.snap.appendix_d5_theorem1 import theorem1, theorem1_b
from marginaudit.claims.snap.appendix_e_attention import eq112, theorem3_gain
from marginaudit.claims.snap.chances import LEVELS
from marginaudit.claims.snap.conditions import VOCABULARIES
from marginaudit.orders.snap import SequenceClasses
from marginaudit.reports import LEDGER
from marginaudit.training.approximation import Approximation
from marginaudit.training.snap.counts import mean_counts
from marginaudit.training.snap.counts.binomial import ROUNDING, Interval, chance_outside, deviation_quantile
from marginaudit.training.snap.growth import larger_zero
from marginaudit.training.snap.limit.continuous import continuous, gamma, speed
from marginaudit.training.snap.limit.descent import descend
from marginaudit.training.snap.limit.overlap import overlap
from marginaudit.training.snap.limit.recursion import gap, h_star
from tests.claims.snap.samples import bars_are, on, run
from tests.measured import judgement
from tests.twins import part

EPS = float(np.finfo(float).eps)


def test_a_power_moves_by_twice_what_its_exponent_may() -> None:
    z = Approximation(np.array([0.5, -3.0]), np.array([0.1, 1e-3]))
    found = eq112.power(z, 4.0)
    assert found.value == pytest.approx(4 * np.exp([1.0, -6.0]), rel=1e-14, abs=0)
    assert found.error == pytest.approx(4 * np.exp(2 * (z.value + z.error)) - found.value, rel=1e-9, abs=0)


def test_bars_of_the_chances_of_lemmas_10_and_18(monkeypatch: pytest.MonkeyPatch) -> None:
    at = run("snap-single")
    with monkeypatch.context() as patch:
        patch.setattr(lemma10, "chance_outside", lambda N, *_: (np.full(len(N), 0.5), np.geomspace(1e-9, 0.1, len(N))))
        for of in ("first", "second"):
            chance = part(lemma10.LEMMA10_ANY_N, f"The chance of more than the {of}").measure(on(at.dataset))
            bars_are(chance, np.geomspace(1e-9, 0.1, len(chance)))
    missed, delta = lemma18.misses(at).missed, lemma18.misses(at).delta
    p = np.array([float(name.split(",")[1].split("=")[1]) for name in missed.label])
    T1 = np.array([int(name.rsplit(" = ", 1)[1]) for name in missed.label])
    bars_are(missed, chance_outside(T1, p, Interval.around(T1 * p, np.sqrt(T1 * np.log(2 / delta) / 2)))[1])


def test_bars_of_attention() -> None:
    """One token: attention is c itself, to rounding. Three seeds: nothing is known but that it is from 0 to 1."""
    one = lemma2.likeness(on(SequenceClasses.from_weights("one", 9, [("n", "q", {"a": 1})])))
    np.testing.assert_allclose(one.value, 1, rtol=1e-15)
    bars_are(one, 4 * EPS)
    few = lemma2.likeness(on(run("snap-single").dataset, seeds=3))
    bars_are(few, np.maximum(few.value, 1 - few.value))


@pytest.mark.parametrize("like", [mean_counts.like_growth, mean_counts.like_share])
@pytest.mark.parametrize("delta", [0.1, 0.01])
def test_the_quantile_of_a_deviation_is_that_of_the_law(like: Any, delta: float) -> None:
    """At the first N = 40 of two classes, over all counts."""
    at, k = run("snap-single"), np.arange(41)
    level, mean = continuous(k, 5000, 0.5), continuous([20.0], 5000, 0.5)
    of = "h" if like is mean_counts.like_growth else "share"
    off = np.abs(getattr(level, of).value / getattr(mean, of).value[0] - 1)
    chance = np.array([comb(40, int(j)) for j in k]) / 2**40
    true = min(d for d in off if chance[off > d * (1 + 1e-9)].sum() <= delta)
    found = lemma11.along_steps(at, like, lemma11.across_the_turn, delta)
    assert found.step is not None
    assert (found.step[0], found.clock) == (40, "N")
    assert abs(found.value[0] - true) <= found.radius[0] <= 1e-7 * true
    whole = mean_counts.means(found.step, 2, 5000, 0.5)
    bars_are(found, deviation_quantile(found.step, np.full(len(found), 0.5), delta, lambda d: like(whole, d))[1])


def test_the_chance_in_other_vocabularies_is_a_sum_over_all_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the constant 3, of which there is a chance to see."""
    monkeypatch.setattr(lemma11, "EARLY", 3)
    found = lemma11.other_vocabularies(on(run("snap-single").dataset))
    for M in (1000, 10**9):
        first = max(40, int(np.ceil(2 * larger_zero(np.log([float(M)]))[0] / 0.5)))
        for delta in LEVELS:
            entry = found.missed.label.index(f"delta = {delta:g}, M = {M}, N = {first}")
            mean = continuous([float(-(-first // 2))], M, 0.5).share.value[0]
            off = np.abs(continuous(np.arange(first + 1), M, 0.5).share.value / mean - 1)
            beyond = np.flatnonzero(off > 0.5 * np.ceil(np.sqrt(first * log(1 / delta))))
            chance = sum(comb(first, int(j)) for j in beyond) / 2**first
            assert abs(found.missed.value[entry] - chance) <= found.missed.radius[entry]
            assert found.missed.radius[entry] == pytest.approx(chance * ROUNDING, rel=1e-3, abs=0)
            assert found.delta[entry] == delta


def test_the_chance_of_more_than_2_delta_is_a_sum_over_all_counts() -> None:
    """The mean of 40 draws of two classes is 20, that of 161 draws of three ceil(161/3) = 54."""
    for case, K, N, mean in (("snap-single", 2, 40, 20), ("snap-symmetric", 3, 161, 54)):
        found = remark4.beyond(run(case)).missed
        for delta in (0.99, 0.5):
            entry = found.label.index(f"delta = {delta:g}, N = {N}")
            beyond = [k for k in range(N + 1) if abs(k - mean) > 2 * np.ceil(np.sqrt(N * log(1 / delta)))]
            chance = sum(Fraction(comb(N, k) * (K - 1) ** (N - k), K**N) for k in beyond)
            assert found.value[entry] == pytest.approx(float(chance), rel=1e-9, abs=0)


def test_bars_of_growth_of_steps_and_of_rows() -> None:
    at = run("snap-symmetric")
    h, went, star = (*lemma12.growth_of_steps(at)[::-1], lemma5.alone(at)[1])
    assert h.step is not None
    bars_are(h, (continuous(h.step, 5000, 0.5).h * 4999.0).error)
    bars_are(star, (h_star(h.step, 5000, 0.5).level.h * 4999.0).error)
    column = np.asarray(at.dataset.overlap.F[:, :1])
    steps = np.zeros((1, lemma5.ALONE), dtype=np.int64)
    bars_are(went, descend(overlap(column), steps, h.step.tolist(), 5000, 0.5).error[0])


def test_bars_of_rows_in_turn() -> None:
    at, K = run("snap-symmetric"), 3
    found, stated = remark1.in_turn(at)
    N = np.array([int(name.rsplit(" = ", 1)[1]) for name in found.label])
    rho = at.dataset.overlap.E[1, 0]
    h = h_star(N[: len(N) // 3] // K, 5000, 0.5).level.h * (1 - float(rho))
    wide = [factor * h.error + 1e-14 * factor * h.value for factor in (4999.0, 1.0, 1.0)]
    bars_are(stated, np.concatenate(wide))
    went = descend(at.overlap, np.tile(np.arange(K), remark1.ROUNDS)[None], N[: len(N) // 3].tolist(), 5000, 0.5)
    largest_entries = [np.abs(went.A[0, :, :, column]).max(axis=-1) for column in (0, 1, 3)]
    bars_are(found, np.concatenate([2 * went.error[0] + 1e-15 * K * size for size in largest_entries]))


def test_bars_of_coefficients_have_that_of_gamma(monkeypatch: pytest.MonkeyPatch) -> None:
    def unsure(level: Any) -> Approximation:
        found = speed(level)
        return Approximation(found.value, 1e-3 * found.value)

    monkeypatch.setattr(theorem1, "speed", unsure)
    coefficients = theorem1.coefficients(on(run("snap-symmetric").dataset))
    np.testing.assert_allclose(coefficients.radius, 1e-3 * np.abs(coefficients.value), rtol=2e-3)


def test_bars_of_growth() -> None:
    at, M, eta = run("snap-symmetric"), 5000, 0.5
    s = at.steps / 3
    x = continuous(s, M, eta).logit
    found = lemma6.ode_times(at)
    of_x = (M - 1 + np.exp(x.value)) / (M * eta) * x.error
    bars_are(found, of_x + (FORMULA_ROUNDING + 8 * EPS * (1 + x.value)) * found.value)
    gaps = lemma7.gaps(at)
    own = gap(h_star(at.steps, M, eta), eta).error * (M / eta)
    bars_are(gaps, own + FORMULA_ROUNDING * gaps.value)
    bars_are(judgement("snap.lemma7.limit").measure(at), gaps.radius + FORMULA_ROUNDING)
    lags = lemma7.lags_by_rate(at)
    assert lags.step is not None
    bars_are(lags, [h_star([int(np.log(M) * y)], M, 1 / y).lag.error[0] for y in lags.step])
    near = at.steps[at.steps <= 10**6]
    bars_are(remark2.lag(at), h_star(near, M, eta).lag.error)
    proved = remark2.proved_lag(at)
    assert proved.step is not None
    bars_are(proved, FORMULA_ROUNDING * (proved.step + abs(np.log(eta / 2) - eta)))
    sides = lemma8.sides(at)
    assert sides.step is not None
    bars_are(sides, 8 * EPS * (sides.step + abs(np.log(sides.step)) + np.log(M - 1) + 1))
    above = judgement("snap.lemma8").parts["omega_1 from above"].measure(at)
    bars_are(above, FORMULA_ROUNDING * (1 + above.value))


def test_bars_of_speed() -> None:
    at, t = run("snap-symmetric"), np.geomspace(1, 1e9, 19)
    level = continuous(t / 3, 5000, 0.5)
    bars_are(lemma9.power(at, t), np.exp(level.logit.value) * (np.expm1(level.logit.error) + FORMULA_ROUNDING))
    bars_are(two_stages.h(at, t), level.h.error)
    bars_are(two_stages.speeds(at, t), gamma(t, 3, 5000, 0.5).error)
    along = two_stages.largest_over_M("h", lambda M: np.array([2.0]), lambda M, y: y)
    bars = [(h.error / h.value)[0] for h in (continuous([2.0], int(M), 1.0).h for M in VOCABULARIES)]
    bars_are(along, along.value * (np.array(bars) + FORMULA_ROUNDING))
    start = theorem1_b.constants_at_start(at)
    bars_are(start, 4 * FORMULA_ROUNDING * start.value)


def test_bars_of_remark_3() -> None:
    at, M, eta = run("snap-single"), 5000, 0.5
    first = remark3.first_steps(at)
    bars_are(
        first, [continuous(1.0, int(m), eta).logit.error / eta for m in VOCABULARIES] + FORMULA_ROUNDING * first.value
    )
    sides = remark3.sides_in_time(at)
    assert sides.step is not None
    x = continuous(sides.step, M, eta).logit
    size = x.value + np.abs(np.log(x.value)) + np.log(M - 1) + 1
    bars_are(sides, x.error * np.abs(1 - 1 / x.value) + FORMULA_ROUNDING * size)


def test_bars_of_eq_64_are_those_of_the_level(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of M h known to 1/4 the size of dg/ds, which falls with M h, is anywhere between its values at both ends."""
    at, M, eta = run("snap-single"), 5000, 0.5

    def unsure(*of: Any) -> Any:
        found = continuous(*of)
        return replace(
            found, logit=replace(found.logit, value=found.logit.value + 9, error=np.full_like(found.logit.error, 0.25))
        )

    monkeypatch.setattr(eq64, "continuous", unsure)
    found = part(LEDGER["snap.eq64"], "Its size").measure(at)
    x = unsure(found.step.astype(float), M, eta).logit.value
    for end in (x - 0.25, x + 0.25):
        size = M * eta * np.exp(end) / (M - 1 + np.exp(end)) ** 3
        assert ((found.lower <= size) & (size <= found.upper)).all()


def test_bars_of_undrawn_classes() -> None:
    undrawn = lemma11.undrawn(run("snap-single"))
    at = mean_counts.means(lemma11.late(run("snap-single")), 2, 5000, 0.5)
    bars_are(undrawn, 16 * EPS * (1 + at.x) * undrawn.value)


def test_bars_of_ratios_of_tokens() -> None:
    """Of r both tokens' z may be off, at t and at 0; of chi the one token's."""
    error = np.array([[1e-3, 2e-3], [3e-3, 5e-3], [7e-3, 11e-3]])
    z = Approximation(np.array([[0.1, 0.2], [0.5, 0.1], [0.9, -0.3]]), error)
    left, right = theorem3_gain.pair_sides(2.0, z, 0, 1)
    np.testing.assert_allclose(left.error, (left.value + 1) * np.expm1(2 * (error[1:].sum(axis=1) + 3e-3)), rtol=1e-9)
    np.testing.assert_allclose(right.error, abs(right.value) * np.expm1(2 * (error[1:, 0] + 1e-3)), rtol=1e-9)
