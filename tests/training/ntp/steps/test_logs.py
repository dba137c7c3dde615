"""Logarithms of sums and differences against mpmath, on both sides of where their formulas change."""

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest
from numpy.typing import NDArray

from marginaudit.training.ntp.steps.logs import log_expm1, log_softplus, log_sum_exp, segment_log_sum_exp


def precise(function: Callable[..., Any], values: list[float]) -> NDArray[np.float64]:
    with mpmath.workdps(60):
        return np.array([float(function(mpmath.mpf(x))) for x in values])


@pytest.mark.parametrize("x", [-5000.0, -40.0, -37.1, -36.9, -30.0, -20.0, -1.0, 0.0, 1.0, 36.0, 38.0, 5000.0])
def test_log_softplus(x: float) -> None:
    expected = precise(lambda y: mpmath.log(mpmath.log1p(mpmath.exp(y))), [x])
    np.testing.assert_allclose(log_softplus(np.array([x])), expected, rtol=2e-16 if x < -37 else 1e-15, atol=2e-16)


@pytest.mark.parametrize("z", [1e-300, 1e-12, 0.99e-8, 1.01e-8, 1e-4, 0.9, 1.1, 20.0, 36.9, 37.1, 40.0, 600.0])
def test_log_expm1(z: float) -> None:
    expected = precise(lambda y: mpmath.log(mpmath.expm1(mpmath.exp(y))), [np.log(z)])
    np.testing.assert_allclose(log_expm1(np.log([z])), expected, rtol=3e-16 * max(1, np.log(z)), atol=3e-16)


@pytest.mark.parametrize("log_z", [-1e6, -746.0, -744.3, -735.0, -700.0])
def test_log_expm1_of_what_float64_cannot_hold(log_z: float) -> None:
    assert log_expm1(np.array([log_z]))[0] == pytest.approx(log_z, rel=1e-15, abs=0)


def test_log_sum_exp() -> None:
    a = np.array([[1.0, -np.inf, 1000.0], [-np.inf, -np.inf, 1001.0], [3.0, -np.inf, -np.inf]])
    expected = [np.log(np.exp(1) + np.exp(3)), -np.inf, 1001 + np.log1p(np.exp(-1))]
    np.testing.assert_allclose(log_sum_exp(a, axis=0), expected, rtol=1e-15)
    np.testing.assert_allclose(log_sum_exp(a.T, axis=1), expected, rtol=1e-15)
    assert log_sum_exp(np.zeros((0, 2)), axis=0).tolist() == [-np.inf, -np.inf]


def test_segment_log_sum_exp() -> None:
    a = np.array([-1000.0, -1001.0, -np.inf, -np.inf, 5.0, 800.0, 800.0, 800.0])
    first, owner = np.array([0, 2, 4, 5]), np.array([0, 0, 1, 1, 2, 3, 3, 3])
    expected = [-1000 + np.log1p(np.exp(-1)), -np.inf, 5.0, 800 + np.log(3)]
    np.testing.assert_allclose(segment_log_sum_exp(a, first, owner), expected, rtol=1e-15)
    alone = np.array([3.0, -np.inf])
    assert segment_log_sum_exp(alone, np.arange(2), np.arange(2)) is alone
