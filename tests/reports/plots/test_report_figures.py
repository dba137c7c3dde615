"""Panels of measured against bound where a logarithmic axis has little or nothing to show."""

import io
import math
import warnings
from dataclasses import replace
from typing import Any, Literal, TypeAlias
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from marginaudit.claims.verdict import Curve, Finding, Verdict
from marginaudit.reports.plots.measured import (
    ROUNDING_ONLY,
    curve_title,
    draw_curve,
    first_step,
    measured_figure,
    rendered,
)
from marginaudit.reports.plots.style import BOUND, MEASURED, REFERENCE, plot_settings, styled
from tests.reports.plots.layout import crowded, tick_labels_overlap


def drawn(curve: Curve) -> Axes:
    figure = Figure(figsize=(3, 2))
    axis = figure.subplots()
    axis.set_xscale("log")
    draw_curve(axis, curve, "bound vacuous to t = 1e300", ROUNDING_ONLY)
    ElementTree.fromstring(rendered(figure, ".svg"))
    return axis


def labels(axis: Axes) -> list[str]:
    ticks = [*axis.yaxis.get_major_ticks(), *axis.yaxis.get_minor_ticks()]
    low, high = axis.get_ylim()
    return [tick.label1.get_text() for tick in ticks if low <= tick.get_loc() <= high and tick.label1.get_text()]


@pytest.mark.parametrize("value", [5.38, 0.1, 0.09999999999999999, 1.0, 1e-27, 1e150])
@pytest.mark.parametrize("length", [1, 3])
def test_one_value(value: float, length: int) -> None:
    axis = drawn(Curve(list(range(1, length + 1)), [value * (1 + 2e-16 * i) for i in range(length)]))
    low, high = axis.get_ylim()
    assert low < value / 2
    assert 2 * value < high
    assert labels(axis)
    assert (axis.lines[0].get_marker() == "o") == (length == 1)


@pytest.mark.parametrize("upper", [[math.inf, 3.0], [math.inf, math.inf], [math.nan, 3.0], [1e300, 1e308], [3.0, 0.5]])
def test_a_bound_out_of_reach(upper: list[float]) -> None:
    axis = drawn(Curve([1, 2], [0.1, 0.2], upper, None, 1.0))
    assert all(math.isfinite(limit) for limit in axis.get_ylim())
    assert "bound vacuous to t = 1e300" in axis.get_legend_handles_labels()[1]


@pytest.mark.parametrize("measured", [[5e-324, 1e-320], [0.0, 0.0], [9e-29, 1e-48]])
def test_what_is_zero_to_rounding_has_no_axis(measured: list[float]) -> None:
    axis = drawn(Curve([1, 2], measured))
    assert [text.get_text() for text in axis.texts] == ["zero to rounding"]
    assert (len(axis.lines), labels(axis)) == (0, [])


def test_beside_a_bound_what_is_zero_to_rounding_does_not_stretch_the_axis() -> None:
    axis = drawn(Curve([1, 2], [9e-29, 1e-48], [1.0, 0.1]))
    assert axis.get_ylim()[0] > 0.01
    assert [line.get_label() for line in axis.lines] == ["measured: zero to rounding", "≤ bound"]


@pytest.mark.parametrize("measured", [[], [math.nan], [math.inf]])
def test_nothing_to_draw(measured: list[float]) -> None:
    curve = Curve(list(range(1, len(measured) + 1)), measured)
    assert [text.get_text() for text in drawn(curve).texts] == ["no finite value"]


def test_a_threshold_is_not_called_vacuous() -> None:
    curve = Curve([1, 2], [0.1, 0.2], [9.0, 8.0], None, 2.0)
    for verdict in (Verdict.INCONCLUSIVE, Verdict.HOLDS):
        beyond = Finding(verdict, informative_from=10**12, beyond_the_run=True)
        assert first_step(beyond, curve) == "the statement applies from t = 1e+12"
    hidden = Finding(Verdict.INCONCLUSIVE, informative_from=3)
    assert first_step(hidden, curve) == "bound vacuous; informative from t = 3"
    vacuous = Finding(Verdict.VACUOUS, informative_from=500)
    assert first_step(vacuous, curve) == "bound vacuous; informative from t = 5e+02"
    assert first_step(Finding(Verdict.VACUOUS), curve) == "bound vacuous to t = 1e300"
    assert first_step(Finding(Verdict.VACUOUS), replace(curve, clock="M")) == "bound vacuous"
    assert first_step(Finding(Verdict.HOLDS), replace(curve, upper=[9.0, 1.0])) == "bound vacuous"


@pytest.mark.parametrize(
    "curve",
    [
        Curve([1, 2], [0.0, 0.0]),
        Curve([1, 2], [1e-31, 1e-32], [9.0, 8.0], None, 5.0),
        Curve([1, 2], [0.1, 0.2], [9.0, 8.0], [0.05, 0.02], 2.0),
    ],
)
def test_what_is_drawn_can_be_read(curve: Curve) -> None:
    """Texts of the size of print, within the axes and off the lines; lines that are seen and told from each other."""
    axis: Any = drawn(curve)
    renderer = FigureCanvasAgg(axis.figure).get_renderer()  # type: ignore[no-untyped-call]
    frame = axis.get_window_extent(renderer)
    boxes = [text.get_window_extent(renderer) for text in axis.texts]
    for text, box in zip(axis.texts, boxes, strict=True):
        assert 7 <= text.get_fontsize() <= 10
        assert (frame.x0 < box.x0, frame.y0 < box.y0, box.y1 < frame.y1) == (True, True, True)
        if text.get_ha() == "center":
            assert (box.x0 + box.x1) / 2 == pytest.approx((frame.x0 + frame.x1) / 2, rel=0, abs=2)
    lines = {colour: [x for x in axis.lines if to_hex(str(x.get_color())) == colour] for colour in COLOURS}
    widths = [{line.get_linewidth() for line in lines[colour]} for colour in COLOURS]
    assert all(len(width) <= 1 for width in widths)
    thickest_first = [width for one in widths for width in one]
    assert all(0.5 < width < 2 for width in thickest_first)
    assert thickest_first == sorted(thickest_first, reverse=True)
    others = [line.get_zorder() for colour in COLOURS[1:] for line in lines[colour]]
    assert all(line.get_zorder() > max(others, default=0) for line in lines[MEASURED])
    for patch in axis.patches:
        assert patch.get_linewidth() == 0
        assert patch.get_zorder() < min(others)
    ceiling = [line.get_ydata()[0] for line in lines[REFERENCE]]
    assert all(hatched.get_y() == ceiling[0] for hatched in axis.patches)
    named = measured_figure("a", curve, Finding(Verdict.VACUOUS, informative_from=500))
    assert crowded(named) == []
    assert [text for one in named.axes for text in one.texts if len(one.lines)] == []  # none on a curve


@pytest.mark.parametrize("bound", [1.3, 2.0, 2.9, 20.0])
def test_labels_of_close_values_below_a_hatched_ground_leave_each_other_room(bound: float) -> None:
    curve = Curve([1, 2, 3], [1.0, 1.0, 1.0], upper=[bound] * 3, vacuous_above=1.2)
    assert tick_labels_overlap(measured_figure("a", curve, None)) == []


COLOURS = (MEASURED, BOUND, REFERENCE)
"""The thickest line's first."""


Engine: TypeAlias = Literal["constrained", "tight"] | None


@pytest.mark.parametrize("engine", ["constrained", "tight", None])
def test_a_figure_that_is_placed_once_is_the_file_that_matplotlib_writes(engine: Engine) -> None:
    @styled
    def figure() -> Figure:
        drawn = Figure(figsize=(5, 3), layout=engine)
        for number, axis in enumerate(drawn.subplots(1, 2)):
            axis.set(xscale="log", ylabel="long " * (number + 1), title=r"$10^{-3}$", xlim=(1, 10**6))
        return drawn

    found = figure()
    before = found.get_layout_engine()
    written = rendered(found, ".svg")
    assert found.get_layout_engine() is before
    buffer = io.BytesIO()
    with plot_settings():
        figure().savefig(buffer, format="svg", metadata={"Date": None}, dpi=150)
    assert written == buffer.getvalue()
    assert rendered(found, ".pdf").startswith(b"%PDF")


def test_a_quantity_of_both_signs_has_a_linear_scale() -> None:
    axis = drawn(Curve([1, 2, 3], [-1.0, 0.5, 2.0], [3.0, 3.0, 3.0], [-4.0, -4.0, -4.0], 2.5))
    assert (axis.get_yscale(), [line.get_label() for line in axis.lines]) == (
        "linear",
        ["measured", "≤ bound", "≥ bound", "most it can reach"],
    )
    assert axis.lines[0].get_ydata().tolist() == [-1.0, 0.5, 2.0]  # type: ignore[union-attr]
    trivial = drawn(Curve([1, 2], [0.5, 2.0], None, [-4.0, 0.1]))
    assert trivial.get_yscale() == "log"
    assert drawn(Curve([1, 2], [0.5, 2.0], None, [-4.0, -3.0])).get_yscale() == "linear"


def test_a_limit_is_no_bound() -> None:
    axis = drawn(Curve([1, 2, 3], [0.5, 0.9, 0.99], predicted=1.0))
    assert [line.get_label() for line in axis.lines] == ["measured", "predicted limit"]
    assert axis.lines[1].get_ydata().tolist() == [1.0] * 3  # type: ignore[union-attr]


def test_a_long_curve_keeps_its_peaks_and_a_short_file() -> None:
    measured = [1.0 + 0.1 * math.sin(i) for i in range(100_000)]
    measured[70_001] = 50.0
    axis = drawn(Curve(list(range(1, 100_001)), measured))
    assert axis.lines[0].get_ydata().max() == 50.0  # type: ignore[union-attr]
    figure = measured_figure("a", Curve(list(range(1, 100_001)), measured), None)
    assert len(rendered(figure, ".svg")) < 100_000


def test_a_long_curve_keeps_where_it_is_nearest_to_its_bounds() -> None:
    step = list(range(1, 20_001))
    upper, lower = ([value if t == 15_001 else other for t in step] for value, other in ((0.5, 2.0), (3.0, 0.25)))
    axis = drawn(Curve(step, [1.0] * len(step), upper, lower, None))
    drawn_of = {str(line.get_label()): np.asarray(line.get_ydata(), dtype=float) for line in axis.get_lines()}
    assert (drawn_of["≤ bound"].min(), drawn_of["≥ bound"].max()) == (0.5, 3.0)


def test_a_bound_below_zero_is_not_called_vacuous() -> None:
    axis = drawn(Curve([1, 2, 3], [0.1, 0.2, 0.3], [2.0, -1.0, 1.0], None, 10.0))
    assert "most it can reach" not in axis.get_legend_handles_labels()[1]


def test_where_it_is_violated_first_is_marked() -> None:
    curve = Curve([1, 10, 100], [1.0, 2.0, 3.0], [2.0, 1.0, 1.0])
    found = Finding(Verdict.VIOLATED, first_violation=1, curve=curve)
    [axis] = measured_figure("a", curve, found).axes
    [line] = [line for line in axis.lines if line.get_label() == "first violated"]
    assert (line.get_xdata(), axis.get_xscale(), axis.get_xlabel()) == ([1, 1], "log", "step t")
    [other] = measured_figure("a", replace(curve, step=[-2, -1, 0], clock="$x$"), found).axes
    assert (other.get_xscale(), other.get_xlabel()) == ("linear", r"\$x\$")
    assert "first violated" not in [line.get_label() for line in other.lines]


def test_a_cleared_figure_is_as_good_as_a_new_one() -> None:
    curves = (
        Curve([1, 10, 100], [1.0, 2.0, 3.0], [2.0, 1.0, 1.0], vacuous_above=1.5),
        Curve([0, 1], [-1.0, 2.0], predicted=1.0, clock="x"),
        Curve([1, 2, 3], [math.nan] * 3),
        Curve([1, 2, 3], [1.0, 1.5, 1.2]),
        Curve(list(range(1, 100)), [10.0**-i for i in range(99)], None, [1e-100] * 99),
    )
    plot = None
    for curve in (*curves, *curves[::-1]):
        found = Finding(Verdict.VIOLATED, first_violation=10, curve=curve)
        plot = measured_figure("a", curve, found, cleared=plot)
        assert rendered(plot, ".svg") == rendered(measured_figure("a", curve, found), ".svg")


SOME = st.one_of(st.sampled_from([0.0, 1.0, -1.0, 1e300, -1e300, 5e-324, math.inf, math.nan]), st.floats())


@settings(max_examples=10)
@given(st.data(), st.integers(0, 5))
def test_whatever_a_curve_holds_is_drawn(data: st.DataObject, length: int) -> None:
    column = st.lists(SOME, min_size=length, max_size=length)
    step = st.lists(st.integers(-5, 10**18) | st.floats(allow_nan=False, allow_infinity=False), min_size=length)
    top = st.none() | st.sampled_from([0.0, -2.0, 1.0, 1e300, math.inf])
    curve = Curve(
        data.draw(step)[:length],
        data.draw(column),
        data.draw(st.none() | column),
        data.draw(st.none() | column),
        data.draw(top),
        data.draw(st.text()),
        data.draw(top),
    )
    found = Finding(Verdict.VIOLATED, first_violation=data.draw(st.sampled_from([0, -1, 3, 1e300])), curve=curve)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ElementTree.fromstring(rendered(measured_figure(curve_title(data.draw(st.text()), "c"), curve, found), ".svg"))


def test_one_long_entry_makes_a_legend() -> None:
    part = "the loss of the sentence of most tokens, log"
    figure = measured_figure("t", Curve([1, 2, 3], [1.0, 2.0, 3.0], part=part), None)
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [f"measured: {part}"]
