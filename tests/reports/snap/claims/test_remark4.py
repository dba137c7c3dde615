"""Remark 4: its chance against draws."""

import numpy as np
import pytest

from marginaudit.reports.snap.claims import remark4
from tests.reports.snap.samples import run


def test_the_chance_beyond_two_radii_is_that_of_the_draws() -> None:
    found = remark4.missed(run("snap-single"))
    place = found.label.index("delta = 0.99, N = 40")
    drawn = np.random.default_rng(0).binomial(40, 0.5, 200_000)
    assert found.value[place] == pytest.approx((np.abs(drawn - 20) > 2).mean(), abs=5e-3)
