"""Lemma 18: chances by sums and by draws."""

from math import comb, log, sqrt

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
