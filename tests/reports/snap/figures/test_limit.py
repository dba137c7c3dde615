"""Figures 3, 8 and 9: each line against the closed form, t_0, and settings in the title."""

from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_hex

from marginaudit.reports.snap.figures.limit import COLOURS, RATES, TIMES, snap_3, snap_8, snap_9
from marginaudit.training.snap.attention.path import turned
from marginaudit.training.snap.growth import snap_start
from marginaudit.training.snap.limit.continuous import continuous
from marginaudit.training.snap.limit.recursion import h_star


def lines(axis: Axes, colour: str) -> list[Any]:
    found = [line for line in axis.lines if to_hex(str(line.get_color())) == to_hex(colour)]
    return [(np.asarray(line.get_xdata(), dtype=float), np.asarray(line.get_ydata(), dtype=float)) for line in found]


def growth(t: Any, eta_Y: float, eta_Z: float) -> Any:
    """B with C0 = 1, by snap.theorem4.closed-form.rederived."""
    return np.log1p(4 * turned(t, 10, 1000, eta_Y, eta_Z).value) / 4


def test_growth_at_a_fixed_rate() -> None:
    [axis] = snap_3().axes
    for eta_Y, colour in zip(RATES, COLOURS, strict=True):
        (t, chi), (start, _) = lines(axis, colour)
        np.testing.assert_allclose(chi, np.exp(growth(t, eta_Y, 0.5)), rtol=1e-9)
        assert start[0] == snap_start(10, 1000, eta_Y)
        assert (t[0], t[-1]) == (TIMES[0], TIMES[-1])
    last = [lines(axis, colour)[0][1][-1] for colour in COLOURS]
    assert last == sorted(last, reverse=True)
    assert "K = 10, M = 1000, C₀ = 1, f²(0) = 0.5" in axis.get_title(loc="left")


def test_the_recursion_and_its_continuous_form() -> None:
    [axis] = snap_8().axes
    smooth = lines(axis, "#6b7280")
    for number, (eta_Y, colour) in enumerate(zip(RATES, COLOURS, strict=True)):
        [(s, star)] = lines(axis, colour)
        np.testing.assert_array_equal(star, h_star(s.astype(int), 1000, eta_Y).level.logit.value)
        np.testing.assert_array_equal(smooth[number][1], continuous(s, 1000, eta_Y).logit.value)
        assert (star >= smooth[number][1]).all()


def test_growth_at_a_fixed_ratio() -> None:
    [axis] = snap_9().axes
    at_start = []
    for eta_Z, colour in zip(RATES, COLOURS, strict=True):
        (t, B), (start, _), (dot, value) = lines(axis, colour)
        np.testing.assert_allclose(B, growth(t, 2 * eta_Z, eta_Z), rtol=1e-9)
        assert start[0] == dot[0] == snap_start(10, 1000, 2 * eta_Z)
        at_start.append(value[0])
    assert at_start == pytest.approx([at_start[0]] * 3, rel=1e-9, abs=0)
