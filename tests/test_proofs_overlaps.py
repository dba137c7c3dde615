"""Steps and numbers of docs/proofs-snap.md on overlaps, attention and the constants beside the printed statements."""

from fractions import Fraction
from itertools import combinations
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from scipy.optimize import root
from scipy.stats import binom

from marginaudit.orders.snap import overlap_of, weakly_correlated_dataset
from marginaudit.training.approximation import Approximation
from marginaudit.training.snap.attention.logits import Logits
from marginaudit.training.snap.attention.path import follow, turned
from marginaudit.training.snap.attention.rates import mean_counts, rates
from marginaudit.training.snap.limit.continuous import continuous
from tests.test_proofs_snap import PAGE
from tests.training.snap.growth import DIGITS, precise_logit, precise_star, zeros


@pytest.fixture(autouse=True)
def digits() -> Any:
    with mp.workdps(DIGITS):
        yield


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


@pytest.mark.parametrize("M", [4, 5, 1000, 10**12])
@pytest.mark.parametrize("eta", [1e-3, 0.5, 20.0])
def test_2_3_late_shares(M: int, eta: float) -> None:
    x_1, share = zeros(M)[1], {}
    for factor in (1, 30):
        m = factor * 2 * x_1 / eta
        for part in ("0.7", "0.99", "1", "1.01", "1.3", "5"):
            power = mp.exp(precise_logit(mp.mpf(part) * m, M, eta))
            assert power >= mp.mpf(2) / 7 * M * mp.mpf(eta) * mp.mpf(part) * m
            share[part] = 1 / (M - 1 + power)
        for part, value in share.items():
            assert abs(value / share["1"] - 1) <= 5 * abs(mp.mpf(part) - 1)


@pytest.mark.parametrize("K", [2, 3, 50])
def test_2_3_a_class_that_is_never_drawn_needs_any_constant(K: int) -> None:
    M, eta, needed = 5000, 0.5, []
    for N in (10 * K * K * 10**4, 10 * K * K * 10**8):
        evidence = mp.log(2) + N * mp.log(mp.mpf(K) / (K - 1))  # ln(1/delta), delta = (1-1/K)^N/2
        mean = -(-N // K)
        ratio = mp.ceil(mp.sqrt(N * evidence)) / mean
        assert ratio <= K * mp.sqrt(mp.log(mp.mpf(K) / (K - 1)) + mp.log(2) / N) + mp.mpf(K) / N < 2 * K
        apart = mp.expm1(precise_logit(mean, M, eta)) / M
        assert apart >= mp.mpf(2) / 7 * mp.mpf(eta) * mean - mp.mpf(1) / M
        needed.append(apart / ratio)
    assert needed[1] > 9000 * needed[0]


@pytest.mark.parametrize(("K", "M", "eta"), [(2, 5, 0.5), (3, 1000, 1.0), (10, 10**6, 0.01)])
def test_2_6_so_many_steps_are_enough(K: int, M: int, eta: float) -> None:
    for epsilon in (0.9, 0.1, 1e-3):
        S = mp.ceil((1 / mp.mpf(epsilon) + mp.log(M / mp.mpf(epsilon))) / eta)
        left = mp.sqrt(mp.mpf(M) * (M - 1)) / (M - 1 + mp.exp(precise_logit(S, M, eta)))
        assert left <= epsilon
        for delta in (0.5, 1e-2, 1e-12):
            N = int(mp.ceil(K * max(2 * S, 8 * mp.log(K / mp.mpf(delta)))))
            assert K * binom.cdf(int(S) - 1, N, 1 / K) <= K * np.exp(-N / K / 8) <= delta * (1 + 1e-9)
    one = precise_star(1, M, eta)[0]
    assert one == 0  # of a class that was never drawn: sqrt(M (M-1))/M
    assert abs(mp.sqrt(mp.mpf(M) * (M - 1)) / M - mp.sqrt(1 - mp.mpf(1) / M)) < 1e-50


def weak_overlap(K: int, seed: int) -> Any:
    """E of random features with |lambda_1| < 1/K and no eigenvalue near 0."""
    rng = np.random.default_rng(seed)
    while True:
        C = np.hstack(
            [rng.exponential(size=(K, 6)) ** 3 * (rng.random((K, 6)) < 0.6) * rng.uniform(0.05, 1), np.eye(K)]
        )
        f = C / np.linalg.norm(C, axis=1, keepdims=True)
        E = f @ f.T - np.eye(K)
        np.fill_diagonal(E, 0)
        sizes = np.abs(np.linalg.eigvalsh(E))
        if 1e-4 < sizes.min() <= sizes.max() < 1 / K:
            return E


@pytest.mark.parametrize("K", [3, 4, 8])
@pytest.mark.parametrize("seed", range(5))
def test_3_4_how_uneven_counts_may_be(K: int, seed: int) -> None:
    E = weak_overlap(K, seed)
    values, inverse = np.abs(np.linalg.eigvalsh(E)), np.linalg.inv(np.eye(K) + E)
    E_prime, M = np.eye(K) - inverse, 36 / values.min() ** 2
    bound = 36 * K**2 / (K + 1) * np.sqrt(K - 1) * (M - 1) / M
    for n in range(K):
        e = np.linalg.norm(E[n])
        assert E_prime[n, n] == pytest.approx(-E[n] @ inverse @ E[n], rel=1e-9, abs=1e-14)
        assert -E_prime[n, n] >= K / (K + 1) * e**2
        below = np.minimum(np.delete(E_prime[n], n), 0).sum()
        assert below >= -e / np.sqrt(K - 1)
        assert bound < (M - 1) * K / (K + 1) * np.sqrt(K - 1) * e
        assert -(M - 1) * E_prime[n, n] + bound * below > 0


def test_3_4_the_numbers() -> None:
    assert 36 * 9 / 4 * np.sqrt(2) * 0.999 > 114 > 36
    assert 4 * np.log(4) - 3 >= 2.5
    assert 1 - 1 / 9 - np.log(9) / 9 >= 0.64
    for K in range(3, 50):
        assert K * (np.exp(-6.4 * K) + np.exp(-25 * K)) < 1.4e-8
    for mean in (10, 30, 300):  # Chernoff's bounds, K = 10
        assert binom.sf(4 * mean, 10 * mean, 0.1) <= np.exp(-2.5 * mean)
        assert binom.cdf(np.ceil(mean / 9) - 1, 10 * mean, 0.1) <= np.exp(-0.64 * mean)


@pytest.mark.parametrize("K", [2, 3, 6])
@pytest.mark.parametrize("seed", range(4))
def test_7_7_rows_that_add_up_to_one_at_most(K: int, seed: int) -> None:
    E = weak_overlap(K, seed)
    E_prime, M = np.eye(K) - np.linalg.inv(np.eye(K) + E), 36 * K * K
    assert E.sum(axis=1).max() < 1
    assert (E_prime.sum(axis=1) > 0).all()
    xi = M / (M - 1) * (-np.diag(E_prime) + (E_prime.sum(axis=1) - np.diag(E_prime)) / (M - 1))
    assert (xi >= (M / (M - 1)) ** 2 * -np.diag(E_prime)).all()


def test_7_8_one_common_token() -> None:
    for v in ([0.3, 0.5, 0.1], [1.0, 0.4, 0.6], [0.999, 0.001], [1.0, 0.5]):
        D, K = 1 - np.array(v) ** 2, len(v)
        E_prime = np.eye(K) - np.linalg.inv(np.diag(D) + np.outer(v, v))
        for n, k in combinations(range(K), 2):
            if v[0] == 1:
                expected = v[k] / D[k] if n == 0 else 0.0
            else:
                expected = v[n] * v[k] / (D[n] * D[k]) / (1 + sum(x * x / d for x, d in zip(v, D, strict=True)))
            assert E_prime[n, k] == pytest.approx(expected, rel=1e-9, abs=1e-15)
        if v[0] == 1:
            assert np.linalg.det(np.diag(D) + np.outer(v, v)) == pytest.approx(np.prod(D[1:]), rel=1e-12, abs=0)


def phi_with_G_and_S(C: Any, asked: Any) -> tuple[float, Any, Any]:
    """-ln det(I+E), its gradient G and S of section 7.9, shape (queries, tokens), at attention proportional to C."""
    f = C / np.linalg.norm(C, axis=1, keepdims=True)
    one_and_E = f @ f.T
    d = np.linalg.solve(one_and_E, f)
    G, S = np.zeros((asked.max() + 1, f.shape[1])), np.zeros((asked.max() + 1, f.shape[1]))
    np.add.at(G, asked, 2 * f * (f - d))
    np.add.at(S, asked, f * (d.sum(axis=0) - f))
    return -float(np.linalg.slogdet(one_and_E)[1]), G, S


@pytest.mark.parametrize("K", [2, 3, 5])
@pytest.mark.parametrize("seed", range(3))
def test_7_9_how_phi_moves(K: int, seed: int) -> None:
    data = weakly_correlated_dataset(K=K, M=10**4 * K * K, seed=seed, queries=2)
    logits = Logits(data)
    rng = np.random.default_rng(seed)
    z = rng.standard_normal(len(logits.names)) / 10
    Phi, G, S = phi_with_G_and_S(logits.attended(z), data.asked)
    for i in range(len(z)):
        one = 1e-5 * (np.arange(len(z)) == i)
        ahead, behind = (phi_with_G_and_S(logits.attended(at), data.asked)[0] for at in (z + one, z - one))
        assert (ahead - behind) / 2e-5 == pytest.approx(G[logits.pairs][i], rel=1e-4, abs=1e-9)
    level = continuous(np.array(50.0), data.M, 0.5)
    found = rates(logits, Approximation(z, np.zeros(len(z))), mean_counts(level, K))
    turned = float(found.gradient.gamma.value) * (data.M / (data.M - 1)) ** 2
    assert found.z_dot.value == pytest.approx((-turned * (G / 2 + S / data.M))[logits.pairs], rel=1e-8, abs=1e-15)
    E = found.overlap.E
    values = np.linalg.eigvalsh(E)
    if Phi < 0.51 / (K - 1):
        assert values.max() < 0.9 or K == 2
        assert E.sum(axis=1).max() < np.sqrt(0.969)
        assert np.linalg.norm(S) <= np.sqrt(2) * E.sum() <= 2 * np.sqrt(K)
        assert (E**2).sum() <= 3.8 * Phi


def test_7_9_the_numbers() -> None:
    assert 0.9 - np.log(1.9) > 0.51 / 2 == 0.255
    assert pytest.approx(0.969, rel=1e-12, abs=0) == 1.9 * 0.51
    assert 3.8 * 0.51 < 2
    for x in np.linspace(-0.99, 0.9, 1000):
        assert x - np.log1p(x) >= x * x / 3.8
        assert x - np.log1p(x) <= x * x / (2 * (1 - abs(x))) + 1e-15
    for K in (3, 4, 10, 1000):
        Phi = 0.51 / (K - 1)
        assert (K - 1) * 1.9 * -np.expm1(-Phi) < 0.969


def test_7_9_phi_stays_below_its_bound_and_rises_near_a_stationary_point() -> None:
    data = weakly_correlated_dataset(K=4, M=5000, seed=1)
    steps, eta_Y, eta_Z = np.array([1, 10**3, 10**6, 10**9]), 0.5, 0.3
    path = follow(data, turned(steps, 4, 5000, eta_Y, eta_Z).value)
    start = phi_with_G_and_S(path.logits.attended(np.zeros(len(path.logits.names))), path.logits.data.asked)[0]
    for t, z in zip(steps, path.z.value, strict=True):
        way = 4 * float(precise_logit(t / 4, 5000, eta_Y)) / 5000
        assert phi_with_G_and_S(path.logits.attended(z), path.logits.data.asked)[0] <= start + eta_Z / eta_Y * way**2
    D = np.array([[0.99, 0.003, 0.007], [0.006, 0.988, 0.006], [0.004, 0.009, 0.987]])
    for row in D:
        assert "&".join(f"{x:g}" for x in row) in PAGE
    assert D.sum(axis=0) == pytest.approx(1, rel=1e-12, abs=0)
    assert D.sum(axis=1) == pytest.approx(1, rel=1e-12, abs=0)
    _, G, S = phi_with_G_and_S(np.sqrt(D), np.zeros(3, dtype=int))
    assert np.abs(G).max() < 1e-14 < 1e-3 < np.abs(S).max()
    C = np.sqrt(D) * np.exp([0, 1e-5, 0])
    values = np.abs(np.linalg.eigvalsh(overlap_of(C / C.sum(axis=1, keepdims=True)).E))
    assert 6 / np.sqrt(4000) <= values.min() < values.max() < 1 / 3
    _, G, S = phi_with_G_and_S(C, np.zeros(3, dtype=int))
    assert (G * G).sum() / 2 + (G * S).sum() / 4000 < -1e-13


def test_7_9_phi_less_a_part_of_the_sum_of_the_inverse_rises_too() -> None:
    """L = Phi - 1^T B 1/M: near where its gradient is 0 the rest of eq. 10 is not, and L rises for one of two moves."""
    D, M = np.array([[0.99, 0.003, 0.007], [0.006, 0.988, 0.006], [0.004, 0.009, 0.987]]), 4000

    def at(z: Any) -> tuple[float, Any, Any]:
        C = np.sqrt(D) * np.exp(z)
        f = C / np.linalg.norm(C, axis=1, keepdims=True)
        d = np.linalg.solve(f @ f.T, f)
        s, Phi, G, _ = (np.linalg.inv(f @ f.T).sum(axis=1), *phi_with_G_and_S(C, np.zeros(3, dtype=int)))
        apart = f * (d.sum(axis=0) - f)
        gradient = G[0] + 2 / M * (s[:, None] * apart).sum(axis=0)
        return Phi - s.sum() / M, gradient, ((1 - s)[:, None] * apart).sum(axis=0)

    z = np.array([0.1, -0.2, 0.05])
    numeric = [(at(z + 1e-5 * e)[0] - at(z - 1e-5 * e)[0]) / 2e-5 for e in np.eye(3)]
    np.testing.assert_allclose(at(z)[1], numeric, rtol=1e-5)
    C = np.sqrt(D) * np.exp(z)
    _, G, S = phi_with_G_and_S(C, np.zeros(3, dtype=int))
    np.testing.assert_allclose(at(z)[1] / 2 + at(z)[2] / M, G[0] / 2 + S[0] / M, rtol=1e-12)

    def slope(x: Any) -> Any:
        return at(np.array([0.0, *x]))[1][1:]

    z = np.array([0.0, *root(slope, [0.0, 0.0], tol=1e-15).x])
    assert np.abs(at(z)[1]).max() < 1e-14 < 1e-3 < np.abs(at(z)[2]).max()
    _, gradient, rest = at(z - 1e-3 * at(z)[2])
    assert gradient @ gradient / 2 + gradient @ rest / M < -1e-13


def inverse_of(A: list[list[Fraction]]) -> list[list[Fraction]]:
    """By elimination, in rational arithmetic; A is positive definite."""
    K = len(A)
    rows = [[*row, *(Fraction(int(i == j)) for j in range(K))] for i, row in enumerate(A)]
    for i in range(K):
        rows[i] = [x / rows[i][i] for x in rows[i]]
        for j in range(K):
            if j != i:
                rows[j] = [x - rows[j][i] * y for x, y in zip(rows[j], rows[i], strict=True)]
    return [row[K:] for row in rows]


def xi_over_gamma_q_1(overlaps: dict[tuple[int, int], Fraction], K: int, n: int, M: int) -> Fraction:
    """-E'_nn + (1/(M-1)) sum of E'_nk (section 7.7, step 2)."""
    A = [
        [Fraction(int(i == j)) + overlaps.get((min(i, j), max(i, j)), Fraction(0)) for j in range(K)] for i in range(K)
    ]
    B = inverse_of(A)
    return B[n][n] - 1 - sum((B[n][k] for k in range(K) if k != n), Fraction(0)) / (M - 1)


def test_7_10_three_classes() -> None:
    values = [Fraction(x, 12) for x in range(12)]
    seen = []
    for a in values:
        for b in values:
            for c in values:
                D = 1 + 2 * a * b * c - a * a - b * b - c * c
                if D <= 0 or a + b == 0:
                    continue
                for M in (325, 10**9):
                    xi = xi_over_gamma_q_1({(0, 1): a, (0, 2): b, (1, 2): c}, 3, 0, M)
                    assert xi == (a * a + b * b - 2 * a * b * c + (a + b) * (1 - c) / (M - 1)) / D > 0
                seen.append(a + b)
    assert len(seen) > 500
    assert max(seen) > 1, "also where 7.7 says nothing"


def test_7_10_not_four_classes() -> None:
    """Overlaps 0.6, 0.6 and 0.0001 of one class with three others, which share nothing among each other."""
    hub = {(0, 1): Fraction(6, 10), (0, 2): Fraction(6, 10), (0, 3): Fraction(1, 10**4)}
    assert float(xi_over_gamma_q_1(hub, 4, 3, 1300)) == pytest.approx(-1.9e-8, rel=0.03, abs=0)
    assert xi_over_gamma_q_1(hub, 4, 3, 10**4) > 0
    assert -mp.log(1 - mp.mpf("0.72") - mp.mpf("1e-8")) == pytest.approx(1.27, abs=0.01, rel=0)
    assert "$0.6$, $0.6$ and $0.0001$" in PAGE
