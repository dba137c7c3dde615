"""Runs of built-in cases and of one class with a given M, and numbers against enclosures."""

from functools import cache
from typing import Any

import mpmath

from marginaudit.orders.snap import CASES, SequenceClasses, weakly_correlated_dataset
from marginaudit.reports.series import Series
from marginaudit.reports.snap import ClassConfig, ClassRun
from tests.training.snap.growth import DIGITS


@cache
def run(case: str = "snap-single", **config: Any) -> ClassRun:
    data = weakly_correlated_dataset(K=4, M=5000, seed=0) if case == "random" else CASES[case]()
    return ClassRun(data, ClassConfig(**{"steps": 10**18, **config}))


def small(M: int, **config: Any) -> ClassRun:
    data = SequenceClasses.from_weights("small", M, [("n", "q", {"n": 1.0})])
    return ClassRun(data, ClassConfig(**{"steps": 10**18, **config}))


def contains(found: Series, truth: Any) -> None:
    with mpmath.workdps(DIGITS):
        for value, radius, true in zip(found.value, found.radius, truth, strict=True):
            assert abs(mpmath.mpf(float(value)) - true) <= mpmath.mpf(float(radius))
