"""Fitted exponents on curves whose exponents are known."""

from dataclasses import replace

import numpy as np
import pytest

from marginaudit.claims.ntp import Config, Run
from marginaudit.claims.ntp.rates import asymptotic_from, constants, fitted_decades, measured_constants, rates_answer
from marginaudit.orders.ntp import CASES
from tests.claims.ntp.samples import retrained
from tests.solutions import known

STEP = np.unique(np.rint(np.geomspace(1, 1e9, 400)).astype(np.int64))
T = STEP.astype(float)
NONE = np.full(len(T), np.nan)
EXACT = np.zeros(len(T))


def test_a_power_law_has_its_exponent_in_every_decade() -> None:
    found = fitted_decades(STEP, 3 * T**-1.5, EXACT, NONE)
    assert [d["start"] for d in found] == [10**k for k in range(9)]
    np.testing.assert_allclose([d["exponent"] for d in found], -1.5, rtol=1e-12)


def test_a_squared_logarithm_is_taken_out() -> None:
    found = fitted_decades(STEP, 7 * (np.log(T) / T) ** 2, EXACT, NONE)
    assert found[0]["exponent_without_log"] is None
    np.testing.assert_allclose(np.array([d["exponent_without_log"] for d in found[1:]], dtype=float), -2, rtol=1e-12)
    slower = np.array([d["exponent"] for d in found[1:]])
    assert (slower > -1.9).all()
    # d log(log^2 t / t^2) / d log t = -2 + 2 / log t, in the middle of the decade
    middle = np.array([np.log(d["start"]) + np.log(10) / 2 for d in found[1:]])
    np.testing.assert_allclose(slower[3:], (-2 + 2 / middle)[3:], atol=2e-3)


def test_the_laws_exponent_is_fitted_at_the_same_steps() -> None:
    law = np.where(T >= 100, 2 / T, np.nan)
    found = fitted_decades(STEP, T**-2.0, EXACT, law)
    assert [d["predicted"] is None for d in found] == [True, True, *[False] * 7]
    np.testing.assert_allclose(np.array([d["predicted"] for d in found[2:]], dtype=float), -1, rtol=1e-12)
    assert all(d["predicted"] is None for d in fitted_decades(STEP, T**-2.0, EXACT, 0 * T))


@pytest.mark.parametrize("off", [0.02, -0.02])
def test_the_asymptotic_regime_starts_after_the_last_step_away_from_the_law(off: float) -> None:
    law = T**-2.0
    gap = np.where(T < 1000, law * (1 + off), law * (1 + off / 4))
    assert asymptotic_from(STEP, gap, law) == int(STEP[T >= 1000][0])
    assert asymptotic_from(STEP, law * (1 + off), law) is None
    assert asymptotic_from(STEP, law, law * (STEP > 1)) == int(STEP[STEP > 1][0])
    assert asymptotic_from(STEP, law, NONE) is None


def test_nothing_above_the_floor_gives_no_decade() -> None:
    assert fitted_decades(STEP, np.zeros(len(T)), EXACT, NONE) == []


@pytest.mark.parametrize("eta", [0.01, 0.5])
def test_the_constant_of_a_pure_law_is_found(eta: float) -> None:
    s, L = eta * T, np.log(eta * T)
    along = s + 3.0
    gap_of = {False: np.full(len(T), 2.0), True: np.hypot(1.5 * L + 0.7, 4.0)}
    for degenerate, u in gap_of.items():
        norm = np.hypot(along, u)
        gap = u**2 / (norm * (norm + along))
        step, found, bars = constants(STEP, norm, gap, 1e-12 * gap, eta, degenerate=degenerate)
        expected = (1.5**2 if degenerate else 4.0) / (2 * eta**2)
        assert step[-1] == STEP[-1]
        np.testing.assert_allclose(found[-1], expected, rtol=2e-6 if degenerate else 4 / s[-1] / 1e-2)
        assert (bars > 0).all()
    assert not len(constants(STEP[:1], T[:1], T[:1], T[:1], eta, degenerate=True)[0])


def test_a_decade_is_fitted_from_five_entries_on_both_ends_among_them() -> None:
    step = np.array([1, 2, 3, 5, 10])
    nothing, law = np.zeros(5), np.full(5, np.nan)
    [found] = fitted_decades(step, 3.0 / step, nothing, law)
    assert (found["start"], found["predicted"]) == (1, None)
    assert fitted_decades(step[1:], 3.0 / step[1:], nothing[1:], law[1:]) == []
    assert fitted_decades(step[:-1], 3.0 / step[:-1], nothing[:-1], law[:-1]) == []
    for error, decades in ((0.0099, 1), (0.01, 0)):
        assert len(fitted_decades(step, 3.0 / step, np.array([0, 0, error, 0, 0]), law)) == decades
    assert fitted_decades(step, np.array([3.0, 0.0, 1.0, 1.0, 1.0]), nothing, law) == []
    partly = np.array([1.0, 1.0, np.nan, 1.0, 1.0])
    assert fitted_decades(step, 3.0 / step, nothing, partly)[0]["predicted"] is None
    begun = np.array([0, 1, 2, 3, 5, 10])
    [found] = fitted_decades(begun, np.append(9.0, 3.0 / step), np.zeros(6), np.full(6, np.nan))
    assert found["exponent"] == pytest.approx(-1)


def test_the_constants_and_their_bars_are_those_of_the_formulas() -> None:
    step = np.array([2, 20, 200, 2000])
    norm, gap, off = np.array([[1.0, 3.0, 7.0, 20.0], [0.5, 0.4, 0.3, 0.2], [0.01, 0.02, 0.03, 0.04]])
    t, found, bars = constants(step, norm, gap, off, 0.5, degenerate=False)
    assert t.tolist() == step.tolist()
    np.testing.assert_allclose(found, gap * step**2)
    np.testing.assert_allclose(bars, off * step**2)
    t, found, bars = constants(step, norm, gap, off, 0.5, degenerate=True)
    assert t.tolist() == [200, 2000]
    square, wide, ten = norm**2 * (1 - (1 - gap) ** 2), 2 * norm**2 * off, np.log(10)
    for i in (2, 3):
        first, second = (square[i] - square[i - 1]) / ten, (square[i - 1] - square[i - 2]) / ten
        assert found[i - 2] == pytest.approx((first - second) / (2 * ten) / (2 * 0.5**2))
        spread = (wide[i] + 2 * wide[i - 1] + wide[i - 2]) / ten
        assert bars[i - 2] == pytest.approx(spread / (2 * ten) / (2 * 0.5**2))


@pytest.mark.parametrize(("earlier", "nearest"), [(6, 2), (7, 1)])
def test_the_record_nearest_to_a_tenth_is_so_by_ratio(earlier: int, nearest: int) -> None:
    """Of 20, a tenth of 200: 63 is nearer than 6, and 7 nearer than 63."""
    step, square, ones = np.array([2, earlier, 63, 200]), np.array([0.1, 0.4, 0.7, 0.9]), np.ones(4)
    t, found, _ = constants(step, ones, 1 - np.sqrt(1 - square), ones, 0.5, degenerate=True)
    slopes = np.diff(square[[0, nearest, 3]]) / np.diff(np.log(step[[0, nearest, 3]]))
    assert t.tolist() == [200]
    assert found[0] == pytest.approx((slopes[1] - slopes[0]) / (2 * 0.5**2 * np.log(100)))


@pytest.mark.parametrize(("step", "left"), [([2, 10**9, 10**10, 10**11], [10**11]), ([2, 10**4, 10**7, 10**8], [])])
def test_one_record_is_not_two_of_the_three_that_a_constant_needs(step: list[int], left: list[int]) -> None:
    """The nearest to a hundredth of 10^10 is a tenth, and to a tenth of 10^7 it is itself."""
    ones = np.ones(4)
    t, found, bars = constants(np.array(step), ones, 0.1 * ones, ones, 0.5, degenerate=True)
    assert (t.tolist(), len(found), len(bars)) == (left, len(left), len(left))


def test_what_a_report_says_of_rates() -> None:
    on = Run(CASES["example-1"](), Config(steps1=50, steps2=2_000, lr2=0.2))
    stage, answer = on.trained.stage2, rates_answer(on)
    asymptotics = known(on.trained.asymptotics)
    law = known(asymptotics.law)
    assert (answer["law"], answer["degenerate"], answer["without_multiplier"]) == ("C / t^2", False, [])
    assert answer["constant_predicted"] == law.constant
    assert answer["constant_measured"] == stage.one_minus_cos[-1] * 2_000**2
    assert [decade["start"] for decade in answer["decades"]] == [1, 10, 100]
    step, value, bars = measured_constants(on, degenerate=False)
    assert step.tolist() == list(range(1, 2_001))
    np.testing.assert_allclose(value, stage.one_minus_cos[1:] * step**2.0)
    off = stage.distance_error[1:]
    np.testing.assert_allclose(bars, off * (stage.distance[1:] + off / 2) * step**2.0)

    found = rates_answer(retrained(on, asymptotics=replace(asymptotics, degenerate=True)))
    assert (found["law"], found["degenerate"]) == ("C log^2(t) / t^2", True)
    unknown = retrained(on, asymptotics=replace(asymptotics, law=None))
    assert rates_answer(unknown)["constant_predicted"] is None
    found = rates_answer(retrained(on, asymptotics=None))
    assert found["decades"] == answer["decades"]
    assert {found[name] for name in ("degenerate", "law", "constant_measured", "asymptotic_from")} == {None}
    empty = Run(on.dataset, Config(steps1=50, steps2=0))
    assert rates_answer(empty)["constant_measured"] is None
