"""Section 8 of docs/proofs-snap.md: what the source prints, beside what is proved."""

from typing import Any

import mpmath as mp
import numpy as np
import pytest
from scipy.stats import binom

from marginaudit.orders.snap import weakly_correlated_dataset
from tests.snap_proof_growth import PAGE, SIZES, zeros
from tests.training.snap.growth import DIGITS, precise_logit


@pytest.fixture(autouse=True)
def digits() -> Any:
    with mp.workdps(DIGITS):
        yield


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
