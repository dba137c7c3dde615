"""Beta and xi against the gradient of the whole matrix, and what is printed against both."""

from collections.abc import Iterator

import mpmath
import numpy as np
import pytest
from numpy.typing import NDArray

from marginaudit.training.snap.counts.drawn import class_sequences
from marginaudit.training.snap.limit.backpropagated import backpropagated, zeta_products
from marginaudit.training.snap.limit.fluctuation import continuous_fluctuation, fluctuation, stepped_fluctuation
from marginaudit.training.snap.limit.overlap import overlap
from tests.training.snap.dense import counts_of, features, gradient, padded, sgd
from tests.training.snap.growth import DIGITS, precise_logit, precise_star, within

M, K, ETA = 12, 4, 0.9
F = features(seed=5, tokens=9, K=K)
OVERLAP = overlap(F)
OFF = ~np.eye(K, dtype=bool)


def runs(steps: list[int]) -> Iterator[tuple[NDArray[np.float64], NDArray[np.int64]]]:
    """Whole matrices and counts after each of the steps, on three sequences."""
    for sequence in class_sequences(max(steps), [0.4, 0.3, 0.2, 0.1], seeds=3, entropy=0):
        yield sgd(F, sequence, M, ETA, modified=True)[steps], counts_of(sequence, steps, K)


def test_the_gradient_is_that_of_the_whole_matrix() -> None:
    for dense, counts in runs([3, 25, 80]):
        found = backpropagated(OVERLAP, fluctuation(counts, M, ETA))
        for record, Y in enumerate(dense):
            truth = np.array([gradient(Y, F, n) for n in range(K)])
            coefficients = truth @ np.linalg.pinv(padded(F, M)).T / found.gamma.value[record]
            np.testing.assert_allclose(-found.beta.value[record][OFF], coefficients[OFF], atol=1e-12)
            xi = -found.gamma.value[record] * ((coefficients * OFF) * (F.T @ F)).sum(axis=1)
            np.testing.assert_allclose(found.xi.value[record], xi, atol=1e-13)


def test_bars_hold_against_high_precision() -> None:
    sequence = class_sequences(40, [0.4, 0.3, 0.2, 0.1], seeds=1, entropy=4)[0]
    counts = np.bincount(sequence, minlength=K)
    found = backpropagated(OVERLAP, fluctuation(counts, M, ETA))
    with mpmath.workdps(DIGITS):
        x = precise_logit(-(-40 // K), M, ETA)
        gamma = mpmath.mpf(M - 1) ** 2 * x / M / (M - 1 + mpmath.exp(x))
        assert within(found.gamma, [gamma]) <= 1
        # E as float64 holds it, with a diagonal of exactly 0
        E = mpmath.matrix(OVERLAP.E.tolist())
        dual = (mpmath.eye(K) + E) ** -1
        rows = precise_rows(sequence)
        beta, xi = [], []
        for n in range(K):
            powers = [mpmath.exp(y) for y in rows[n]]
            error = [(j == n) - powers[j] / mpmath.fsum(powers) for j in range(M)]
            products = [mpmath.fsum(row[j] * error[j] for j in range(M)) for row in rows]
            weights = [mpmath.fsum(dual[k, i] * products[i] for i in range(K)) for k in range(K)]
            beta += [-w / gamma for w in weights]
            xi.append(-mpmath.fsum(weights[k] * E[n, k] for k in range(K)))
        assert within(found.beta, beta) <= 1
        assert within(found.xi, xi) <= 1
    assert (found.xi.error < 1e-13).all()
    assert (found.beta.error < 1e-12).all()


def precise_rows(sequence: NDArray[np.int64]) -> list[list[mpmath.mpf]]:
    """W = F^T Y of SGD with the modified gradient: each row by itself is softmax regression (eq. 8)."""
    rows = [[mpmath.mpf(0)] * M for _ in range(K)]
    for n in sequence:
        powers = [mpmath.exp(y) for y in rows[n]]
        total = mpmath.fsum(powers)
        rows[n] = [y + mpmath.mpf(ETA) * ((j == n) - powers[j] / total) for j, y in enumerate(rows[n])]
    return rows


def test_theta_about_the_steps_of_the_mean() -> None:
    counts, star = np.array([9, 2, 0, 5]), precise_star(9, M, ETA)
    found = stepped_fluctuation(counts, M, ETA)
    with mpmath.workdps(DIGITS):
        assert within(found.theta, [star[N] / star[4] - 1 for N in counts.tolist()]) <= 1
        shares = [1 / (M - 1 + mpmath.exp(x)) for x in star]
        assert within(found.sigma, [shares[N] / shares[4] - 1 for N in counts.tolist()]) <= 1
    for law in (fluctuation, continuous_fluctuation, stepped_fluctuation):
        with pytest.raises(ValueError, match=r"^counts: got no step"):
            law([0, 0], M, ETA)


def test_products_of_zeta() -> None:
    zeta = (np.eye(M)[:3] - 1 / M) * M / (M - 1)
    found = zeta_products(M, 3)
    np.testing.assert_allclose(found.value, zeta @ zeta.T, rtol=1e-14)
    assert within(found, [x for row in exact_products(3) for x in row]) <= 1


def exact_products(K: int) -> list[list[mpmath.mpf]]:
    with mpmath.workdps(DIGITS):
        m = mpmath.mpf(M)
        return [[m / (m - 1) if i == j else -m / (m - 1) ** 2 for j in range(K)] for i in range(K)]
