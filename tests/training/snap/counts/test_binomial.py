"""Binomial tails and quantiles against sums in many digits."""

from math import sqrt

import mpmath as mp
import numpy as np
import pytest

from marginaudit.training.snap.counts.binomial import (
    ROUNDING,
    Interval,
    chance_outside,
    deviation_quantile,
    spaced_counts,
)

EPS = float(np.finfo(float).eps)


@pytest.mark.parametrize(("N", "p"), [(50, 0.3), (10**4, 1 / 3), (10**6, 0.01)])
def test_tails_are_sums_of_many_digits(N: int, p: float) -> None:
    with mp.workdps(40):
        for z in (-4, -1, 0, 2, 5):
            k = round(N * p + z * sqrt(N * p * (1 - p)))
            interval = Interval.around(np.array([k + 2.5]), np.array([3.0]))  # k - .5 to k + 5.5
            value, radius = chance_outside(np.array([N]), np.array([p]), interval)
            q = mp.mpf(p)
            inside = mp.fsum(mp.binomial(N, j) * q**j * (1 - q) ** (N - j) for j in range(k, k + 6) if 0 <= j <= N)
            assert abs(mp.mpf(float(value[0])) - (1 - inside)) <= float(radius[0])
            assert radius[0] < 1e-8


def test_the_bar_of_faint_tails_reaches_to_them() -> None:
    """scipy has 0, or something else, where these are 1e-300 to 1e-240; at 1e-216 they are a rounding of the bar."""
    N, p, open_end = 28453, 1 / 40, np.array([np.inf])
    with mp.workdps(40):
        terms = [mp.binomial(N, j) * mp.mpf(p) ** j * (1 - mp.mpf(p)) ** (N - j) for j in range(120)]
        for k in range(5, 120):
            least, most = mp.fsum(terms[:k]), mp.fsum(terms[: k + 1])
            low = np.array([k + 0.5])
            for widest, true in ((low, (most,)), (low - 1, (least, most))):
                interval = Interval((widest, open_end), (low, open_end))
                value, radius = chance_outside(np.array([N]), np.array([p]), interval)
                assert all(abs(mp.mpf(float(value[0])) - one) <= float(radius[0]) for one in true)
                assert float(radius[0]) < max((most - true[0]) * 0.6, most * 1e-8, 1e-199)


@pytest.mark.parametrize(
    ("low", "high", "chance"),
    [
        *((0.5, 9, 1), (-1, 0.5, 15), (4.5, 9, 16), (-1, 4.5, 0), (1, 3, 2), (-1, 3.5, 1), (3, 1, 16), (3.5, 9, 15)),
        *((0.9, 3.1, 2), (-3, 9, 0), (-3, -1, 16), (5, 9, 16), (-np.inf, np.inf, 0)),
    ],
)
def test_tails_to_their_ends(low: float, high: float, chance: int) -> None:
    """Of Bin(4, 1/2), in sixteenths; ends are inside."""
    ends = (np.array([float(low)]), np.array([float(high)]))
    value, radius = chance_outside(np.array([4]), np.array([0.5]), Interval(ends, ends))
    assert value[0] - radius[0] <= chance / 16 <= value[0] + radius[0]
    assert radius[0] <= 2 * ROUNDING


def test_ends_that_are_not_known_widen_the_bar() -> None:
    value, radius = chance_outside(np.array([4]), np.array([0.5]), Interval.around(np.array([2.0]), np.array([1.0])))
    assert value[0] - radius[0] <= 2 / 16 * (1 + 1e-8)
    assert value[0] + radius[0] >= 10 / 16 * (1 - 1e-8)


def test_the_numbers_that_are_counted() -> None:
    found = spaced_counts(10**6).tolist()
    assert found[:30] == list(range(1, 31))
    assert found[-1] == 10**6
    assert found[30:] == [round(10 ** (i / 10)) for i in range(15, 61)]
    assert spaced_counts(10).tolist() == list(range(1, 11))


def test_a_chance_has_the_relative_error_of_its_tails() -> None:
    """Both ends known: P(Bin(4, 1/2) outside 1 .. 3) = 1/8."""
    ends = (np.array([0.5]), np.array([3.5]))
    value, radius = chance_outside(np.array([4]), np.array([0.5]), Interval(ends, ends))
    assert value[0] == pytest.approx(1 / 8, rel=1e-12, abs=0)
    assert radius[0] == pytest.approx(ROUNDING / 8, rel=1e-6, abs=0)
    around = Interval.around(np.array([5.0]), np.array([2.0]))
    blur = 16 * EPS * 8
    assert around.widest[0][0] == pytest.approx(3 - blur, rel=1e-16, abs=0)
    assert around.narrowest[1][0] == pytest.approx(7 - blur, rel=1e-16, abs=0)
    assert around.widest[1][0] - around.narrowest[1][0] == pytest.approx(2 * blur, rel=0.1, abs=0)


def test_a_quantile_at_which_the_chance_is_delta_itself_is_open() -> None:
    """P(|N_n - 1| > d) of 2 draws is 1/2 up to d = 1, and 0 from there on."""
    at = np.array([2]), np.array([0.5])
    value, radius = deviation_quantile(*at, 0.5, lambda d: Interval.around(np.array([1.0]), d))
    assert value - radius < 1e-6
    assert value + radius == pytest.approx(1, rel=1e-9, abs=0)
