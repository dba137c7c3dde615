"""Statements along another clock than training steps: the positions and their clock reach the finding and its curve."""

from typing import Any

import numpy as np
import pytest

from marginaudit.reports import Verdict
from marginaudit.reports.judgements import Bounded, HiddenConstant, Limit, Parts, Threshold
from marginaudit.reports.series import Series, by_formula

POSITIONS = np.geomspace(1.5, 1.5e6, 61)


def measured(_: Any) -> Series:
    return by_formula(1 + 1 / POSITIONS, step=POSITIONS, clock="ln M")


def ones(_: Any, at: Any) -> Any:
    return np.ones(len(at))


BOUNDED = Bounded(measure=measured, lower=ones)
LATE = Bounded(measure=measured, lower=ones, threshold=lambda _: Threshold(1000.0))
CONSTANT = HiddenConstant(measure=measured, shape=ones)
LIMIT = Limit(measure=measured, predicted=lambda _: 1.0, regime=lambda _: 1.0)


@pytest.mark.parametrize("judgement", [BOUNDED, LATE, CONSTANT, LIMIT])
def test_the_clock_is_named(judgement: Any) -> None:
    found = judgement.judge(None)
    assert found.verdict is Verdict.HOLDS
    assert "ln M = " in found.detail
    assert " t = " not in found.detail
    assert found.curve is not None
    assert found.curve.clock == "ln M"
    assert found.curve.step[-1] == POSITIONS[-1]
    assert found.informative_from is None


def test_positions_need_not_be_whole() -> None:
    found = Bounded(measure=measured, upper=ones).judge(None)
    assert (found.verdict, found.first_violation) == (Verdict.VIOLATED, 1.5)


def test_all_parts_are_judged_and_the_note_comes_last() -> None:
    false = Bounded(measure=measured, upper=ones)
    found = Parts({"one": BOUNDED, "two": false}, note=lambda run: f"Of {run}.").judge("this")
    assert found.verdict is Verdict.VIOLATED
    assert found.detail.startswith("one: holds. Least room")
    assert " two: violated. " in found.detail
    assert found.detail.endswith(" Of this.")
    assert Parts({"one": BOUNDED}).judge(None).verdict is Verdict.HOLDS
    assert Parts({"one": BOUNDED}).kind == "several parts"
