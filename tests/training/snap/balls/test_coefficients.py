"""SGD on Y = F A in balls against whole matrices in float64."""

import flint
import numpy as np
import pytest

from marginaudit.orders.snap import CASES
from marginaudit.training.snap.balls.coefficients import bits_a_step, descended, errors, gradients
from marginaudit.training.snap.limit.fluctuation import fluctuation
from marginaudit.training.snap.limit.overlap import overlap
from tests.training.snap.dense import features, gradient, padded, sgd


def test_y_is_that_of_the_whole_matrix() -> None:
    M, K, eta = 12, 3, 0.9
    F = features(seed=5, tokens=9, K=K)
    sequence = np.array([0, 1, 1, 2, 0, 1])
    A = descended(overlap(F), sequence, M, eta)
    dense = np.linalg.pinv(padded(F, M)) @ sgd(F, sequence, M, eta, modified=True)[-1]
    found = [[float(A[n, j].mid()) for j in range(K + 1)] for n in range(K)]
    np.testing.assert_allclose(found, dense[:, : K + 1], atol=1e-13)
    assert all(A[n, j].rad() < 1e-30 for n in range(K) for j in range(K + 1))


def test_the_gradient_of_balls_is_that_of_the_whole_matrix() -> None:
    M, K, eta = 12, 3, 0.9
    F = features(seed=5, tokens=9, K=K)
    own, sequence = overlap(F), [0, 1, 1, 2, 0, 1]
    at = fluctuation([np.bincount(sequence, minlength=K)], M, eta)
    Y = sgd(F, sequence, M, eta, modified=True)[-1]
    found = gradients(own, at.rows.h[0], at.mean.M)
    for n in range(K):
        truth = np.linalg.pinv(padded(F, M)) @ gradient(Y, F, n)
        np.testing.assert_allclose([float(found[k, n].mid()) for k in range(K)], truth, atol=1e-13)


def test_the_last_column_stands_for_the_other_tokens() -> None:
    row = [flint.arb(x) for x in (1, 0, -1)]
    powers = np.exp([1.0, 0.0, -1.0])
    for M in (7, 3, 2):
        total = powers[:2].sum() + (M - 2) * powers[2]
        found = [float(x.mid()) for x in errors(row, 1, M)]
        rest = powers[2] if M > 2 else 0.0
        np.testing.assert_allclose(found, [-powers[0] / total, 1 - powers[1] / total, -rest / total], rtol=1e-12)


def test_a_step_widens_balls_by_the_condition_of_the_overlap() -> None:
    E = 0.28193634710905369
    found = bits_a_step(overlap(CASES["snap-single"]().overlap.F), 0.5)
    assert found == pytest.approx(np.log2(2 + 2 * (1 + E) / (1 - E)), rel=1e-12, abs=0)
