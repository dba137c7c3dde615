"""Theorem 1 (b): its assumptions, and the constant at t_0."""

from functools import cache
from typing import Any

import mpmath
import numpy as np

from marginaudit.orders.snap import CASES, single_common_dataset, weakly_correlated_dataset
from marginaudit.reports.snap import ClassConfig, ClassRun
from marginaudit.reports.snap.claims import theorem1_b
from marginaudit.training.snap.attention import snap_start
from tests.training.snap.growth import precise_logit


@cache
def run(case: str = "snap-single", **config: Any) -> ClassRun:
    data = {
        "random": lambda: weakly_correlated_dataset(K=4, M=5000, seed=0),
        "large": lambda: single_common_dataset(K=5, M=10**9, seed=1),
    }.get(case, CASES.get(case))
    assert data is not None
    return ClassRun(data(), ClassConfig(**{"steps": 10**18, **config}))


def precise_gamma(t: Any, K: int, M: Any, eta_Y: float) -> Any:
    x = precise_logit(mpmath.mpf(t) / K, M, eta_Y)
    return (M - 1) ** 2 * x / M / (M - 1 + mpmath.exp(x))


def test_the_constants_at_the_start() -> None:
    found = theorem1_b.constants_at_start(run())
    assert found.step is not None
    assert (found.clock, found.step[-1] >= 1e3 * found.step[0]) == ("ln M", True)
    for at in (0, 30, 50):
        L = float(found.step[at])
        with mpmath.workdps(60 + int(L / 2.3)):
            M = mpmath.exp(mpmath.mpf(L))
            x1 = mpmath.findroot(lambda x, M=M: x - mpmath.log(x) - mpmath.log(M - 1), L + 2 * np.log(L))
            y = 2 * x1
            x = mpmath.findroot(lambda x, M=M, y=y: mpmath.log(mpmath.exp(x) + (M - 1) * x) - mpmath.log(M * y + 1), x1)
            true = (M - 1) ** 2 * x / M / (M - 1 + mpmath.exp(x)) * y / mpmath.log(y)
            assert abs(true - mpmath.mpf(float(found.value[at]))) <= float(found.radius[at])
            assert true >= 0.99 * L / (4 * L + 2) * 2 * L / np.log(4 * L)


def test_the_constant_of_this_run() -> None:
    for case, M in (("snap-single", 5000), ("large", 10**9)):
        y = snap_start(1, M, 1.0)
        constant = float(precise_gamma(y, 1, M, 1.0)) * y / np.log(y)
        assert f"At t_0 the constant is {constant:.4g} at this M" in theorem1_b.THEOREM1_B.judge(run(case)).detail
