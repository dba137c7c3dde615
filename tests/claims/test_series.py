"""Series of balls."""

import math

import flint
import numpy as np
import pytest

from marginaudit.claims.dynamics import iterate
from marginaudit.claims.series import as_series, certified
from marginaudit.claims.values.reportable import Unreportable
from marginaudit.claims.verdict import Evidence


def test_balls_are_inside_the_bars_and_a_ball_without_ends_is_anywhere() -> None:
    found = certified([flint.arb(1, 0.25), flint.arb("nan"), flint.arb(-3)], label=("a", "b", "c"))
    assert found.value.tolist() == [1, 0, -3]
    assert 0.25 <= found.radius[0] < 0.25 + 1e-8
    assert (found.radius[1], found.label, found.evidence) == (np.inf, ("a", "b", "c"), Evidence.CERTIFIED)
    assert found.radius[2] < 1e-300
    assert len(certified([])) == 0


def test_an_empty_list_is_no_series() -> None:
    with pytest.raises(Unreportable, match="returned no numbers as measure, expected at least one"):
        as_series([], "measure")


def test_a_function_of_the_module_math_is_named_with_its_substitute() -> None:
    with pytest.raises(ValueError, match=r"loses its digits .*; write np.exp for math.exp"):
        iterate(lambda x: math.exp(-x), 1.0, 10)
