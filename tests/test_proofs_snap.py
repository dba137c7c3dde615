"""The steps and the numbers of docs/proofs-snap.md, each on instances, in 60 digits where it is about h and h*."""

from fractions import Fraction
from itertools import combinations, pairwise
from math import comb
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.stats import binom

from marginaudit.orders.snap import weakly_correlated_dataset
from tests.pages import ROOT
from tests.training.snap.growth import DIGITS, lags, precise_logit, precise_star, zeros

PAGE = (ROOT / "docs" / "proofs-snap.md").read_text(encoding="utf-8")

SIZES = pytest.mark.parametrize(("M", "eta"), [(2, 0.5), (3, 2.0), (50, 0.1), (5000, 0.5), (5000, 7.0)])

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


@pytest.mark.parametrize("K", [2, 3, 10, 40])
@pytest.mark.parametrize("times", [1, 7, 1000])
def test_2_8_counts_are_within_six_times_a_radius_that_is_not_rounded(K: int, times: int) -> None:
    """Also where 6 sqrt(N ln(1/delta)) is just below a whole number, and so near 0 that no count but N-bar is left."""
    for N in (10 * K * K * times + r for r in (0, 1, K - 1)):
        mean = -(-N // K)
        for room in (0, *range(1, 40), *np.unique(np.geomspace(40, 6 * N**0.5, 40).astype(int)).tolist()):
            least = -np.expm1(-(((room + 1) / 6) ** 2) / N)  # of 1 - delta, where the next count comes within reach
            inside = binom.cdf(mean + room, N, 1 / K) - binom.cdf(mean - room - 1, N, 1 / K)
            assert inside >= least - 1e-12


@pytest.mark.parametrize("K", [2, 3, 4, 7])
def test_2_8_the_mean_count_itself_is_likely_enough_in_rational_arithmetic(K: int) -> None:
    for N in range(10 * K * K, 10 * K * K + K):
        q, r = divmod(N, K)
        mean, mode = -(-N // K), (N + 1) // K

        def chance(k: int, N: int = N) -> Fraction:
            return Fraction(comb(N, k) * (K - 1) ** (N - k), K**N)

        assert chance(mode) == max(chance(k) for k in range(mode - 3, mode + 4))
        assert (mean == mode) is (r in (0, K - 1))
        if mean != mode:
            assert chance(q + 1) / chance(q) == Fraction(q * (K - 1) + r, (q + 1) * (K - 1)) >= Fraction(20, 21)
        assert chance(mean) ** 2 > Fraction(1, 16 * N)
        assert chance(mean) >= Fraction(1, N)


@pytest.mark.parametrize(("M", "eta"), [(1000, 0.999), (5000, 0.5), (10**6, 0.01)])
def test_2_8_shares_along_the_recursion(M: int, eta: float) -> None:
    """Sums p = 1/g*, their steps, and late ones, in many digits."""
    star = precise_star(400, M, eta)
    p = [M - 1 + mp.exp(x) for x in star]
    steps = [after - before for before, after in pairwise(p)]
    assert all(0 < step <= (mp.e - 1) * M * mp.mpf(eta) for step in steps)
    x_1 = zeros(M)[1]
    assert all(mp.exp(star[k]) >= mp.mpf("0.5") * M * eta * k for k in range(401) if eta * k >= 8 * x_1)
    assert eta < 0.1 or eta * 400 >= 8 * x_1
    for k in (0, 1, 5, 100, 399):
        for m in (1, 50, 200, 400):
            assert abs(p[m] / p[k] - 1) <= (mp.e - 1) * mp.mpf(eta) * abs(k - m) * M / p[k]


def test_2_8_the_numbers() -> None:
    assert 6 * (mp.e - 1) < mp.mpf("10.4") < 6 * mp.mpf("1.74")
    assert 30 * (mp.e - 1) < 52
    assert 40 * mp.log(2) > mp.mpf("0.2") ** 2  # y + 1 <= 6 y
    assert 2 * mp.mpf("1.317") + 1 / mp.sqrt(40) <= mp.mpf("2.8")
    assert mp.mpf(20) / 21 * mp.mpf("0.75") / mp.mpf("2.8") > mp.mpf(1) / 4 >= 1 / mp.sqrt(40)
    assert mp.mpf("0.105") ** 2 < mp.mpf("0.0111") < 2 * mp.mpf("0.006")
    assert mp.log(10**4) > mp.mpf("9.21") > 1 / mp.mpf("0.1086")
    assert mp.mpf("0.1") / mp.mpf("9.21") < mp.mpf("0.0109")
    assert 2 * (mp.mpf("0.1086") + mp.mpf("0.1") + mp.mpf("0.0109")) < mp.mpf("0.44")
    for M, eta in ((1000, 0.999), (1000, 0.02), (10**12, 0.5)):
        for inverse in (10, 100, 1e7):
            order = mp.mpf(inverse) / eta * mp.log(M * inverse)
            assert 2 * mp.ceil((inverse + mp.log(M * inverse)) / eta) < mp.mpf("0.44") * order


@pytest.mark.parametrize("K", [2, 3, 17, 300])
def test_2_8_with_delta_much_less_than_n_bar_a_count_of_half_the_mean_is_rare(K: int) -> None:
    """At the least delta that N allows; and below (1-1/K)^N, where it is not so, Delta is not less than N-bar."""
    for N in (10 * K**2, 10 * K**2 + 1, 13 * K**2 - 1, 10**3 * K**2, 10**9 * K**2):
        mean = -(-N // K)
        evidence = mp.mpf(mean // 10) ** 2 / N  # Delta <= N-bar/10
        assert mp.log(K) - mp.mpf(N) / (8 * K) <= -evidence
        unlikely = -N * mp.log1p(mp.mpf(-1) / K)
        assert mp.ceil(mp.sqrt(N * unlikely)) >= mean


# 8. What the source prints, beside what is proved


@pytest.mark.parametrize("M", [1000, 10**4, 10**15])
def test_8_1_after_one_step(M: int) -> None:
    x_0, x_1 = zeros(M)
    L = mp.log(M)
    omega_0 = 1 + mp.log(x_0) / L
    assert omega_0 < 4 / ((M - 1) * L) < mp.mpf("0.0006")
    assert mp.power(M, omega_0 - 1) < mp.power(M, mp.mpf("-0.99"))
    for eta in (10 * mp.power(M, mp.mpf("-0.99")), mp.mpf("0.3"), mp.mpf("0.999")):
        x = precise_logit(1, M, eta)
        assert mp.expm1(x) <= (mp.e - 1) * x
        assert mp.mpf("0.999") * eta < M / (M + mp.e - 2) * eta <= x <= eta
        assert eta > 10 * x_0
        assert x_0 < x < 1 < x_1


@SIZES
def test_8_2_the_share_falls(M: int, eta: float) -> None:
    for s in (mp.mpf("0.3"), mp.mpf(4), mp.mpf(1000)):
        x = precise_logit(s, M, eta)
        g = 1 / (M - 1 + mp.exp(x))
        slope = -M * mp.exp(x) * g**2 * eta * g
        step = s * mp.mpf(10) ** -15
        near = [1 / (M - 1 + mp.exp(precise_logit(time, M, eta))) for time in (s - step, s + step)]
        assert abs((near[1] - near[0]) / (2 * step * slope) - 1) < 1e-20
        assert -slope <= g * M / (M - 1) * eta / 4
    g = 1 / (2 * mp.mpf(M - 1))  # where exp(x) = M - 1
    assert abs(M * (M - 1) * g**3 * eta - g * M / (M - 1) * mp.mpf(eta) / 4) < 1e-45


def test_8_3_two_radii_are_enough() -> None:
    for delta in (0.5, 0.1, 1e-9):
        assert mp.log(2 / mp.mpf(delta)) <= 2 * mp.log(1 / mp.mpf(delta)) + 1e-50
    for K in (2, 3, 7, 40):
        for N in range(10 * K * K, 10 * K * K + 4):
            b, mean = (N + 1) // K, -(-N // K)
            chances = binom.pmf(np.arange(N + 1), N, 1 / K)
            assert chances[b] == pytest.approx(chances.max(), rel=1e-9, abs=0)
            assert 0 <= mean - b <= 1
            assert abs(b - N / K) <= 1
            L = int(np.ceil(np.sqrt(2 * N * (1 - 1 / K) / K))) + 1
            assert chances[max(b - L, 0) : b + L + 1].sum() >= 0.5
            assert np.sqrt(2 * N) + 5 >= 2 * L + 1
            for delta in (0.5000001, 0.6, 0.9, 0.99, 1 - 1 / N, 1 - 1e-9, 0.3, 0.01, 1e-6):
                radius, p = int(np.ceil(np.sqrt(N * np.log(1 / delta)))), 1 - delta
                if delta > 0.5:
                    assert radius**2 >= N * p * (1 - 1e-6)
                    assert 10 * p <= 2 * radius - 1
                    assert 2 * p * (np.sqrt(2 * N) + 5) <= 4 * radius - 1
                inside = chances[max(mean - 2 * radius, 0) : mean + 2 * radius + 1].sum()
                assert inside >= p - 1e-12


def test_8_4_a_completion_that_leans_on_a_feature() -> None:
    rng = np.random.default_rng(3)
    F, _ = np.linalg.qr(rng.normal(size=(5, 3)))
    F[:, :2] += 0.1 * F[:, [1, 0]]
    f, u = F[:, :2], F[:, 2] - F[:, :2] @ np.linalg.lstsq(F[:, :2], F[:, 2], rcond=None)[0]
    W = rng.normal(size=(2, 4))
    Y = f @ np.linalg.inv(f.T @ f) @ W
    assert pytest.approx(W, rel=1e-12, abs=1e-12) == f.T @ Y
    assert u @ Y == pytest.approx(np.zeros(4), abs=1e-12)
    assert (f[:, 0] / 2 + u) @ Y == pytest.approx(W[0] / 2, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize(("K", "seed"), [(2, 0), (3, 0), (4, 1)])
def test_8_6_what_is_left_beside_E_prime(K: int, seed: int) -> None:
    M = 10**6
    E = weakly_correlated_dataset(K=K, M=M, seed=seed).overlap.E
    largest = np.abs(np.linalg.eigvalsh(E)).max()
    E_prime = np.eye(K) - np.linalg.inv(np.eye(K) + E)
    assert np.abs(E_prime).max() <= np.linalg.norm(E_prime, 2) <= largest / (1 - 1 / K) < 1 / (K - 1)
    q_1, q_0 = M / (M - 1), -M / (M - 1) ** 2
    grown = np.random.default_rng(seed).uniform(0, 2, K)
    delta_1 = np.abs(q_1 * grown - 1).max()
    for n in range(K):
        v = grown * np.where(np.arange(K) == n, q_1, q_0)
        weights = (np.eye(K) - E_prime) @ v
        others = [k for k in range(K) if k != n]
        rest = {j: sum(grown[k] * E_prime[k, j] for k in others) for j in range(K)}
        delta_2 = -q_0 * rest[n]
        assert weights[n] == pytest.approx((1 - E_prime[n, n]) * q_1 * grown[n] + delta_2, rel=1e-12, abs=0)
        assert abs(delta_2) <= 2 * -q_0 * (1 + delta_1)
        for j in others:
            delta_3 = -q_0 * (grown[j] - rest[j])
            assert -weights[j] == pytest.approx(E_prime[n, j] * q_1 * grown[n] + delta_3, rel=1e-9, abs=1e-15)
            assert max(abs(delta_3), -q_0 * abs(grown[j] + rest[j])) <= 2 * -q_0 * (1 + delta_1)
    assert 2 * mp.mpf("1.3") * mp.mpf(1000) ** 2 / 999**2 < mp.mpf("2.61") < 3
    assert "$2.6\\frac{M^2}{(M-1)^2}\\lt2.61\\lt3$" in PAGE


@pytest.mark.parametrize("M", [5, 1000, 10**9])
def test_8_8_and_8_9_B_beside_eq_14(M: int) -> None:
    K, eta_Y, eta_Z, C0 = 3, mp.mpf("0.3"), mp.mpf("0.02"), mp.mpf(50)
    A = 2 * K * mp.mpf(M - 1) ** 2 / (C0 * M**2) * eta_Z / eta_Y
    for y in (mp.mpf("0.01"), mp.log(M) / 2, mp.log(M)):
        x, t = precise_logit(y, M, 1.0), K * y / eta_Y
        assert y - mp.expm1(y) / M <= x <= y
        assert abs(A * (y * M / (M - 1)) ** 2 - 2 * eta_Y * eta_Z * t**2 / (K * C0)) < 1e-45
        if t >= 1:
            assert mp.sqrt(1 + A * x**2) <= (1 + mp.sqrt(A) * eta_Y / K) * t
    x_1 = zeros(M)[1]
    x = precise_logit(2 * x_1, M, 1.0)
    assert mp.log(M * x_1) <= x <= mp.log(2 * M * x_1)
    for L in (4 * mp.log(M) + 30, 4 * mp.log(M) + 90):
        x = precise_logit(mp.exp(L) / M, M, 1.0)
        assert L + mp.log(1 - M * L * mp.exp(-L)) <= x <= L
        B = mp.log(1 + A * x**2) / 4
        assert abs(B - (mp.log(L) / 2 + mp.log(A) / 4)) < 1 / (4 * A * x**2) + (L - x) / x
    u = mp.mpf(10) ** 9
    B, nu = u / 2 + mp.log(A) / 4, eta_Y / eta_Z
    assert abs(B / (u / 2 + mp.log(A * C0) / 4) - 1) < 1e-8
    assert abs(B / (u - mp.log(nu / K)) - mp.mpf(1) / 2) < 1e-8


def test_8_8_how_far_from_one_C0_is_seen_to_be() -> None:
    for M in (1000, 10**5):
        for y in (mp.mpf("0.0107"), mp.mpf("0.5"), mp.mpf(1)):
            assert mp.mpf(M) / (M - 1) / (1 - mp.expm1(y) / (M * y)) < 1 + mp.mpf(3) / M
        assert mp.exp(2 * mp.log(1 + mp.mpf(3) / M)) < 1 + mp.mpf(7) / M
        x_1 = zeros(M)[1]
        ratio = mp.log(2 * M * x_1) / mp.log(M * x_1)
        assert ratio < mp.mpf("1.0761")
    assert mp.mpf("1.0761") ** 2 < mp.mpf("1.16")
    assert "below $1.0761$" in PAGE
