"""Messages on functions of a claim that return the wrong thing."""

from typing import Any

import numpy as np
import pytest

from marginaudit.reports.judgements import Bounded, Equal, HiddenConstant, Limit, Threshold
from marginaudit.reports.series import series
from tests.reports.judgements.test_judgements import STEP, measured, run

VALUES: Any = measured(1.0 * STEP)
ARRAY: Any = lambda *_: np.ones(3)  # noqa: E731
NUMBER: Any = lambda *_: 2.0  # noqa: E731
NO_SERIES = "returned a value of type ndarray as measure, expected a Series"


@pytest.mark.parametrize(
    ("judgement", "said"),
    [
        (Bounded(ARRAY, upper=NUMBER), NO_SERIES),
        (Equal(ARRAY, VALUES), NO_SERIES),
        (Limit(ARRAY, NUMBER, NUMBER), NO_SERIES),
        (HiddenConstant(ARRAY, NUMBER), NO_SERIES),
        (Equal(VALUES, ARRAY), "returned a value of type ndarray as expected, expected a Series"),
        (Equal(VALUES, lambda _: series([1.0], radius=0)), "got 1 expected values, expected 1000"),
        (Bounded(VALUES, upper=ARRAY), r"the upper bound: got the shape \(3,\), expected \(1000,\)"),
        (
            Bounded(VALUES, lower=lambda _, t: np.where(t == 3, np.nan, t)),
            "the lower bound: got nan at entry 2, expected",
        ),
        (Bounded(VALUES, upper=NUMBER, threshold=NUMBER), "returned a value of type float as threshold"),
        (Limit(VALUES, lambda _: 0.0, NUMBER), "got 0 as predicted"),
        (HiddenConstant(VALUES, lambda _, t: 500.0 - t), "got a shape of -1 at t = 501, expected > 0"),
    ],
)
def test_the_message_names_what_was_returned(judgement: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        judgement.judge(run())


def test_a_number_serves_as_a_bound_and_as_a_shape() -> None:
    assert Bounded(VALUES, upper=lambda *_: 1000.0).judge(run()).verdict == "holds"
    assert HiddenConstant(measured(0 * STEP + 3.0), NUMBER).judge(run()).constant == pytest.approx(1.5)
    assert Bounded(VALUES, upper=NUMBER, threshold=lambda _: Threshold(2.5)).judge(run()).first_violation == 3


def test_a_bound_has_a_side() -> None:
    with pytest.raises(ValueError, match="got neither upper nor lower"):
        Bounded(VALUES)
