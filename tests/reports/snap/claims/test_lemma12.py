"""Lemma 12: chances of theta beyond its bounds against draws and sums over all counts."""

from math import comb, log, sqrt

import numpy as np
import pytest

from marginaudit.orders.snap import CASES
from marginaudit.reports.snap.binomial import LEVELS
from marginaudit.reports.snap.claims.lemma12 import (
    beyond_continuous,
    beyond_rederived,
)
from marginaudit.training.snap.limit.continuous import continuous
from marginaudit.training.snap.limit.recursion import h_star
from tests.reports.snap.samples import on


@pytest.mark.parametrize("eta", [0.5, 1.0])
def test_the_chance_beyond_the_rederived_bound_is_a_sum_over_all_counts(eta: float) -> None:
    """One class's chance lies in the bar, and so does twice it, at the first N: 40, of 2 classes."""
    found = beyond_rederived(on(CASES["snap-single"](), lr_y=eta)).missed
    k = np.arange(41)
    star, mean = h_star(k, 5000, eta).level, continuous([20.0], 5000, eta)
    theta = np.abs(star.h.value / mean.h.value[0] - 1)
    L = np.exp(eta) / 2 * np.log((4999 + np.exp(star.logit.value[40])) / 5000)
    for delta in LEVELS:
        beyond = theta > (sqrt(20 * log(4 / delta)) + 1 + L) / 20
        chance = sum(comb(40, int(j)) for j in k[beyond]) / 2**40
        entry = found.label.index(f"delta = {delta:g}, N = 40")
        assert found.value[entry] - found.radius[entry] <= chance * (1 + 1e-8)
        assert found.value[entry] + found.radius[entry] >= 2 * chance * (1 - 1e-8)
        assert found.value[entry] + found.radius[entry] <= 2.5 * chance


@pytest.mark.parametrize("eta", [0.02, 0.5])
def test_the_chance_beyond_the_printed_bound_is_a_sum_over_all_counts(eta: float) -> None:
    """At the first N, 40, of 2 classes."""
    found = beyond_continuous(on(CASES["snap-single"](), lr_y=eta)).missed
    k = np.arange(41)
    h = continuous(k.astype(float), 5000, eta).h.value
    theta = np.abs(h / h[20] - 1)
    for delta in LEVELS:
        beyond = theta > 2 / sqrt(40) * sqrt(log(2 / delta))
        chance = sum(comb(40, int(j)) for j in k[beyond]) / 2**40
        entry = found.label.index(f"delta = {delta:g}, N = 40")
        assert found.value[entry] - found.radius[entry] <= chance * (1 + 1e-8)
        assert found.value[entry] + found.radius[entry] == pytest.approx(min(2 * chance, 1), rel=1e-6, abs=0)
