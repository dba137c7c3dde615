"""Theorem 5: theta's bound by the binomial law, and what is drawn once."""

from math import ceil, log, sqrt
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from marginaudit.claims.snap import ClassConfig, ClassRun
from marginaudit.claims.snap.appendix_d4_sampled_classes.corollary1 import COROLLARY1
from marginaudit.claims.snap.appendix_d4_sampled_classes.theorem5 import THEOREM5, explicit
from marginaudit.orders.snap import CASES
from marginaudit.training.snap.balls.coefficients import descended
from marginaudit.training.snap.counts.drawn import class_counts
from tests.claims.snap.samples import run
from tests.training.snap.growth import precise_star


@pytest.mark.parametrize("eta_Y", [0.5, 7.0, 100.0])
@pytest.mark.parametrize(("M", "N"), [(3, 1), (3, 7), (50, 40), (5000, 101)])
def test_the_rederived_bound_by_the_binomial_law(M: int, N: int, eta_Y: float) -> None:
    """Of two classes, one has k steps and the other N - k; the recursion in 60 digits."""
    star, mean = precise_star(N, M, eta_Y), ceil(N / 2)
    theta = [max(abs(star[s] / star[mean] - 1) for s in (k, N - k)) for k in range(N + 1)]
    for delta in (0.5, 0.1, 0.01):
        bound = float(explicit(delta)(run("snap-single", seeds=1000), np.array([float(N)]))[0])
        assert bound == pytest.approx((sqrt(N / 2 * log(4 / delta)) + 1) / mean, rel=1e-14, abs=0)
        missed = sum(binom.pmf(k, N, 0.5) for k in range(N + 1) if theta[k] > bound)
        assert missed <= delta


def test_what_every_part_is_measured_on_is_drawn_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = {"counts": 0, "descended": 0}

    def counted(name: str, function: Any) -> Any:
        def call(*arguments: Any) -> Any:
            calls[name] += 1
            return function(*arguments)

        return call

    room = "marginaudit.claims.snap.appendix_d4_sampled_classes"
    monkeypatch.setattr(f"{room}.quantiles.class_counts", counted("counts", class_counts))
    monkeypatch.setattr(f"{room}.decoder.descended", counted("descended", descended))
    on = ClassRun(CASES["snap-single"](), ClassConfig(steps=10**6, seeds=20))
    for claim in (THEOREM5, COROLLARY1):
        claim.judge(on)
    assert calls == {"counts": 1, "descended": 1}
