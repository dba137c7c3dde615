"""Fitted exponents on curves whose exponents are known."""

import numpy as np
import pytest

from marginaudit.reports.ntp.rates import asymptotic_from, constants, fitted_decades

STEP = np.unique(np.rint(np.geomspace(1, 1e9, 400)).astype(np.int64))
T = STEP.astype(float)
NONE = np.full(len(T), np.nan)
EXACT = np.zeros(len(T))


def test_a_power_law_has_its_exponent_in_every_decade() -> None:
    found = fitted_decades(STEP, 3 * T**-1.5, EXACT, NONE)
    assert [d.start for d in found] == [10**k for k in range(9)]
    np.testing.assert_allclose([d.exponent for d in found], -1.5, rtol=1e-12)


def test_a_squared_logarithm_is_taken_out() -> None:
    found = fitted_decades(STEP, 7 * (np.log(T) / T) ** 2, EXACT, NONE)
    assert found[0].exponent_without_log is None
    np.testing.assert_allclose(np.array([d.exponent_without_log for d in found[1:]], dtype=float), -2, rtol=1e-12)
    slower = np.array([d.exponent for d in found[1:]])
    assert (slower > -1.9).all()
    # d log(log^2 t / t^2) / d log t = -2 + 2 / log t, in the middle of the decade
    middle = np.array([np.log(d.start) + np.log(10) / 2 for d in found[1:]])
    np.testing.assert_allclose(slower[3:], (-2 + 2 / middle)[3:], atol=2e-3)


def test_entries_below_the_error_floor_are_left_out() -> None:
    gap, error = T**-2.0, EXACT.copy()
    gap[T > 1e6], error[T > 1e6] = 1e-12, 0.5
    found = fitted_decades(STEP, gap, error, NONE)
    assert [d.start for d in found] == [10**k for k in range(6)]
    np.testing.assert_allclose([d.exponent for d in found], -2, rtol=1e-12)


def test_the_laws_exponent_is_fitted_at_the_same_steps() -> None:
    law = np.where(T >= 100, 2 / T, np.nan)
    found = fitted_decades(STEP, T**-2.0, EXACT, law)
    assert [d.predicted is None for d in found] == [True, True, *[False] * 7]
    np.testing.assert_allclose(np.array([d.predicted for d in found[2:]], dtype=float), -1, rtol=1e-12)


@pytest.mark.parametrize("off", [0.02, -0.02])
def test_the_asymptotic_regime_starts_after_the_last_step_away_from_the_law(off: float) -> None:
    law = T**-2.0
    gap = np.where(T < 1000, law * (1 + off), law * (1 + off / 4))
    assert asymptotic_from(STEP, gap, law) == int(STEP[T >= 1000][0])
    assert asymptotic_from(STEP, law * (1 + off), law) is None
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
