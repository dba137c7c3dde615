"""Runs on the built-in classes and on others."""

from functools import cache
from typing import Any

from marginaudit.orders.snap import CASES, SequenceClasses
from marginaudit.reports.snap import ClassConfig, ClassRun

NAMES = ("snap-single", "snap-symmetric", "snap-medium")


@cache
def run(case: str) -> ClassRun:
    """A built-in case, trained once."""
    return ClassRun(CASES[case]())


def single(**settings: Any) -> ClassRun:
    """A run of two classes."""
    return on(CASES["snap-single"](), **settings)


def on(dataset: SequenceClasses, **settings: Any) -> ClassRun:
    """A run of these classes."""
    return ClassRun(dataset, ClassConfig(**settings))
