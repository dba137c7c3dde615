"""Columns that are plain already are taken as they are; all others are read number by number, to the same effect."""

import math
from typing import Any

import numpy as np
import pytest

from marginaudit.reports import Finding, Verdict
from marginaudit.reports.checked import Unreportable, checked
from marginaudit.reports.series import FARTHEST_STEP
from marginaudit.reports.verdict import Curve


def curve(step: Any, measured: Any) -> Curve:
    found = checked(Finding(Verdict.HOLDS, curve=Curve(step, measured))).curve
    assert found is not None
    return found


@pytest.mark.parametrize("kind", [list, tuple, np.array])
def test_columns_of_any_kind_give_the_same(kind: Any) -> None:
    found = curve(kind([1, 2, 3]), kind([0.5, math.inf, math.nan]))
    assert found.step == [1, 2, 3]
    assert found.measured[:2] == [0.5, math.inf]
    assert math.isnan(found.measured[2])
    assert {type(value) for value in found.step} == {int}
    assert {type(value) for value in found.measured} == {float}


def test_a_column_is_a_copy() -> None:
    values = [0.5]
    found = curve([1], values)
    values[0] = 7.0
    assert found.measured == [0.5]


@pytest.mark.parametrize(
    ("step", "measured"),
    [
        ([True], [0.5]),
        ([1], [False]),
        ([1], [None]),
        ([10 * FARTHEST_STEP], [0.5]),
        ([-10 * FARTHEST_STEP], [0.5]),
        ([1, 2], [0.5]),
    ],
)
def test_what_no_report_holds_is_refused(step: Any, measured: Any) -> None:
    with pytest.raises(Unreportable):
        curve(step, measured)


def test_steps_between_whole_ones_stay() -> None:
    assert curve([0.5, 2.0], [1.0, 2.0]).step == [0.5, 2]
