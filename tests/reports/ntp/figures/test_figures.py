"""The two figures of a report on records made by hand, and plain beside normalised descent on the built-in cases."""

import math
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from marginaudit.claims.paper import RunRecords
from marginaudit.claims.verdict import Curve, Finding, Verdict
from marginaudit.orders.ntp import CASES
from marginaudit.reports.ntp.figures import measured
from marginaudit.reports.ntp.figures.direction import RUN_COLOURS, direction_figure, runs_figure
from marginaudit.reports.ntp.figures.measured import PANELS, ntp_2
from marginaudit.reports.ntp.figures.measured import panel as draw_panel
from marginaudit.reports.plots.style import BOUND, LAW, MEASURED, REFERENCE, SHARPER
from tests.command_line import Command

NAN = math.nan
STEP = [0, 1, 10, 100, 1000, 10_000]
GAP = [NAN, 0.5, 0.1, 0.02, 1e-3, 1e-5]
LAWS = [NAN, NAN, NAN, 0.021, 1.01e-3, 1e-5]
METHODS = ["steps"] * 4 + ["flow"] * 2


def drawn(
    findings: dict[str, Finding],
    *,
    gap: Any = GAP,
    law: Any = LAWS,
    records: int = 6,
    step: Any = STEP,
) -> Axes:
    stage = SimpleNamespace(
        step=np.array(step[:records]),
        one_minus_cos=np.array(gap[:records]),
        law=np.array(law[:records]),
        method=np.array(METHODS[:records]),
        known=np.ones(records, dtype=bool),
    )
    run: Any = SimpleNamespace(dataset=SimpleNamespace(name="x$y"), trained=SimpleNamespace(stage2=stage))
    [axis] = direction_figure(run, findings).axes
    return axis


def lines(axis: Axes, colour: str) -> list[tuple[list[float], list[float]]]:
    """The data of all lines of a colour."""
    found = [line for line in axis.lines if to_hex(str(line.get_color())) == to_hex(colour)]
    return [(np.ravel(line.get_xdata()).tolist(), np.ravel(line.get_ydata()).tolist()) for line in found]


def texts(axis: Axes) -> dict[str, Any]:
    return {text.get_text(): getattr(text, "xy", text.get_position()) for text in axis.texts}


def bound(upper: list[float], informative: int | None) -> Finding:
    curve = Curve([1, 10, 100, 1000, 10_000], [0.0] * 5, upper)
    return Finding(Verdict.HOLDS, informative_from=informative, curve=curve)


def test_the_measured_line_and_the_law() -> None:
    axis = drawn({})
    assert lines(axis, MEASURED) == [(STEP[1:], GAP[1:])]
    [(step, law)] = lines(axis, LAW)
    assert step == STEP[1:]
    np.testing.assert_array_equal(law, LAWS[1:])
    assert axis.get_xlim() == (1, 10_000)
    assert axis.get_ylim() == pytest.approx((1e-5 / 30, 60))
    assert (axis.get_xscale(), axis.get_yscale()) == ("log", "log")
    found = texts(axis)
    assert found["asymptotic law"] == (100, 0.021)
    assert found["measured\n1.0·10⁻⁵"] == (1, 1e-5)
    assert axis.get_title("left").startswith(r"x\$y: how far")
    assert lines(drawn({}, law=[NAN] * 6), LAW) == []
    assert drawn({}, law=[NAN] * 5 + [0.0]).get_ylim()[0] == pytest.approx(1e-5 / 30)
    assert drawn({}, gap=[*GAP[:-1], 1e-320]).get_ylim()[0] == pytest.approx(1e-3 / 30)
    lower = drawn({}, law=[NAN, NAN, NAN, NAN, NAN, 1e-6])
    assert lower.get_ylim()[0] == pytest.approx(1e-6 / 30)
    assert texts(lower)["asymptotic law"] == (10_000, 1e-6)


def test_recorded_runs_are_drawn_to_the_last_recorded_step_below_the_bounds() -> None:
    def recorded(name: str, *rows: str) -> RunRecords:
        return RunRecords(name, {}, {"stage2": "\n".join(["step,one_minus_cos", *rows])})

    bounds = [{"step": t, "bound": 9.0 / t, "sharp_bound": None if t < 100 else 2.0 / t} for t in (2, 10, 100, 900)]
    own = RunRecords("own", {"direction": {"stage2": bounds}}, recorded("", "0,", "1,.5", "100,.1", "900,.01").records)
    above, axis = runs_figure([own, recorded("a", "0,", "5,.4", "100,0.2"), recorded("b$", "7,.3", "8,0")]).axes
    assert lines(above, BOUND) == [([2, 10, 100], [4.5, 0.9, 0.09])]
    assert lines(above, SHARPER) == [([100], [0.02])]
    assert lines(axis, MEASURED) == [([1, 100], [0.5, 0.1])]
    assert lines(axis, RUN_COLOURS[0]) == [([5, 100], [0.4, 0.2])]
    assert lines(axis, RUN_COLOURS[1]) == [([7], [0.3])]
    assert [line.get_marker() for line in axis.lines] == ["None", "", "o"]
    assert above.get_xlim() == axis.get_xlim() == (1, 100)
    assert {one.get_yscale() for one in (above, axis)} | {axis.get_xscale()} == {"log"}
    legends = [[text.get_text() for text in one.get_legend().get_texts()] for one in (above, axis)]  # type: ignore[union-attr]
    assert legends == [["Theorem 1", "Theorem 1, sharper"], ["own", "a", r"b\$"]]
    assert above.get_title("left").startswith("own: how far")


def test_a_bound_is_dashed_to_where_it_says_something() -> None:
    axis = drawn(
        {
            "ntp.theorem1.direction": bound([80.0, 20.0, 1.9, 0.5, 0.1], 96),
            "sharp.theorem1": bound([8.0, 4.0, 3.0, 2.5, 2.0], 20_000),
        }
    )
    assert lines(axis, BOUND) == [
        ([1, 10, 100], [80.0, 20.0, 1.9]),
        ([100, 1000, 10_000], [1.9, 0.5, 0.1]),
        ([96], [2.0]),
    ]
    assert lines(axis, SHARPER) == [([1, 10, 100, 1000, 10_000], [8.0, 4.0, 3.0, 2.5, 2.0])]
    assert axis.get_ylim()[1] == pytest.approx(80 * 30)
    found = texts(axis)
    assert found["informative from 9.6·10¹"] == (96, 2.0)
    assert sum("informative" in text for text in found) == 1
    assert found["Theorem 1\n1.0·10⁻¹\n10⁴ × measured"] == (1, 0.1)
    assert found["Theorem 1, sharper\n2.0\n10⁵ × measured"] == (1, 2.0)
    reached = drawn({"sharp.theorem1": bound([1.0, 0.5, 0.2, 0.1, 0.05], 10_000)})
    assert lines(reached, SHARPER)[0] == ([1], [1.0])
    assert lines(reached, SHARPER)[2] == ([10_000], [2.0])
    assert reached.get_ylim()[1] == 60
    sides = [
        text.get_horizontalalignment()
        for of in (axis, reached)
        for text in of.texts
        if "informative" in text.get_text()
    ]
    assert sides == ["left", "right"]  # at the right end the lines have their names
    nothing = Finding(Verdict.NOT_APPLICABLE)
    without = drawn(
        {"sharp.theorem1": nothing, "ntp.theorem1.direction": Finding(Verdict.HOLDS, curve=Curve([1], [1]))}
    )
    assert lines(without, SHARPER) == lines(without, BOUND) == []
    assert not any(text.startswith("vacuous") for text in texts(without))
    assert any(text.startswith("vacuous") for text in texts(reached))


def test_the_papers_length_and_how_each_stretch_was_obtained() -> None:
    axis = drawn({})
    found = texts(axis)
    assert found["the paper's\nruns: 900"] == (900, 0)
    assert found["true steps"] == pytest.approx((math.sqrt(1000), 1))
    assert found["gradient flow"] == pytest.approx((math.sqrt(1000 * 10_000), 1))
    assert [x for x, _ in lines(axis, REFERENCE)] == [[900, 900], [1000, 1000]]
    bounded = drawn({"sharp.theorem1": bound([8.0, 4.0, 3.0, 2.5, 2.0], 20_000)})
    assert lines(bounded, REFERENCE)[0] == ([0, 1], [2.0, 2.0])
    short = drawn({}, records=4)
    assert not any("paper" in text or "flow" in text for text in texts(short))
    assert texts(short)["true steps"] == pytest.approx((10, 1))
    one = drawn({}, records=2)
    assert one.get_xlim() == (1, 10)
    for last, marked in ((900, False), (901, True)):
        assert any("paper" in text for text in texts(drawn({}, step=[0, 1, 10, 100, last], records=5))) == marked


def test_without_a_direction_nothing_is_drawn() -> None:
    for gap in ([NAN] * 6, [0.0] * 6, [0.5] + [0.0] * 5):
        axis = drawn({}, gap=gap)
        assert texts(axis) == {"no direction": (0.5, 0.5)}
        assert not axis.lines


def test_a_panel_shows_the_claims_curve_or_the_run() -> None:
    column = {"step": np.array([0, 1, 5]), "loss": np.array([9.0, 3.0, 1.0])}
    columns = column | {"norm": np.array([0.0, 2.0, 4.0]), "one_minus_cos": np.array([NAN, 0.5, 0.25])}
    stage = SimpleNamespace(**columns, columns=lambda: columns)
    run: Any = SimpleNamespace(dataset=SimpleNamespace(name="n$"), trained=SimpleNamespace(stage1=stage, stage2=stage))
    curve = Curve([2, 3], [7.0, 8.0], [9.0, 10.0], [1.0, 2.0])
    found = {"ntp.theorem1.norm": Finding(Verdict.HOLDS, informative_from=3, curve=curve)}
    for number, (title, claim, _, name) in enumerate(PANELS):
        figure = draw_panel(number)(run, found)
        [axis] = figure.axes
        assert axis.get_title("left").lower() == rf"n\$, {title}".lower()
        expected = ([2, 3], [7.0, 8.0]) if claim == "ntp.theorem1.norm" else ([1, 5], columns[name][1:].tolist())
        assert lines(axis, MEASURED) == [expected]
        [legend] = figure.legends
        bounds = ["≤ bound", "≥ bound"] if claim == "ntp.theorem1.norm" else []
        assert [text.get_text() for text in legend.get_texts()] == ["measured", *bounds]
        assert (axis.get_xscale(), axis.get_xlabel()) == ("log", "step t")
        assert axis.xaxis.get_major_formatter()(1000.0) == "10³"


def test_figure_2_is_on_linear_axes_with_the_infimum_of_each_loss() -> None:
    """One-hot attention puts each next token eta0 T/||W*_ov|| before V - 1 others; ||W*_ov||^2 = V (1 - 1/V)."""
    V, steps = 20, 900
    figure = ntp_2()
    assert [axis.get_title("left") for axis in figure.axes] == [title for title, *_ in PANELS]
    assert {(axis.get_xscale(), axis.get_yscale(), axis.get_xlabel()) for axis in figure.axes} == {
        ("linear", "linear", "step t")
    }
    ahead = 0.2 / math.sqrt(V) * steps / math.sqrt(V - 1)
    floors = {0: 0.0, 3: math.log1p((V - 1) * math.exp(-ahead))}
    for number, axis in enumerate(figure.axes):
        [(step, measured)] = lines(axis, MEASURED)
        assert step == list(range(steps + 1))
        floor = lines(axis, REFERENCE)
        assert len(floor) == (number in floors)
        if floor:
            [(_, (value, _))] = floor
            assert value == pytest.approx(floors[number], rel=1e-9, abs=1e-15)
            assert value < min(measured)
        zero = max(value for value in measured if not math.isnan(value)) < 1e-28
        assert zero == (number == 1)
        assert texts(axis) == ({"zero to rounding": (0.5, 0.25)} if zero else {})
        assert axis.get_ylim()[1] - axis.get_ylim()[0] > 0.04  # not the rounding of 0
        last = {2: 0.2 / math.sqrt(V) * steps, 5: 0.05 / math.sqrt(V) * steps}.get(number)
        assert last is None or measured[-1] == pytest.approx(last, rel=0.01, abs=0.01)
    [legend] = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["measured", "infimum"]
    assert figure.get_suptitle().endswith(" section-7")


@pytest.fixture(scope="module")
def figure() -> Figure:
    short = tuple((replace(config, steps2=40), *line) for config, *line in measured.OPTIMIZERS)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(measured, "OPTIMIZERS", short)
        return measured.ngd_and_gd()


def test_both_are_followed_for_a_hundred_thousand_steps() -> None:
    assert [(config.optimizer, config.steps2) for config, *_ in measured.OPTIMIZERS] == [("gd", 10**5), ("ngd", 10**5)]


def test_each_case_has_the_direction_errors_that_train_prints(figure: Figure, command: Command) -> None:
    assert [axis.get_title("left") for axis in figure.axes] == list(CASES)
    for axis, name in zip(figure.axes, CASES, strict=True):
        assert (axis.get_xscale(), axis.get_yscale(), axis.get_xlabel()) == ("log", "log", "step t")
        for line, optimizer, colour in zip(axis.lines, ("gd", "ngd"), (BOUND, MEASURED), strict=True):
            rows = command.json("train", name, "--steps2", 40, "--at", "1,7,40", "--optimizer", optimizer)["stage2"]
            step, gap = np.asarray(line.get_xdata()), np.asarray(line.get_ydata())
            assert step.tolist() == list(range(1, 41))
            assert {row["step"]: row["one_minus_cos"] for row in rows} == {t: gap[t - 1] for t in (1, 7, 40)}
            assert to_hex(str(line.get_color())) == colour
