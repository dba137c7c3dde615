"""The paper of examples/first_order: its theorems hold exactly, and its controls are noticed."""

from pathlib import Path

import pytest

from tests.command_line import Command
from tests.pages import ROOT, script

CLAIMS = ROOT / "examples" / "first_order" / "claims.py"
NAMES = tuple(theorem.name for theorem in script("theorems", "examples/first_order").THEOREMS)


@pytest.mark.timeout(600)
def test_all_theorems_hold_exactly_and_all_controls_are_violated(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = Command(capsys).json("audit", "--claims", CLAIMS, "--out", "report")["verdicts"]
    judged = [row for row in rows if row["verdict"] != "not-applicable"]
    theorems = [row for row in judged if row["form"] == "printed"]
    controls = [row for row in judged if row["control_of"]]
    assert {row["evidence"] for row in judged} == {"exact"}
    assert len({row["claim"] for row in theorems}) == len({row["claim"] for row in controls}) == 12
    assert {(row["verdict"], row["slack"]) for row in theorems} == {("holds", 1.0)}
    assert {row["verdict"] for row in controls} == {"violated"}
    beyond = [row for row in judged if row["form"] == "variant" and "-outside-" in row["dataset"]]
    assert {(row["claim"], row["verdict"]) for row in beyond} == {
        (f"first-order.{name}.any-step", "violated")
        for name in ("gradient-descent", "subgradient", "krasnoselskii-mann-long", "nonconvex-gradient-descent")
    }
    assert all(row["dataset"].startswith(row["claim"].split(".")[1]) for row in rows)
    assert len(rows) == 176


def test_a_hunt_outside_the_assumption_finds_the_simplest_step(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    command = Command(capsys)
    claim = "first-order.gradient-descent"
    found = command.json("hunt", claim, "--without", "short_steps", "--claims", CLAIMS, "--seconds", 30)
    assert found["found"]
    document = Path(found["dataset"]).read_text(encoding="utf-8")
    assert '"n": 1' in document
    assert '"gamma": 2' in document


@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", NAMES)
def test_a_hunt_in_the_box_of_a_theorem_refutes_its_control_alone(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    command = Command(capsys)
    found = command.json("hunt", f"first-order.{name}.control", "--claims", CLAIMS, "--seconds", 60)
    assert (found["found"], found["evidence"]) == (True, "exact")
    printed = command.json("hunt", f"first-order.{name}", "--claims", CLAIMS, "--seconds", 2)
    assert not printed["found"]
    assert set(printed["verdicts"]) == {"holds"}
