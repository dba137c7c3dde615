"""`marginaudit realize`: what it says of a text, and the part that it writes."""

import csv
import json
import re
from pathlib import Path

import numpy as np
import pytest

from marginaudit.orders.ntp import read_dataset
from marginaudit.reports.ntp.figures.realizable import realizable_figure
from marginaudit.reports.ntp.realizable import SIZES
from tests.command_line import Command
from tests.reports.plots.layout import crowded

SVOP = "S V O P\nV O P\nO P P\nP S V\n"
SONG = "the cat sat\nthe dog sat\nthe cat ran\na dog ran on\nthe dog ran\n"


def test_all_of_a_realizable_text(command: Command) -> None:
    Path("svop.txt").write_text(SVOP)
    found = command.json("realize", "svop.txt")
    assert (found["samples"], found["distinct"], found["tokens"], found["sentences"]) == (9, 9, 4, 4)
    assert found["collocation_share"] == 1
    assert (found["queries"], found["well_ordered"], found["unconfused"], found["confused"]) == (4, 4, 4, 0)
    assert found["length_1"] == {"one": 4, "several": 0}
    part = found["realizable"]
    assert (part["lower"], part["upper"], part["method"]) == (9, 9, "exact; bound by matching")
    assert part["audit"] == "marginaudit audit svop.realizable.json"
    written, whole = read_dataset(part["dataset"]), read_dataset("svop.txt")
    assert written.name == "svop-realizable"
    assert set(written.samples) == set(whole.samples)
    assert written.collocation.function == whole.collocation.function
    assert all(a["holds"] for name, a in command.json("classify", part["dataset"])["assumptions"].items())


def test_the_part_of_another_text(command: Command) -> None:
    Path("song.txt").write_text(SONG)
    found = command.json("realize", "song.txt", "--out", "p.json", "--table", "t.csv", "--plot", "f.svg")
    part = found["realizable"]
    assert (found["samples"], part["lower"], part["upper"]) == (11, 7, 7)
    written = read_dataset("p.json")
    assert (written.V, written.N, sum(written.counts)) == (part["tokens"], part["distinct"], part["lower"])
    rows = found["sizes"]
    assert [(row["varied"], row["value"]) for row in rows] == [
        ("vocabulary", 7), ("length", 3), ("sentences", 5),
    ]  # fmt: skip
    assert all(row["lower"] == 7 for row in rows)
    with Path("t.csv").open(newline="") as file:
        told = list(csv.reader(file))
    assert tuple(told[0]) == SIZES
    assert [line[-3:] for line in told[1:]] == [["7", "7", rows[0]["method"]]] * 3
    assert Path("f.svg").read_text().rstrip().endswith("</svg>")
    answer = command("realize", "song.txt", "--out", "p.json")
    assert answer.status == 0
    assert ["samples", "in", "the", "largest", "part", "found", "7", "11"] in map(str.split, answer.out.splitlines())
    assert "marginaudit audit p.json" in answer.out


def test_what_is_found_and_what_bounds_it_are_told_apart(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("marginaudit.orders.ntp.realize.part.RELAXED", 0)
    Path("gap.txt").write_text("c b b a b\nc a a b a\n")
    said = command("realize", "gap.txt").out.splitlines()
    assert [line.split()[-2] for line in said if line.startswith("samples in")] == ["4", "6"]


def test_options(command: Command) -> None:
    Path("a.jsonl").write_text("".join(json.dumps({"t": t}) + "\n" for t in ("Ab ab. Ab", "b a B")))
    found = command.json("realize", "a.jsonl", "--column", "t", "--prose", "--unit", "char", "--max-length", "2")
    assert (found["sentences"], found["tokens"], found["longest"], found["samples"]) == (3, 3, 2, 5)
    Path("b.txt").write_text("a b a b c\nc a b b d\n")
    found = command.json("realize", "b.txt", "--max-vocabulary", "2")
    assert (found["tokens"], found["samples"]) == (2, 8)
    assert json.loads(Path("b.realizable.json").read_text())["vocabulary"] == ["a", "<unk>"] or found["realizable"]
    loose, strict = (command.json("realize", "b.txt", *more)["realizable"] for more in ([], ["--majority"]))
    assert (loose["lower"], strict["lower"]) == (5, 5)


def test_what_is_left_out_is_counted(command: Command) -> None:
    Path("a.txt").write_text("# One? Two, three!\nFour five six seven.\n")
    found = command.json("realize", "a.txt", "--prose", "--max-length", "2")
    assert found["left_out"] == {"comments": 0, "characters": 5, "sentences": 1, "samples": 1}
    said = command("realize", "a.txt").out
    assert "\nleft out: 1 comment line\n" in said
    said = command("realize", "a.txt", "--prose").out
    assert re.search(r"left out: 5 characters .*, 1 sentence ", said)


def test_what_is_refused(command: Command) -> None:
    Path("a.txt").write_text("a\n")
    Path("b.txt").write_text("a b\n")
    Path("c.txt").write_text("# a b\n\n")
    for arguments, line in (
        (["a.txt"], "a.txt: got 1 sentence of fewer than 2 tokens, expected a sentence of at least 2 tokens"),
        (["c.txt"], "c.txt: got no sentence, expected a sentence of at least 2 tokens (a line that starts with # is"),
        (["none.txt"], "none.txt: got No such file or directory, expected a text file"),
        (["b.txt", "--out", "p.txt"], "--out p.txt: got the ending '.txt', expected .json"),
        (["b.txt", "--table", "t.json"], "--table t.json: got the ending '.json', expected .csv"),
        (["b.txt", "--plot", "p.gif"], "--plot p.gif: got the ending '.gif', expected one of .svg, .pdf, .png"),
        (["b.txt", "--max-vocabulary", "1"], "--max-vocabulary: got '1', expected a whole number from 2 to 1e9"),
        (["b.txt", "--max-length", "0"], "--max-length: got '0', expected a whole number from 1 to 1e9"),
        (["b.txt", "--unit", "id"], "b.txt: line 1: got 'a', expected ids"),
    ):
        assert line in command.refused("realize", *arguments)
    assert sorted(path.name for path in Path().iterdir()) == ["a.txt", "b.txt", "c.txt"]


def test_an_audit_of_a_text_says_why_and_where_to_go(command: Command) -> None:
    Path("my song.TXT").write_text(SONG)
    Path("svop.txt").write_text(SVOP)
    short = ("--steps1", "2", "--steps2", "2", "--claim", "ntp.lemma3")
    answer = command("audit", "my song.TXT", *short)
    assert answer.out.startswith("my song.TXT: most statements do not apply")
    assert "(collocation, injective, next_from_sentence)" in answer.out
    assert "`marginaudit realize 'my song.TXT'` finds 7 of 11 samples" in answer.out
    assert answer.err == ""
    assert command("audit", "my song.TXT", *short, "--json").err.startswith("my song.TXT: most statements")
    assert not command("audit", "svop.txt", *short).out.startswith("svop.txt")
    Path("-\u202f.txt").write_text(SONG)
    said = command("audit", "./-\u202f.txt", *short).out
    assert said.startswith(r"-\u202f.txt: most")
    assert r"`marginaudit realize $'./-\342\200\257.txt'` finds 7" in said


def test_the_figure_has_what_the_rows_say() -> None:
    row = {"samples": 10, "collocation_share": 0.9, "queries": 4, "well_ordered": 1, "upper": 8}
    rows = [
        row | {"varied": varied, "value": value, "lower": lower}
        for varied in ("vocabulary", "length", "sentences")
        for value, lower in ((8, 5), (4, 6))
    ]
    rows[-1] |= {"queries": 0, "well_ordered": 0}
    figure = realizable_figure("a$", rows)
    assert figure.get_suptitle().startswith(r"a\$: ")
    for axis, ordered in zip(figure.axes, (0.25, 0.25, 1.0), strict=True):
        lines = {str(line.get_label()): line for line in axis.lines}
        assert [np.asarray(line.get_xdata()).tolist() for line in axis.lines] == [[4, 8]] * 4
        assert [np.asarray(line.get_ydata()).tolist() for line in lines.values()] == [
            [0.9, 0.9], [0.8, 0.8], [0.6, 0.5], [ordered, 0.25],
        ]  # fmt: skip
    assert crowded(figure) == []
    assert sum(axis.get_position().width for axis in figure.axes) > 0.8
