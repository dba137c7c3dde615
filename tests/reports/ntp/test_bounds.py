"""The last t at which t = factor log^power t."""

import math

import numpy as np
import pytest

from marginaudit.reports.ntp.bounds import last_crossing


@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize("factor", [3.0, 10.0, 1e4, 1e30])
def test_the_last_crossing_is_the_last(factor: float, power: int) -> None:
    t = last_crossing(factor, power)
    assert t == pytest.approx(factor * np.log(t) ** power, rel=1e-9, abs=0)
    later = t * np.geomspace(1 + 1e-6, 1e6, 50)
    assert (later > factor * np.log(later) ** power).all()


def test_a_factor_that_is_never_reached_crosses_nowhere() -> None:
    assert last_crossing(math.e * 0.999, 1) == 2.0
    assert last_crossing(0.5, 2) == 2.0
    assert last_crossing(math.e * 1.001, 1) > 2.0
