"""Runs on the built-in classes and on others, and values within bars."""

from functools import cache
from typing import Any

import numpy as np

from marginaudit.claims.series import Series
from marginaudit.claims.snap import ClassConfig, ClassRun
from marginaudit.orders.snap import CASES, SequenceClasses


@cache
def run(case: str = "snap-single", **settings: Any) -> ClassRun:
    """A built-in case, trained once."""
    return on(CASES[case](), **settings)


def single(**settings: Any) -> ClassRun:
    """A run of two classes."""
    return on(CASES["snap-single"](), **settings)


def small(M: int, **settings: Any) -> ClassRun:
    """A run of one class of a single token."""
    return on(SequenceClasses.from_weights("small", M, [("n", "q", {"n": 1.0})]), **settings)


def on(dataset: SequenceClasses, **settings: Any) -> ClassRun:
    """A run of these classes."""
    return ClassRun(dataset, ClassConfig(**settings))


def bars_are(found: Series, expected: Any) -> None:
    np.testing.assert_allclose(found.radius, np.broadcast_to(expected, found.radius.shape), rtol=1e-9, atol=0)
    assert (found.radius > 0).any()
