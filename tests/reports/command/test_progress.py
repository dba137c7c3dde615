"""What each command says is under way, and how far it is: from 0 to the total, dataset after dataset."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from marginaudit.claims.ntp import algorithm1
from marginaudit.reports import LEDGER
from tests.command_line import SHORT, Command

TWO = ("example-1", "section-7")
TWO_RUNS = """
paper = "ntp"
seeds = 2
keep = ["ntp.lemma3:verdict"]
[data]
generator = "free"
V = 4
N = 5
L = 3
[settings]
steps1 = 3
steps2 = 3
"""


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[Any]]:
    """What the bars are told."""
    found: dict[str, list[Any]] = {"total": [], "say": [], "log": [], "reach": []}

    @contextmanager
    def bar(total: float) -> Iterator[Any]:
        found["total"].append(total)
        yield SimpleNamespace(say=found["say"].append, log=found["log"].append, reach=found["reach"].append)

    commands = [f"command.{name}" for name in ("console", "table", "train", "hunt", "figure", "sweep")]
    for name in (*commands, "command.ntp.relax", "command.ntp.realize"):
        monkeypatch.setattr(import_module(f"marginaudit.reports.{name}"), "progress_bar", bar)
    return found


def test_a_table(command: Command, told: dict[str, list[Any]]) -> None:
    assert command("table", "direction", *TWO, *SHORT).status == 0
    assert told["say"] == list(TWO)
    assert told["total"] == [120]
    assert told["reach"] == sorted(told["reach"])
    assert {30, 60, 90, 120} <= set(told["reach"])


def test_training(command: Command, told: dict[str, list[Any]]) -> None:
    assert command("train", "example-1", *SHORT).status == 0
    assert (told["say"], told["total"]) == (["example-1"], [60])
    assert told["reach"] == sorted(told["reach"])
    assert told["reach"][-1] == 60


def test_an_audit(command: Command, told: dict[str, list[Any]], monkeypatch: pytest.MonkeyPatch) -> None:
    claims = ("ntp.theorem1.norm", "ntp.theorem2.floor")
    module = import_module("marginaudit.reports.command.audit")
    monkeypatch.setattr(module, "ledger", lambda *_: {claim: LEDGER[claim] for claim in claims})
    assert command("audit", *TWO, *SHORT, "--out", "report").status == 0
    steps = ("training", *claims, "figures", "audited")
    assert told["say"] == [f"{name}: {what}" for name in TWO for what in steps]
    assert told["log"] == [f"{name}: audited" for name in TWO]
    assert told["total"] == [120]
    assert told["reach"] == sorted(told["reach"])
    assert {30, 60, 90, 120} <= set(told["reach"])


def test_a_sweep(command: Command, told: dict[str, list[Any]]) -> None:
    Path("two.toml").write_text(TWO_RUNS)
    assert command("sweep", "two.toml", "--out", "two", "--jobs", "1").status == 0
    assert told["total"] == [2]
    assert told["reach"] == sorted(told["reach"])
    assert told["reach"][-1] == 2


def test_an_audit_that_takes_long_is_announced_with_an_option(
    command: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Two samples of one token and one of two are four scores, here of 25 seconds less the rest."""
    samples = [{"tokens": ["a"], "next": "b"}, {"tokens": ["b"], "next": "a"}, {"tokens": ["a", "b"], "next": "b"}]
    path = tmp_path / "text.json"
    path.write_text(json.dumps({"samples": samples}), encoding="utf-8")
    monkeypatch.setattr(algorithm1, "SECONDS_A_SCORE", (100 - algorithm1.SECONDS_BESIDE) / 4 / algorithm1.USUAL_STEPS)
    audit = ("audit", str(path), "--claim", "ntp.lemma3", "--steps1", "3", "--out", str(tmp_path / "report"))
    long = "text: about 2 minutes, unless cached; --steps2 10000 makes it shorter"
    assert long in command(*audit).err
    assert "unless cached" not in command(*audit, "--steps2", "10000").err
