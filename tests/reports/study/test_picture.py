"""What the figure of a sweep shows, and `marginaudit figure` of a built-in one."""

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from marginaudit.orders import InputError, printable, shown
from marginaudit.reports.command.arguments import papers
from marginaudit.reports.page.files import csv_of
from marginaudit.reports.plots.measured import rendered
from marginaudit.reports.study.merge import cell_rows, read_cells
from marginaudit.reports.study.picture import picture
from marginaudit.reports.study.spec import Layout, Spec, find_spec
from tests.command_line import Command
from tests.reports.study.specs import ODD, odd_spec

FIGURE = '[figure]\ntitle = "T$"\nx = "rate"\ny = "end"\nline = "N"\npanel = "what"\n'
TEXT = ODD.replace("[0.5, 1, 2]", "[0.5, 1, 5]\nwhat = ['well', 'slow']").replace("= 3", "= 2\nkeep = ['end']")


def runs(spec: Spec, value: Any) -> list[dict[str, Any]]:
    """Rows of runs whose kept results are what ``value`` makes of (columns, seed)."""
    rows = []
    for made in spec.data:
        for config in spec.configs:
            columns = {**made.columns, **spec.settings(config)}
            for seed in spec.seeds:
                results = {name: value(columns, seed) for name in spec.keep}
                rows.append({**columns, "seed": seed, **results, "status": "done", "message": ""})
    return rows


def bars(axis: Any) -> dict[str, tuple[list[float], list[float], list[float]]]:
    """Of each line: where its points are, and half the lengths of their bars."""
    found = {}
    for line in axis.containers:
        segments = line[2][0].get_segments()
        lengths = [float(segment[1][1] - segment[0][1]) / 2 for segment in segments if len(segment)]
        x, y = (np.asarray(values, dtype=float).tolist() for values in line[0].get_data())
        found[line.get_label()] = x, y, lengths
    return found


def test_points_are_means_and_bars_deviations() -> None:
    spec = odd_spec(TEXT + FIGURE)
    assert spec.layout is not None
    cells = cell_rows(spec, runs(spec, lambda c, seed: c["rate"] * c["N"] + (c["what"] == "slow") + seed))
    figure = picture(spec, spec.layout, cells)
    assert figure.get_suptitle() == r"T\$"
    assert [axis.get_title("left") for axis in figure.axes] == ["what = well", "what = slow"]
    assert [axis.get_ylabel() for axis in figure.axes] == ["end", ""]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["N = 1", "N = 4"]
    for axis, more in zip(figure.axes, (0, 1), strict=True):
        assert (axis.get_xscale(), axis.get_xlabel()) == ("log", "rate")
        assert [text.get_text() for text in axis.get_xticklabels()] == ["0.5", "1", "5"]
        assert axis.get_xticks(minor=True).tolist() == []
        for N in (1, 4):
            x, y, lengths = bars(axis)[f"N = {N}"]
            assert x == [0.5, 1, 5]
            assert y == [rate * N + more + 0.5 for rate in (0.5, 1, 5)]
            assert lengths == pytest.approx([0.5**0.5] * 3)  # of s and s + 1


@pytest.mark.parametrize(
    ("factor", "add", "scale"), [(999, 0, "linear"), (1000, 0, "log"), (10**9, -4, "linear"), (10**9, -1, "linear")]
)
def test_means_of_many_powers_of_ten_are_on_a_logarithmic_scale(factor: int, add: int, scale: str) -> None:
    spec = odd_spec(TEXT + FIGURE)
    assert spec.layout is not None
    cells = cell_rows(spec, runs(spec, lambda c, seed: (factor if c["N"] == 4 else 1) + add))
    assert {axis.get_yscale() for axis in picture(spec, spec.layout, cells).axes} == {scale}


def test_panels_share_their_axes() -> None:
    spec = odd_spec(TEXT + FIGURE)
    assert spec.layout is not None
    cells = cell_rows(spec, runs(spec, lambda c, seed: c["rate"] + seed))
    fewer = [cell for cell in cells if cell["what"] == "well" or cell["rate"] == 1]
    well, slow = picture(spec, spec.layout, fewer).axes
    assert (slow.get_xlim(), slow.get_ylim()) == (well.get_xlim(), well.get_ylim())


def test_words_stand_side_by_side_and_near_numbers_on_a_plain_axis() -> None:
    spec = odd_spec(TEXT)
    cells = cell_rows(spec, runs(spec, lambda c, seed: c["rate"]))
    (axis,) = picture(spec, Layout("what", "end"), [cell for cell in cells if (cell["N"], cell["rate"]) == (1, 5)]).axes
    assert [text.get_text() for text in axis.get_xticklabels()] == ["well", "slow"]
    (line,) = bars(axis).values()
    assert list(line) == [[0, 1], [5, 5], [0, 0]]
    near = [cell for cell in cells if (cell["what"], cell["N"]) == ("well", 1) and cell["rate"] < 5]
    mixed = [{**cell, "rate": x} for cell, x in zip(near, ("all", 5), strict=True)]
    (axis,) = picture(spec, Layout("rate", "end"), mixed).axes
    assert [text.get_text() for text in axis.get_xticklabels()] == ["all", "5"]
    assert picture(spec, Layout("rate", "end"), near).axes[0].get_xscale() == "linear"
    for far, scale in (((1, 7.9), "linear"), ((1, 8), "log"), ((0, 8), "linear"), ((-1, 8), "linear")):
        two = [{**cell, "rate": x} for cell, x in zip(near, far, strict=True)]
        assert picture(spec, Layout("rate", "end"), two).axes[0].get_xscale() == scale


@pytest.mark.parametrize("place", ["x", "panel", "line"])
def test_names_are_shown_letter_by_letter(place: str) -> None:
    spec = odd_spec(TEXT)
    cells = cell_rows(spec, runs(spec, lambda c, seed: c["rate"] + seed))
    names = ["$a$", r"$\frac$", "one $", "\x1b[1m"]
    renamed = [{**cell, "what": name} for name in names for cell in cells[:3]]
    layout = {"x": "rate", "y": "end"} | {place: "what"}
    text = rendered(picture(spec, Layout(**layout), renamed), ".svg").decode()
    words = {
        "".join(element.itertext()) for element in ElementTree.fromstring(text).iter() if element.tag[-5:] == "}text"
    }
    before = "" if place == "x" else "what = "
    assert {f"{before}{printable(name)}" for name in names} <= words


def test_a_cell_without_a_value_is_left_out() -> None:
    spec = odd_spec(TEXT)
    cells = cell_rows(spec, runs(spec, lambda c, seed: None if c["rate"] == 1 else 2.0))
    assert [cells[0]["mean"], cells[2]["mean"], cells[2]["sd"]] == [2.0, None, None]
    assert [cells[0]["count"], cells[2]["count"], cells[2]["seeds"]] == [2, 0, 2]
    own = [cell for cell in cells if (cell["N"], cell["what"]) == (1, "well")]
    ((_, y, _),) = bars(picture(spec, Layout("rate", "end"), own).axes[0]).values()
    assert np.isnan(y).tolist() == [False, True, False]


def test_five_panels_take_two_rows() -> None:
    spec = odd_spec(ODD.replace("[1, 4]", "[1, 2, 3, 4, 5]") + '[figure]\nx = "rate"\ny = "end"\npanel = "N"\n')
    assert spec.layout is not None
    figure = picture(spec, spec.layout, cell_rows(spec, runs(spec, lambda c, seed: 1.0)))
    assert len(figure.axes) == 5
    assert [axis.get_ylabel() for axis in figure.axes] == ["end", "", "", "", "end"]
    assert figure.legends == []


@pytest.fixture
def snap_6() -> tuple[Spec, list[dict[str, Any]]]:
    """Figure 6's grid with numbers of no meaning, written as a sweep writes them."""
    spec = find_spec("snap-6", papers())
    cells = cell_rows(spec, runs(spec, lambda c, seed: c["num_last"] / 3 + c["lr_z"] / (c["ratio"] + seed)))
    Path("done").mkdir()
    Path("done/cells.csv").write_text(csv_of(cells), encoding="utf-8")
    return spec, cells


def test_the_figure_of_a_sweep_that_was_run(command: Command, snap_6: tuple[Spec, list[dict[str, Any]]]) -> None:
    spec, cells = snap_6
    assert read_cells(spec, Path("done")) == cells
    answer = command.json("figure", "snap-6", "--from", "done", "--out", "six.svg")
    assert answer == {"figure": "snap-6", "file": "six.svg", "cells": cells}
    assert len(cells) == 64
    assert list(cells[0]) == ["num_last", "lr_z", "ratio", "seeds", "mean", "sd", "count"]
    assert Path("six.svg").read_bytes().startswith(b"<?xml")
    shown = command("figure", "snap-6", "--from", "done").out
    assert "num_last" in shown
    assert shown.endswith("figure: snap-6.svg\n")
    assert "snap-6" in command.json("figure", "list")["figures"]


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text.replace("0.5", "0.25"),
        lambda text: text.replace("mean", "median"),
        lambda text: text[: len(text) // 2],
        lambda text: "",
        lambda text: "".join(f"{line},7\n" for line in text.splitlines()[:1]) + text.partition("\n")[2],
        lambda text: text[:-2] + '1"\n' + "a" * 200_000,
    ],
)
def test_other_cells_are_refused(damage: Any, snap_6: tuple[Spec, list[dict[str, Any]]]) -> None:
    path = Path("done/cells.csv")
    damaged = damage(path.read_text())
    assert damaged != path.read_text()
    path.write_text(damaged)
    with pytest.raises(InputError, match=r"done/cells.csv: got other cells, expected those of snap-6"):
        read_cells(snap_6[0], Path("done"))


@pytest.mark.parametrize(
    ("column", "text", "expected"),
    [
        ("sd", "-0.1", "a finite number of at least 0"),
        ("sd", "nan", "a finite number of at least 0"),
        ("mean", "1e999", "a finite number"),
        ("mean", "two", "a finite number"),
        ("count", "", "a whole number of at least 0"),
        ("seeds", "-1", "a whole number of at least 0"),
        ("seeds", "9" * 400, "a whole number of at least 0"),
    ],
)
def test_what_is_no_number_of_a_cell_is_refused_by_its_place(
    command: Command, snap_6: tuple[Spec, list[dict[str, Any]]], column: str, text: str, expected: str
) -> None:
    snap_6[1][1][column] = text
    Path("done/cells.csv").write_text(csv_of(snap_6[1]), encoding="utf-8")
    line = command.refused("figure", "snap-6", "--from", "done")
    assert line == f"done/cells.csv: line 3: {column}: got {shown(text)}, expected {expected}"


def test_what_cannot_be_drawn_from(command: Command) -> None:
    line = command.refused("figure", "ntp-2", "--from", "x")
    assert line == "--from: got the figure ntp-2, expected a sweep's: snap-6"
    assert command.refused("figure", "snap-6", "--from", "nowhere").startswith("nowhere/cells.csv: got No such file")


@pytest.mark.slow
def test_the_figure_runs_the_sweep_where_it_is_not_given(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of figure 6 as printed: entropy falls with eta_Z."""
    cells = command.json("figure", "snap-6")["cells"]
    of = {(cell["num_last"], cell["ratio"], cell["lr_z"]): cell["mean"] for cell in cells}
    for num_last in (1, 3, 5, 10):
        for ratio in (1, 2, 5, 10):
            entropies = [of[num_last, ratio, lr_z] for lr_z in (0.5, 1, 2, 3)]
            assert entropies == sorted(entropies, reverse=True)
            assert all(0 < entropy < np.log(10) for entropy in entropies)
