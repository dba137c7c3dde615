"""The steps t with t >= factor log^power t."""

import math

import numpy as np
import pytest

from marginaudit.reports.ntp.bounds import crossings


@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize("factor", [2.0, 2.8, 3.0, 4.2, 10.0, 1e4, 1e30])
def test_it_is_true_to_the_early_crossing_and_from_the_late_one_on(factor: float, power: int) -> None:
    early, late = crossings(factor, power)
    t = np.concatenate([np.linspace(2, 100, 5001), late * np.geomspace(1e-3, 1e3, 1001)])
    t = t[(t >= 2) & (abs(t / late - 1) > 1e-9) & (abs(t / max(early, 1) - 1) > 1e-9)]
    np.testing.assert_array_equal((t <= early) | (t >= late), t >= factor * np.log(t) ** power)


def test_a_factor_that_is_never_reached_crosses_nowhere() -> None:
    assert crossings(math.e * 0.999, 1) == (0.0, 2.0)
    assert crossings(0.5, 2) == (0.0, 2.0)
    assert crossings(math.e * 1.001, 1)[1] > 2.0
