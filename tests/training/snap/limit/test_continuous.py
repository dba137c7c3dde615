"""h(t) in closed form against Newton steps, and gamma in both readings against its formula, in high precision."""

from collections.abc import Iterator

import mpmath
import numpy as np
import pytest

from marginaudit.training.snap.limit.continuous import continuous, gamma, gamma_value, whole_steps
from tests.training.snap.growth import DIGITS, precise_logit, within

CORNERS = [
    (t, M, eta) for M in (2, 3, 5000, 10**9) for eta in (1e-3, 0.5, 10.0) for t in (1e-270, 1e-20, 1e-9, 1.0, 1e18)
]


def settings(count: int, seed: int) -> Iterator[tuple[float, int, float]]:
    """Times from 1e-30 to 1e18, every other one near the transition at t = log(M)/eta, where exp(M h) is about M."""
    rng = np.random.default_rng(seed)
    for i in range(count):
        M, eta = round(np.exp(rng.uniform(np.log(3), np.log(1e9)))), 10 ** rng.uniform(-3, 1)
        near = 10 ** rng.uniform(-1, 1) * np.log(M) / eta
        yield float(near if i % 2 else 10 ** rng.uniform(-30, 18)), M, float(eta)


def test_logit_h_and_share_are_right_to_1e_14_and_within_their_bars() -> None:
    for t, M, eta in [*CORNERS, *settings(200, seed=1)]:
        level = continuous(np.array([t]), M, eta)
        with mpmath.workdps(DIGITS):
            x = precise_logit(t, M, eta)
            for found, truth in ((level.logit, x), (level.h, x / M), (level.share, 1 / (M - 1 + mpmath.exp(x)))):
                assert within(found, [truth]) <= 1, (t, M, eta)
                assert found.error[0] <= 1e-14 * found.value[0], (t, M, eta)


def test_bars_are_not_wider_than_a_few_roundings() -> None:
    bars = [(level.logit.error / level.logit.value)[0] for level in (continuous([t], M, e) for t, M, e in CORNERS)]
    assert 1e-16 < min(bars) <= max(bars) < 1.5e-15


def test_time_zero_is_exact() -> None:
    level = continuous([0.0], M=7, eta_Y=0.3)
    assert (level.logit.value[0], level.logit.error[0], level.h.value[0]) == (0, 0, 0)
    assert level.share.value[0] == pytest.approx(1 / 7, rel=1e-15, abs=0)


@pytest.mark.parametrize(
    ("t", "M", "eta", "message"),
    [
        ([-1.0], 5, 0.5, "t: got -1.0, expected times from 0 on"),
        ([1.0, -2.0], 5, 0.5, "t: got -2.0, expected times from 0 on"),
        ([np.nan], 5, 0.5, "t: got nan, expected times from 0 on"),
        ([np.inf], 5, 0.5, "t: got inf, expected M eta_Y t up to 2.2"),
        ([1.0, 1e300], 10**9, 0.5, r"t: got 1e\+300, expected M eta_Y t up to"),
        ([1e306], 3, 400.0, r"t: got 1e\+306, expected M eta_Y t up to"),
        ([1.0], 1, 0.5, "M: got 1, expected at least 2 tokens"),
        ([1.0], 5, 0.0, "eta_Y: got 0.0, expected a positive number up to 500"),
        ([1.0], 5, np.nan, "eta_Y: got nan, expected a positive number up to 500"),
        ([1.0], 5, 501.0, "eta_Y: got 501.0, expected a positive number up to 500"),
    ],
)
def test_what_has_no_dynamics_is_refused(t: list[float], M: int, eta: float, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}"):
        continuous(t, M, eta)


def test_the_ends_of_what_is_taken() -> None:
    """Two tokens and the largest rate, at which a first step still has all its float64 numbers."""
    assert continuous([1.0], 2, 500.0).logit.value[0] > 0
    last = np.finfo(np.float64).max / 64
    assert continuous([last], 2, 4.0).share.value[0] == pytest.approx(1 / (8 * last), rel=1e-2, abs=0)
    with pytest.raises(ValueError, match=r"^eta_Y: got 500\.\d+, expected"):
        continuous([1.0], 2, float(np.nextafter(500.0, 501)))


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


def test_whole_steps_of_times_that_rounding_would_lower() -> None:
    # a third of this is 2^52 + 4/3, in float64 2^52 + 1
    t = 3.0 * 2**52 + 4
    assert whole_steps([t, 0.0, 1e-30, 3.0], 3).tolist() == [2**52 + 2, 0, 1, 1]
    with pytest.raises(ValueError, match=r"^K: got 0"):
        whole_steps([1.0], 0)
