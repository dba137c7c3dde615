"""Panels of measured against bound where a logarithmic axis has little or nothing to show."""

import math
from xml.etree import ElementTree

import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from marginaudit.reports.plots.measured import draw_curve, first_step, rendered
from marginaudit.reports.verdict import Curve, Finding, Verdict


def drawn(curve: Curve) -> Axes:
    figure = Figure(figsize=(3, 2))
    axis = figure.subplots()
    axis.set_xscale("log")
    draw_curve(axis, curve, "bound vacuous to t = 1e40")
    ElementTree.fromstring(rendered(figure, ".svg"))
    return axis


def labels(axis: Axes) -> list[str]:
    ticks = [*axis.yaxis.get_major_ticks(), *axis.yaxis.get_minor_ticks()]
    low, high = axis.get_ylim()
    return [tick.label1.get_text() for tick in ticks if low <= tick.get_loc() <= high and tick.label1.get_text()]


@pytest.mark.parametrize("value", [5.38, 0.1, 0.09999999999999999, 1.0, 1e-30, 1e150])
@pytest.mark.parametrize("length", [1, 3])
def test_one_value(value: float, length: int) -> None:
    axis = drawn(Curve(list(range(1, length + 1)), [value * (1 + 2e-16 * i) for i in range(length)]))
    low, high = axis.get_ylim()
    assert low < value / 2
    assert 2 * value < high
    assert labels(axis)
    assert (axis.lines[0].get_marker() == "o") == (length == 1)


@pytest.mark.parametrize("values", [[0.52, 0.6], [1.2, 1.3], [0.5, 3.0], [2e-3, 9e-3], [1.0, 1e5], [1e-30, 1e-3]])
def test_a_scale_can_be_read(values: list[float]) -> None:
    assert 1 <= len(labels(drawn(Curve([1, 2], values)))) <= 15


@pytest.mark.parametrize("upper", [[math.inf, 3.0], [math.inf, math.inf], [math.nan, 3.0], [1e300, 1e308], [3.0, 0.5]])
def test_a_bound_out_of_reach(upper: list[float]) -> None:
    axis = drawn(Curve([1, 2], [0.1, 0.2], upper, None, 1.0))
    assert all(math.isfinite(limit) for limit in axis.get_ylim())
    assert any("bound vacuous" in text.get_text() for text in axis.texts)


@pytest.mark.parametrize("measured", [[5e-324, 1e-320], [0.0, 0.0]])
def test_what_is_zero_to_rounding(measured: list[float]) -> None:
    assert [text.get_text() for text in drawn(Curve([1, 2], measured)).texts] == ["zero to rounding"]


@pytest.mark.parametrize("measured", [[], [math.nan], [math.inf]])
def test_nothing_to_draw(measured: list[float]) -> None:
    curve = Curve(list(range(1, len(measured) + 1)), measured)
    assert [text.get_text() for text in drawn(curve).texts] == ["no direction"]


def test_a_threshold_is_not_called_vacuous() -> None:
    beyond = Finding(Verdict.INCONCLUSIVE, informative_from=10**12)
    assert first_step(beyond) == "the statement speaks from t = 1e+12"
    assert first_step(Finding(Verdict.VACUOUS, informative_from=500)) == "bound vacuous; informative from t = 5e+02"
    assert first_step(Finding(Verdict.VACUOUS)) == "bound vacuous to t = 1e40"
