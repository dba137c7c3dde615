"""The steps and the numbers of docs/proofs-snap.md, each on instances, in 60 digits where it is about h and h*."""

from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from scipy.stats import binom

from marginaudit.orders.snap import weakly_correlated_dataset
from tests.training.snap.growth import DIGITS, precise_logit, precise_star

PAGE = (Path(__file__).parents[1] / "docs" / "proofs-snap.md").read_text(encoding="utf-8")

SIZES = pytest.mark.parametrize(("M", "eta"), [(2, 0.5), (3, 2.0), (50, 0.1), (5000, 0.5), (5000, 7.0)])

STEPS = 40


@pytest.fixture(autouse=True)
def digits() -> Any:
    with mp.workdps(DIGITS):
        yield


def zeros(M: int) -> tuple[Any, Any]:
    """x_0 < 1 < x_1 of e^x = (M-1) x."""
    return -mp.lambertw(-mp.mpf(1) / (M - 1), 0).real, -mp.lambertw(-mp.mpf(1) / (M - 1), -1).real


def lags(x: Sequence[Any], M: int, eta: float) -> list[Any]:
    """By Lemma 6, of x = M h*(s) for s = 0, 1, .."""
    return [(mp.expm1(value) + (M - 1) * value) / (M * mp.mpf(eta)) - s for s, value in enumerate(x)]


@SIZES
def test_1_1_the_lag_adds_up(M: int, eta: float) -> None:
    x, big = precise_star(STEPS, M, eta), M * mp.mpf(eta)
    found, total = lags(x, M, eta), mp.mpf(0)
    for s in range(STEPS):
        d, q = x[s + 1] - x[s], mp.exp(x[s]) / (M - 1 + mp.exp(x[s]))
        assert abs(d - big / (M - 1 + mp.exp(x[s]))) < 1e-50
        r = mp.exp(x[s]) * (mp.expm1(d) - d)
        assert abs((found[s + 1] - found[s]) - r / big) < 1e-45
        assert q * d / 2 <= r / big <= mp.exp(eta) * q * d / 2
        total += q * d
        integral = mp.log((M - 1 + mp.exp(x[s + 1])) / M)
        assert 0 <= integral - total <= eta


@pytest.mark.parametrize("M", [2, 10, 1000, 10**9, 10**100])
def test_1_1_from_where_the_logarithm_is_a_bound(M: int) -> None:
    log_M = mp.log(M)
    assert "$\\eta s\\ge4\\ln M+8$" in PAGE
    assert 1 + (4 * log_M + 8) / 2 == 5 + 2 * log_M
    for u in (4 * log_M + 8, 5 * log_M + 8, 100 * log_M + 100):
        assert mp.log(1 + M * u) <= 1 + u / 2
        assert 1 + u - mp.log(1 + M * u) >= u / 2
    assert mp.log(4 * log_M + 9) <= 4 * log_M / 9 + mp.log(9) < 5 + log_M


@pytest.mark.parametrize("M", [4, 5, 1000])
def test_1_2_where_the_exponential_is_below(M: int) -> None:
    low, high = zeros(M)
    assert low < 1 < high
    assert mp.log(M - 1) <= high
    for x in (low / 2, high * 1.01):
        assert mp.exp(x) > (M - 1) * x
    assert mp.exp((low + high) / 2) < (M - 1) * (low + high) / 2
    assert all((few - 1) * (1 - mp.log(few - 1)) > 0 for few in (2, 3))


def test_1_3_the_scan_ends_before() -> None:
    def room(M: int) -> Any:
        return M - 2 + (M - 1) * mp.log(M - 1) - M * mp.log(M)

    assert all(room(M) > 0 and mp.log(M) + 1 < M - 2 for M in (5, 6, 100, 10**12))
    assert mp.log(4) + 1 > 4 - 2
    for M in (5, 1000):
        x_0 = zeros(M)[0]
        y = (2 * (M - 1) * x_0 - 1) / M
        assert abs(precise_logit(y, M, 1.0) - x_0) < 1e-40
        assert precise_logit(mp.log(M), M, 1.0) < mp.log(M - 1)


@pytest.mark.parametrize("M", [5, 1000, 10**9])
def test_1_4_bounds_in_the_snap_and_the_constant_that_grows(M: int) -> None:
    x_1, needed = zeros(M)[1], []
    for y in (2 * x_1, 3 * x_1, 100 * x_1, mp.mpf(10) ** 12):
        x = precise_logit(y, M, 1.0)
        assert x > x_1
        assert 2 * mp.exp(x) > M * y + 1
        assert mp.exp(x) <= M * y
        speed = (M - 1) ** 2 * x / M / (M - 1 + mp.exp(x))
        assert speed * y <= 2 * x <= 2 * mp.log(M * y)
        needed.append(speed * y / mp.log(y))
    if M >= 1000:
        L = mp.log(M)
        assert 2 * L <= 2 * x_1 <= 4 * L
        assert needed[0] >= mp.mpf("0.99") * L / (4 * L + 2) * 2 * L / mp.log(4 * L)


@pytest.mark.parametrize(("K", "M", "rho"), [(2, 3, 0.3), (3, 20, 0.05), (4, 4, 0.5)])
def test_2_1_what_follows_from_the_closed_form(K: int, M: int, rho: Any) -> None:
    rho = mp.mpf(rho)
    a = 1 + rho * (M - 1)

    def y(tau: Any) -> Any:
        return -mp.log((1 - rho + rho * M * mp.exp(-a * tau)) / a)

    def x(tau: Any) -> Any:
        return M * (1 + (K - 1) * rho) * tau - (K - 1) * y(tau)

    assert abs(x(0)) < 1e-50
    assert abs(y(0)) < 1e-50
    for tau in (mp.mpf("0.1"), mp.mpf(1)):
        assert abs(mp.diff(y, tau) - (a - (1 - rho) * mp.exp(y(tau)))) < 1e-15
        slope = (K - 1) * mp.exp(y(tau)) + M - K + 1 + (K - 1) * rho * (1 - mp.exp(y(tau)))
        assert abs(mp.diff(x, tau) - slope) < 1e-15
    assert abs(y(mp.mpf(10) ** 4) - mp.log(a / (1 - rho))) < 1e-30
    if K == M:  # v = x - y is M h((1 - rho) t/K)
        v = x(1) - y(1)
        S = mp.exp(x(1)) + (K - 1) * mp.exp(y(1))
        moved = (mp.diff(x, 1) - mp.diff(y, 1)) / S
        assert abs(moved - (1 - rho) * M / (M - 1 + mp.exp(v))) < 1e-15


def test_2_2_from_where_the_second_bound_is_the_larger_one() -> None:
    least = 2 * (mp.sqrt(2) + 1) ** 2
    assert mp.nstr(least, 4) == "11.66"
    assert "\\approx11.66$" in PAGE
    assert abs(mp.sqrt(least / 2) + 1 - mp.sqrt(least)) < 1e-50
    level = mp.log(2 / mp.mpf("0.99"))
    assert (mp.nstr(mp.sqrt(level / 2) + 1, 3), mp.nstr(mp.sqrt(level), 2)) == ("1.59", "0.84")
    assert "$1.59\\lt0.84$" in PAGE
    assert mp.nstr(mp.sqrt(mp.log(2 / mp.mpf("0.9"))), 3) == "0.894"
    assert binom.pmf(0, 1, 0.01) == pytest.approx(0.99, rel=1e-12, abs=0)
    assert "$0.894$, and $|N_n-1|=1$ with probability $0.99$" in PAGE


@SIZES
def test_2_3_how_far_shares_and_levels_are_apart(M: int, eta: float) -> None:
    times = [mp.mpf(s) for s in ("0.3", "1", "2.5", "7", "40", "1000")]
    x = [precise_logit(s, M, eta) for s in times]
    share = [1 / (M - 1 + mp.exp(value)) for value in x]
    for i, j in combinations(range(len(times)), 2):
        apart = times[j] - times[i]
        for k, m in ((i, j), (j, i)):
            assert abs(share[k] / share[m] - 1) <= eta * apart
            assert abs(x[k] / x[m] - 1) <= apart / times[m]


def test_2_3_a_third_is_not_enough() -> None:
    one, mean = (1 / (999 + mp.exp(precise_logit(s, 1000, 0.5))) for s in (1, 2763))
    assert mp.nstr((one / mean - 1) / (mp.mpf("0.5") * 2762), 2) == "0.99"
    assert "$\\bar N=2763$ and $N_n=1$ need $0.99$" in PAGE


@SIZES
def test_2_4_the_lag_is_below_L_and_2_5_steps_fall(M: int, eta: float) -> None:
    x = precise_star(STEPS, M, eta)
    L = mp.exp(eta) / 2 * mp.log((M - 1 + mp.exp(x[-1])) / M)
    found = lags(x, M, eta)
    assert max(found) == found[-1] <= L
    for k in range(STEPS + 1):
        for m in range(1, STEPS + 1):
            ratio, apart = x[k] / x[m] - 1, mp.mpf(k - m) / m
            assert 0 <= ratio <= apart if k >= m else apart <= ratio <= 0


def test_2_5_how_long_the_first_step_leads() -> None:
    M, eta = 5000, 100
    last = (mp.exp(eta / 2) + (M - 1) * eta / 2 - 1) / (M * eta)
    assert mp.nstr(last, 3) == "1.04e+16"
    assert "$1.04\\cdot10^{16}$" in PAGE
    assert abs(precise_logit(last, M, eta) - eta / 2) < 1e-30
    for mean in (10, 10**6, last):
        assert precise_star(1, M, eta)[1] / precise_logit(mean, M, eta) - 1 >= 1 - mp.mpf("1e-30")


@pytest.mark.parametrize(("K", "seed"), [(3, 0), (4, 1), (5, 2)])
def test_3_1_and_3_3_entries_of_E_prime(K: int, seed: int) -> None:
    E = weakly_correlated_dataset(K=K, M=10**6, seed=seed).overlap.E
    E_prime = np.eye(K) - np.linalg.inv(np.eye(K) + E)
    values = np.linalg.eigvalsh(E)
    most = np.abs(values).max()
    assert np.abs(E_prime - E).max() <= (values**2 / (1 + values)).max() <= most**2 / (1 - most)
    assert np.abs(E_prime - E + E @ E).max() <= most**3 / (1 - most)
    least = (values**2).min() / (1 + most)
    assert (np.diag(E_prime) <= -least * (1 - 1e-12)).all()


@pytest.mark.parametrize(("K", "e"), [(2, 0.3), (3, 0.1), (7, 0.9)])
def test_3_3_equal_overlaps(K: int, e: float) -> None:
    E = np.full((K, K), e)
    np.fill_diagonal(E, 0)
    E_prime = np.eye(K) - np.linalg.inv(np.eye(K) + E)
    assert E_prime[0, 1] == pytest.approx(e / ((1 - e) * (1 + (K - 1) * e)), rel=1e-12, abs=0)
    if K == 2:
        assert E_prime[0, 1] == pytest.approx(e / (1 - e**2), rel=1e-12, abs=0)
