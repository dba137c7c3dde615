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


def tightened(judgement: Judging, room: float = 1e-6) -> Bounded:
    """Every bound moved, by a factor if it is positive, to this much beyond the entry with the least room."""
    assert isinstance(judgement, Bounded)
    upper, lower, measure = judgement.upper, judgement.lower, cache(judgement.measure)

    def below(at: Any, steps: Any) -> Any:
        assert upper is not None
        bound, measured = np.asarray(upper(at, steps), dtype=float), measure(at)
        if not measured.log and (bound > 0).all():
            return bound * float((measured.lower / bound).max()) * (1 - room)
        return bound - (bound - measured.lower + room * np.abs(measured.value)).min()

    def above(at: Any, steps: Any) -> Any:
        assert lower is not None
        bound, measured = np.asarray(lower(at, steps), dtype=float), measure(at)
        return bound + (measured.upper - bound + room * np.abs(measured.value)).min()

    return replace(judgement, measure=measure, upper=upper and below, lower=lower and above)
