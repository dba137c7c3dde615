"""Lemma 18: chances by sums and by draws."""

from math import comb, log, sqrt

import numpy as np
from scipy.stats import binomtest

from marginaudit.reports.snap.claims.lemma18 import misses
from tests.reports.snap.samples import run


def test_chances_are_sums_of_binomial_terms() -> None:
    missed, delta = misses(run("snap-single"))
    seen = 0
    for name, value, radius, d in zip(missed.label, missed.value, missed.radius, delta, strict=True):
        n = int(name.rsplit(" = ", 1)[1])
        if "P(l|n) = 0.2," not in name or n > 30:
            continue
        room = sqrt(log(2 / d) / 2 / n)
        terms = [comb(n, k) * 0.2**k * 0.8 ** (n - k) for k in range(n + 1) if abs(k / n - 0.2) > room]
        assert abs(value - sum(terms)) <= radius + 1e-12
        assert radius <= 1e-8
        seen += 1
    assert seen == 7 * 30


def test_chances_are_those_of_draws() -> None:
    """A million lengths of 40 tokens, at the level 1e-6 (Clopper and Pearson)."""
    missed, _ = misses(run("snap-single"))
    entry = missed.label.index("delta = 0.5, P(l|n) = 0.3, T - 1 = 25")
    q = np.random.default_rng(1).binomial(25, 0.3, size=1_000_000) / 25
    outside = int((np.abs(q - 0.3) > sqrt(log(4) / 50)).sum())
    interval = binomtest(outside, 1_000_000).proportion_ci(1 - 1e-6, method="exact")
    assert interval.low < missed.value[entry] < interval.high
