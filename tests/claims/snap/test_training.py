"""Recorded steps of sequence classes through the commands, also where there is no E' or no h."""

import json
from pathlib import Path

import numpy as np
import pytest

from marginaudit.claims.snap import ClassConfig, ClassRun
from marginaudit.claims.snap.training import not_followed
from marginaudit.orders.snap import CASES, SequenceClasses, classes_to_document
from marginaudit.training.log_time import NotIntegrated
from tests.command_line import Command, dataset_file
from tests.training.snap.independent import eq_10

SAME = {
    "M": 50,
    "classes": [{"next": n, "query": "q", "probabilities": {"a": 1.0}} for n in ("m", "n")],
}
"""Two classes of the same attention."""


def test_linearly_dependent_classes_are_trained_without_xi(command: Command, tmp_path: Path) -> None:
    path = dataset_file(tmp_path, SAME)
    result = command("train", path, "--steps", "10", "--json")
    assert f"{path}: xi, B and growth are null after the start: The classes' attention is linearly" in result.err
    start, *rows = json.loads(result.out)["rows"]
    assert start["xi"] == {"m": 0, "n": 0}
    assert len(rows) > 3
    assert all(row["xi"] == row["B"] == {"m": None, "n": None} and row["h"] > 0 for row in rows)
    assert all(row["growth"] == {"q": {}} for row in rows)


@pytest.mark.parametrize("name", ["train", "audit"])
def test_a_recorded_step_beyond_the_last(command: Command, name: str) -> None:
    refused = command.refused(name, "snap-single", "--steps", "3", "--at", "2,3,4")
    assert refused == "--at 4: got a step beyond the last, expected at most 3"


def test_attention_in_the_rows(command: Command, tmp_path: Path) -> None:
    """chi, xi and B of an independent integration in t; xi is the derivative of B."""
    data = SequenceClasses.from_weights(
        "three",
        40,
        [
            ("l", "p", {"a": 3, "b": 1, "x": 1}),
            ("m", "q", {"c": 2, "d": 1, "x": 2, "y": 1}),
            ("n", "q", {"e": 1, "y": 1}),
        ],
    )
    path = dataset_file(tmp_path, classes_to_document(data))
    options = ("--at", "20,21,22", "--steps", "30", "--lr-z", "0.3")
    start, first, middle, last = command.json("train", path, *options)["rows"]
    assert start["growth"] == {"p": {"a": 1, "b": 1}, "q": {"c": 1, "d": 1, "e": 1}}
    assert start["B"] == start["xi"] == {"l": 0, "m": 0, "n": 0}
    z, B = eq_10(data, 21.0, 0.5, 0.3)
    found = [*middle["growth"]["p"].values(), *middle["growth"]["q"].values()]
    expected = np.exp(2 * np.array([z[0], z[1], z[4], z[5], z[7]]))
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    np.testing.assert_allclose(list(middle["B"].values()), B, rtol=1e-9)
    for name in data.next_tokens:
        slope = (last["B"][name] - first["B"][name]) / 2 / 0.3
        assert middle["xi"][name] == pytest.approx(slope, rel=2e-3, abs=0)


def test_attention_beyond_the_solver(command: Command) -> None:
    _, row = command.json("train", "snap-single", "--at", "100", "--steps", "100", "--lr-z", "1e60")["rows"]
    assert row["B"] == row["xi"] == {"n0": None, "n1": None}
    assert set(row["growth"]["q"].values()) == {None}
    assert row["gamma"] > 0


def test_a_path_that_is_not_integrated_is_tried_once(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = []

    def fail(*_: object) -> None:
        tried.append(1)
        raise NotIntegrated("no more")

    monkeypatch.setattr("marginaudit.claims.snap.run.follow", fail)
    run = ClassRun(CASES["snap-single"](), ClassConfig(steps=3))
    for _ in range(3):
        assert not_followed(run) == "no more"
    assert len(tried) == 1


def test_linearly_dependent_classes_are_audited(command: Command, tmp_path: Path) -> None:
    report = command.json("audit", dataset_file(tmp_path, SAME), "--steps", "10", "--seeds", "20")
    verdicts = {row["claim"]: row["verdict"] for row in report["verdicts"]}
    assert verdicts["snap.lemma17.literal"] == "violated"
    assert "broken" not in verdicts.values()
    [written] = Path("audit-report/trajectories").glob("*.csv")
    header, start, *steps = written.read_text(encoding="utf-8").splitlines()
    assert header == "step,h,h_star,gamma,share,xi m,xi n,B m,B n"
    assert start.endswith(",0.0,0.0,0.0,0.0")
    assert all(step.endswith(",,,,") for step in steps)


def test_step_sizes_beyond_what_h_is_computed_for(command: Command) -> None:
    report = command.json("audit", "snap-single", "--lr-y", "600", "--steps", "100", "--seeds", "20")
    assert "broken" not in {row["verdict"] for row in report["verdicts"]}
    assert not list(Path("audit-report").glob("trajectories/*.csv"))
    line = command.refused("train", "snap-single", "--lr-y", "600")
    assert line == "--lr-y: got 600, expected at most 500, for exp of it to be a float64"
