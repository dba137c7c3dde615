"""The steps and the numbers of docs/proofs-snap.md, each on instances, in 60 digits where it is about h and h*."""

from itertools import combinations
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.stats import binom

from tests.snap_proof_growth import PAGE, SIZES, lags, zeros
from tests.training.snap.growth import DIGITS, precise_logit, precise_star

STEPS = 40


@pytest.fixture(autouse=True)
def digits() -> Any:
    with mp.workdps(DIGITS):
        yield


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


@pytest.mark.parametrize("M", [1000, 10**6, 10**15])
def test_1_3_in_range_r_the_first_part_of_lemma_9_is_true_from_t_k_on(M: int) -> None:
    x_0, eta = zeros(M)[0], 10 * mp.mpf(M) ** mp.mpf("-0.99")
    assert x_0 < mp.mpf("0.00273")
    assert (M - 1) * x_0 < mp.mpf("1.0028")
    assert (2 * (M - 1) * x_0 - 1) / M < mp.mpf("1.0056") / M < eta
    x = precise_logit(1, M, eta)
    assert mp.exp(x) <= (M - 1) * x


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


def effective(K: int, M: int, rho: Any) -> Any:
    """Eta' over eta of section 2.1."""
    return (1 - rho) * (1 + (K - 1) * rho) / (1 + (K - 2) * rho + (K - 1) * rho / (M - 1))


def test_2_1_the_effective_rate_of_the_flow_integrated_in_float64() -> None:
    """Ten classes of overlap 1/2 by the flow of eq. 7 itself, on a clock of ln t: 0.55 of eta_Y, not 5.5."""
    K, M, rho = 10, 1000, 0.5
    gram = np.full((K, K), rho) + (1 - rho) * np.eye(K)
    own = np.eye(K, K + 1)

    def turn(log_t: float, flat: Any) -> Any:
        W = flat.reshape(K, K + 1)
        powers = np.exp(W - W.max(axis=1, keepdims=True)) * np.append(np.ones(K), M - K)
        alpha = powers / powers.sum(axis=1, keepdims=True)
        return (np.exp(log_t) / K * gram @ (own - alpha / np.append(np.ones(K), M - K))).ravel()

    found = solve_ivp(turn, (-9, 25), np.zeros(K * (K + 1)), method="LSODA", rtol=1e-9, atol=1e-9)
    W = found.y[:, -1].reshape(K, K + 1)
    powers = np.exp(W[0] - W[0, 0]) * np.append(np.ones(K), M - K)
    residual = powers[1:].sum() / powers.sum()
    assert K * (M - 1) / (M * np.exp(25)) / residual == pytest.approx(float(effective(K, M, rho)), rel=1e-3, abs=0)
    assert f"{float(effective(K, M, rho)):.2f}" == "0.55"


def test_2_1_sgd_in_turn_after_the_first_round() -> None:
    K, M, eta, rho = 3, 7, 0.5, 0.2
    W = np.zeros((K, M))
    for n in range(K):
        error = np.eye(M)[n] - np.exp(W[n]) / np.exp(W[n]).sum()
        W += eta * np.where(np.arange(K) == n, 1.0, rho)[:, np.newaxis] * error
    assert W[0, -1] < -eta / M < -(1 - rho) * eta / M


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
    late = mp.mpf(10) ** 4 / M
    S = mp.exp(x(late)) + (K - 1) * mp.exp(y(late)) + M - K
    time = mp.exp(x(late)) / (M * (1 + (K - 1) * rho))  # eta t/K, as dt = K S/eta dtau and S ~ e^x
    residual = ((K - 1) * mp.exp(y(late)) + M - K) / S
    rate = (M - 1) / (M * time) / residual  # over that of no overlaps, (M-1)/(eta M t/K)
    assert abs(rate - effective(K, M, rho)) < 1e-30
    assert (1 - rho) - mp.mpf("1e-50") <= rate < 1 - rho**2
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


def test_2_6_the_numbers_of_lemma_12() -> None:
    def least(K: int) -> Any:
        return 1 / (mp.sqrt(10) * K)

    def room(u: Any, epsilon: Any) -> Any:
        return 2 * (mp.sqrt(u) - mp.mpf(epsilon)) ** 2 - u

    assert least(2) < mp.mpf("0.1582")
    assert mp.sqrt(mp.log(2)) > mp.mpf("0.8325")
    assert (1 - 1 / mp.sqrt(2)) * mp.mpf("0.8325") >= mp.mpf("0.1582")
    assert mp.sqrt(mp.log(4)) > mp.mpf("1.1774")
    assert least(4) < mp.mpf("0.0791")
    assert room(mp.log(4), "0.0791") > mp.mpf("1.02") > mp.log(2)
    assert least(3) < mp.mpf("0.1055")
    assert room(mp.mpf("1.13"), "0.1055") > mp.mpf("0.703") > mp.mpf("0.694") > mp.log(2)
    assert 3 * mp.exp(mp.mpf("-1.13")) > mp.mpf("0.96")
    assert mp.sqrt(mp.log(3)) > mp.mpf("1.048")
    assert (
        mp.mpf(2) / 3 / (mp.mpf("1.048") - mp.mpf("0.1055")) ** 2
        < mp.mpf(2) / 3 / mp.mpf("0.942") ** 2
        < mp.mpf("0.76")
    )


@pytest.mark.parametrize("K", [2, 3, 4, 10])
def test_2_6_the_printed_theta_by_the_binomial_law(K: int) -> None:
    """|theta| <= |N_n - N-bar|/N-bar, whose chance of more is at most delta from N = 10 K^2 on; K >= 3: K of one."""
    for N in (10 * K**2, 10 * K**2 + 1, 10 * K**2 + K - 1, 1000 * K**2):
        mean, k = -(-N // K), np.arange(N + 1)
        chance = binom.pmf(k, N, 1 / K)
        for delta in (0.999, 0.97, 0.9, 0.5, 0.1, 1e-3, 1e-8):
            missed = np.abs(k - mean) / mean > K / np.sqrt(N) * np.sqrt(np.log(K / delta))
            if K == 2:
                missed |= missed[::-1]
            assert (1 if K == 2 else K) * chance[missed].sum() <= delta
    star = precise_star(60, 50, 0.9)
    for n in range(61):
        assert abs(star[n] / star[20] - 1) <= mp.mpf(abs(n - 20)) / 20


@pytest.mark.parametrize("K", [2, 3, 10, 40])
@pytest.mark.parametrize("times", [1, 7, 1000])
def test_2_3_counts_are_within_3_delta_whatever_delta_is(K: int, times: int) -> None:
    N = 10 * K * K * times + 1
    mean, mode = -(-N // K), (N + 1) // K
    assert abs(mode - mean) <= 1 >= abs(mode - N / K)
    assert np.floor(np.sqrt(N)) + 2 <= 1.317 * np.sqrt(N)
    for chance in (1e-12, 1e-6, 0.01, 0.3, 0.5, 0.9, 1 - 1e-6):  # 1 - delta
        Delta = np.ceil(np.sqrt(-N * np.log1p(-chance)))
        least = chance if chance > 0.5 else max(min(0.75, 1.138 * np.sqrt(chance)), chance)
        for middle, room, probability in ((mode, 2 * Delta, least * (chance <= 0.5)), (mean, 3 * Delta, chance)):
            inside = binom.cdf(middle + room, N, 1 / K) - binom.cdf(middle - room - 1, N, 1 / K)
            assert inside >= probability - 1e-12
    assert 0.75 * 2 / 1.317 > 1.138
