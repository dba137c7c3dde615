"""`marginaudit relax`: its tables, its files and what it refuses."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from marginaudit.reports.ntp import relaxed
from marginaudit.reports.ntp.figures.relaxed import relaxed_figure
from marginaudit.reports.ntp.relaxed import SHARES
from tests.command_line import SHORT, SVOP, Command
from tests.reports.plots.layout import crowded


def test_a_dial(command: Command) -> None:
    arguments = ("relax", "example-1", "--dims", "4,2", "--seeds", "1", "--claim", "ntp.lemma3", *SHORT)
    found = command.json(*arguments, "--table", "t.csv", "--plot", "p.svg")
    assert found["dataset"] == "example-1"
    assert [(row["dimension"], row["share"]) for row in found["rows"]] == [
        (d, share) for d in (4, 2) for share in (0.0, *SHARES)
    ]
    assert [row["coherence"] for row in found["rows"]] == sorted(
        row["coherence"] for row in found["rows"][:6]
    ) + sorted(row["coherence"] for row in found["rows"][6:])
    (told,) = found["statements"]
    assert (told["claim"], told["one_hot"], told["broken_on"], told["kind"]) == ("ntp.lemma3", "holds", 2, "unit")
    assert 0 <= told["without_violation"] < told["coherence"] < 1e-6
    with Path("t.csv").open(newline="") as file:
        lines = list(csv.reader(file))
    assert lines[0] == list(found["rows"][0])
    assert len(lines) == 13
    assert Path("p.svg").read_text().rstrip().endswith("</svg>")
    answer = command(*arguments)
    assert answer.status == 0
    assert "ntp.lemma3" in answer.out
    assert "2 violated" in answer.out


def test_the_datasets_own_embedding_and_kinds(command: Command) -> None:
    Path("own.json").write_text(json.dumps(SVOP | {"embedding": np.tri(4).tolist()}))
    arguments = ("relax", "own.json", "--claim", "ntp.gradient.ov", "--seeds", "1", *SHORT)
    found = command.json(*arguments, "--kind", "gaussian", "--kind", "unit", "--dims", "5")
    arms = [(row["kind"], row["dimension"], row["seed"]) for row in found["rows"][::6]]
    assert arms == [("given", 4, None), ("gaussian", 5, 0), ("unit", 5, 0)]
    assert found["rows"][5]["coherence"] == pytest.approx(np.sqrt(3 / 4), rel=1e-14, abs=0)
    assert [row["dimension"] for row in command.json(*arguments)["rows"][6::6]] == [2, 4, 16]


def test_directions_are_enclosed_where_that_is_asked_for(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relaxed, "WIDE", 0.0)
    arguments = ("relax", "example-1", "--dims", "4", "--seeds", "1", "--claim", "ntp.lemma3", *SHORT)
    ends = [command.json(*arguments, *option)["rows"][-1]["certified"] for option in ((), ("--enclose",))]
    assert ends == [False, True]


def test_what_is_refused(command: Command) -> None:
    for arguments, line in (
        (["--dims", "0"], "--dims: got '0', expected a whole number from 1 to 1000, for each dimension"),
        (["--dims", "4,x"], "--dims: got '4,x', expected a whole number"),
        (["--seeds", "0"], "--seeds: got '0', expected a whole number from 1 to 1000"),
        (["--kind", "given"], "--kind: got 'given', expected one of unit, gaussian"),
        (["--table", "t.txt"], "--table t.txt: got the ending '.txt', expected .csv"),
        (["--claim", "nope"], "--claim 'nope': got no claim of that id"),
        (
            ["--steps1", "1e9"],
            "example-1: --steps1 1000000000: got no closed form (the embeddings are not orthonormal)",
        ),
    ):
        assert line in command.refused("relax", "example-1", *arguments)
    assert not list(Path().iterdir())


def test_the_figure_leaves_out_what_is_not_known() -> None:
    row = {"kind": "unit", "dimension": 4, "coherence": 0.1, "stage2_slack": 5.0}
    rows = [
        row | {"share": 0.1, "stage2_error": 0.2, "stage2_bar": 0.01},
        row | {"share": 1.0, "stage2_error": 0.3, "stage2_bar": 0.4},
        row | {"share": 1.0, "stage2_error": None, "stage2_bar": None, "stage2_slack": None},
        row | {"share": 1.0, "stage2_error": 0.3, "stage2_bar": None},
        row | {"share": 1.0, "stage2_error": 0.5, "stage2_bar": 0.1, "coherence": 0.6},
    ]
    figure = relaxed_figure("a$", rows)
    shown = [[np.asarray(axis.containers[0].lines[0].get_data()).tolist()] for axis in figure.axes]  # type: ignore[attr-defined]
    assert shown == [
        [[[0.1, 0.6], [0.2, 0.5]]],
        [[[4.0], [0.5]]],
        [[[0.1, 0.6], [5.0, 5.0]]],
        [[[4.0], [5.0]]],
    ]
    assert figure.get_suptitle() == r"a\$: without orthonormal tokens"
    assert crowded(figure) == []
    assert sum(axis.get_position().width for axis in figure.axes[:2]) > 0.8
