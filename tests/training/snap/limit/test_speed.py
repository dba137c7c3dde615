"""gamma in both readings against its formula in high precision."""

import mpmath
import numpy as np
import pytest

from marginaudit.training.snap.limit import gamma, gamma_of_whole_steps, gamma_value, whole_steps
from tests.training.snap.growth import DIGITS, precise_logit, within
from tests.training.snap.limit.test_continuous import settings


def precise_gamma(steps: mpmath.mpf, M: int, eta: float) -> mpmath.mpf:
    with mpmath.workdps(DIGITS):
        x = precise_logit(steps, M, eta)
        return mpmath.mpf(M - 1) ** 2 * x / M / (M - 1 + mpmath.exp(x))


def test_gamma_is_within_its_bars_and_does_not_overflow() -> None:
    for i, (t, M, eta) in enumerate(settings(200, seed=2)):
        K = 1 + i % 11
        found = gamma([t], K, M, eta)
        with mpmath.workdps(DIGITS):
            truth = precise_gamma(mpmath.mpf(t) / K, M, eta)
        assert within(found, [truth]) <= 1, (t, M, eta, K)
        assert found.error[0] <= 2e-14 * found.value[0]


def test_gamma_without_its_bar_is_the_same_number() -> None:
    for i, (t, M, eta) in enumerate(settings(500, seed=3)):
        K = 1 + i % 11
        assert gamma_value(float(t), K, M, eta) == gamma(float(t), K, M, eta).value, (t, M, eta, K)


def test_gamma_of_whole_steps_is_taken_at_the_ceiling() -> None:
    K, M, eta = 7, 1000, 0.5
    t = np.array([0, 1, 6, 7, 8, 1000, 2**53 + 2])
    found = gamma_of_whole_steps(t, K, M, eta)
    assert within(found, [precise_gamma(-(-int(step) // K), M, eta) for step in t]) <= 1
    assert gamma([1], K, M, eta).value[0] < found.value[1]


def test_whole_steps_of_times_that_rounding_would_lower() -> None:
    # a third of this is 2^52 + 4/3, in float64 2^52 + 1
    t = 3.0 * 2**52 + 4
    assert whole_steps([t, 0.0, 1e-30, 3.0], 3).tolist() == [2**52 + 2, 0, 1, 1]
    with pytest.raises(ValueError, match=r"^K: got 0, expected at least 1 class"):
        whole_steps([1.0], 0)
