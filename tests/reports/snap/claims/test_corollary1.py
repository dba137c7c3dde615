"""Corollary 1: the chance of sigma beyond its bounds as a sum over all counts."""

from math import log, sqrt

import numpy as np
import pytest
from scipy.special import lambertw
from scipy.stats import binom

from marginaudit.orders.snap import CASES
from marginaudit.reports.snap import ClassConfig, ClassRun
from marginaudit.reports.snap.claims.corollary1 import sigma_beyond
from marginaudit.reports.snap.mean_counts import enough
from marginaudit.training.snap.limit.continuous import continuous
from marginaudit.training.snap.limit.recursion import h_star


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("eta", [0.5, 3.0])
def test_the_chance_of_a_sigma_beyond_its_bound_is_a_sum_over_all_counts(late: bool, eta: float) -> None:
    """Of 2 classes, at every N up to 250 at which it is spoken; and the bounds themselves, without chance."""
    data = CASES["snap-single"]()
    run = ClassRun(data, ClassConfig(lr_y=eta))
    found = sigma_beyond(run, late=late)
    assert (found.missed.upper <= found.delta).all()
    x_1 = -float(lambertw(-1 / 4999, -1).real)
    least: dict[float, float] = {}
    seen = 0
    for entry, label in enumerate(found.missed.label):
        delta, N = (float(x) for x in label.replace("delta = ", "").split(", N = "))
        mean = -(-int(N) // 2)
        room = sqrt(N / 2 * log(2 / delta)) + 1
        assert not late or (room <= 0.3 * mean and eta * mean >= 2 * x_1)
        least.setdefault(delta, N)
        if N > 250:
            continue
        k = np.arange(int(N) + 1)
        star, at = h_star(k, 5000, eta).level, continuous([float(mean)], 5000, eta)
        L = np.exp(eta) / 2 * np.log((4999 + np.exp(star.logit.value[-1])) / 5000)
        sigma = np.abs(star.share.value / at.share.value[0] - 1)
        bound = 5 * (room + L) / mean if late else eta * (room + L)
        near = np.abs(k - mean) <= room
        assert (sigma[near] <= bound).all()
        chance = binom.pmf(k[sigma > bound], int(N), 0.5).sum()
        assert abs(found.missed.value[entry] - chance) <= found.missed.radius[entry] * (1 + 1e-6) + 1e-15
        seen += 1
    assert seen > 2
    for delta, first in least.items() if late else ():
        earlier = [N for N in enough(run).tolist() if first > N and eta * -(-N // 2) >= 2 * x_1]
        assert not any(sqrt(N / 2 * log(2 / delta)) + 1 <= 0.3 * -(-N // 2) for N in earlier), "none is left out"
