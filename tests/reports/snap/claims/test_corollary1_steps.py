"""Steps until residuals are small, by the recursion and the binomial law."""

from math import ceil, log

import numpy as np
import pytest
from scipy.stats import binom

from marginaudit.reports.snap.claims.corollary1_steps import epochs, steps_enough, steps_of_a_class, undrawn
from marginaudit.training.snap.limit.recursion import h_star
from tests.reports.snap.samples import run


def test_steps_of_a_class_by_the_recursion() -> None:
    for M, eta, epsilon in ((5000, 0.5, 0.1), (5000, 0.5, 1e-3), (1000, 0.999, 0.05), (10**6, 0.01, 0.01)):
        least, most = steps_of_a_class(np.array([M]), np.array([eta]), np.array([1 / epsilon]))
        around = np.arange(max(0, int(least[0]) - 2), int(most[0]) + 2)
        residual = np.sqrt(M * (M - 1)) * h_star(around, M, eta).level.share.value
        first = int(around[np.argmax(residual <= epsilon)])
        assert least[0] <= first <= most[0]
        assert most[0] - least[0] <= 15 + 0.02 * most[0]


def test_epochs_are_the_least() -> None:
    for K in (2, 3, 10):
        for S in (1, 7, 300):
            for delta in (0.5, 0.01, 1e-30):
                N = int(epochs(np.array([float(S)]), K, delta)[0])
                assert K * binom.cdf(S - 1, N, 1 / K) <= delta < K * binom.cdf(S - 1, N - 1, 1 / K)


def test_after_the_steps_that_corollary_1_names_a_class_is_undrawn_too_often() -> None:
    found = undrawn(run("snap-symmetric", seeds=1000))
    assert found.step is not None
    for N, evidence in zip(found.value[:3], found.step[:3], strict=True):
        assert (2 / 3) ** N > np.exp(-evidence) >= (2 / 3) ** (N + 1) * (1 - 1e-12)


def test_so_many_steps_are_enough_whatever_delta_is() -> None:
    found, bound = steps_enough(run("snap-symmetric", seeds=1000))
    assert (found.upper <= bound).all()
    entry = found.label.index("delta = 1e-06, epsilon = 0.01")
    assert bound[entry] == 3 * max(2 * ceil((100 + log(5e5)) / 0.5), 8 * log(3e6))
    entry = found.label.index("delta = 1e-30, epsilon = 0.1")
    assert bound[entry] == pytest.approx(3 * 8 * log(3e30), rel=1e-12, abs=0)
