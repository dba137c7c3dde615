"""Recorded steps of sequence classes through the commands, also where there is no E' or no h."""

from pathlib import Path

import pytest

from tests.command_line import Command, dataset_file

SAME = {
    "M": 50,
    "classes": [{"next": n, "query": "q", "probabilities": {"a": 1.0}} for n in ("m", "n")],
}
"""Two classes of the same attention."""


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_linearly_dependent_classes_are_trained_without_xi(command: Command, tmp_path: Path) -> None:
    path = dataset_file(tmp_path, SAME)
    start, *rows = command.json("train", path, "--steps", "10")["rows"]
    assert start["xi"] == {"m": 0, "n": 0}
    assert len(rows) > 3
    assert all(row["xi"] == {"m": None, "n": None} and row["h"] > 0 for row in rows)


def test_linearly_dependent_classes_are_audited(command: Command, tmp_path: Path) -> None:
    report = command.json("audit", dataset_file(tmp_path, SAME), "--steps", "10", "--seeds", "20")
    verdicts = {row["claim"]: row["verdict"] for row in report["verdicts"]}
    assert verdicts["snap.lemma17"] == "violated"
    assert "broken" not in verdicts.values()
    [written] = Path("audit-report/trajectories").glob("*.csv")
    header, start, *steps = written.read_text(encoding="utf-8").splitlines()
    assert header == "step,h,h_star,gamma,share,xi m,xi n"
    assert start.endswith(",0.0,0.0")
    assert all(step.endswith(",,") for step in steps)


def test_step_sizes_beyond_what_h_is_computed_for(command: Command) -> None:
    report = command.json("audit", "snap-single", "--lr-y", "600", "--steps", "100", "--seeds", "20")
    assert "broken" not in {row["verdict"] for row in report["verdicts"]}
    assert not list(Path("audit-report").glob("trajectories/*.csv"))
    line = command.refused("train", "snap-single", "--lr-y", "600")
    assert line == "--lr-y: got 600, expected at most 500, for exp of it to be a float64"
