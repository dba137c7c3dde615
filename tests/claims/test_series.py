"""Series of balls."""

import flint
import numpy as np

from marginaudit.claims.series import certified
from marginaudit.claims.verdict import Evidence


def test_balls_are_inside_the_bars_and_a_ball_without_ends_is_anywhere() -> None:
    found = certified([flint.arb(1, 0.25), flint.arb("nan"), flint.arb(-3)], label=("a", "b", "c"))
    assert found.value.tolist() == [1, 0, -3]
    assert 0.25 <= found.radius[0] < 0.25 + 1e-8
    assert (found.radius[1], found.label, found.evidence) == (np.inf, ("a", "b", "c"), Evidence.CERTIFIED)
    assert found.radius[2] < 1e-300
    assert len(certified([])) == 0
