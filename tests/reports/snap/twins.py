"""Runs on the built-in cases, and false twins of a claim, a part of it tightened just past what was measured."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from marginaudit.orders.snap import CASES, SequenceClasses
from marginaudit.reports.claim import Claim
from marginaudit.reports.judgements import Bounded, Equal
from marginaudit.reports.judgements.parts import Judging, Parts
from marginaudit.reports.series import Series
from marginaudit.reports.snap import ClassConfig, ClassRun

NAMES = ("snap-single", "snap-symmetric", "snap-medium")


@cache
def run(case: str) -> ClassRun:
    return ClassRun(CASES[case]())


def on(dataset: SequenceClasses, **settings: Any) -> ClassRun:
    return ClassRun(dataset, ClassConfig(**settings))


def parts(claim: Claim) -> Mapping[str, Judging]:
    assert isinstance(claim.judgement, Parts)
    return claim.judgement.parts


def with_part(claim: Claim, name: str, part: Judging) -> Claim:
    return replace(claim, judgement=Parts({**parts(claim), name: part}))


def one_entry_off(judgement: Judging) -> Equal:
    """One entry of what is expected is moved by five error bars or roundings."""
    assert isinstance(judgement, Equal)

    def moved(at: Any) -> Series:
        left, right = judgement.measure(at), judgement.expected(at)
        if right.value.dtype == object:
            value = right.value.copy()
            value[-1] += 1
            return replace(right, value=value)
        entry = int(np.argmax(np.abs(right.value)))
        value = right.value.copy()
        value[entry] += 5 * (left.radius[entry] + right.radius[entry]) + 5e-16 * abs(value[entry])
        return replace(right, value=value)

    return replace(judgement, expected=moved)


def just_below(judgement: Judging, room: float = 1e-6) -> Bounded:
    """The bound shrunk by a factor that puts it this much below the entry with the least room."""
    assert isinstance(judgement, Bounded)
    upper = judgement.upper
    assert upper is not None

    def tightened(at: Any, steps: Any) -> Any:
        bound = np.asarray(upper(at, steps), dtype=float)
        measured = judgement.measure(at)
        return bound * float((measured.lower / bound).max()) * (1 - room)

    return replace(judgement, upper=tightened)
