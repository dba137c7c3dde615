"""`marginaudit conform` and `marginaudit.conform` on sequence classes."""

import json
from pathlib import Path

import numpy as np
import pytest

import marginaudit
from marginaudit.orders import InputError
from marginaudit.orders.snap import classes_to_document
from marginaudit.record import Recorder
from tests.command_line import Command
from tests.training.snap.recorded.program import THREE, Program


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("three.json").write_text(json.dumps(classes_to_document(THREE)))
    chance = Program(reversed_probabilities=True, steps=1500)
    runs = {"good": Program(), "bad": Program(momentum_y=0.9), "drawn": chance, "long": Program(steps=1500)}
    for name, program in runs.items():
        decoder, attention = program.run(THREE)
        recorder = Recorder()
        for t, Y, Z in zip(decoder.step, decoder.weights, attention.weights, strict=True):
            recorder.classes(t, Y, Z)
        recorder.save(f"{name}.npz")


def test_the_answer(command: Command) -> None:
    none = {"departs_at": None, "cause": None, "value": None}
    found = command.json("conform", "three.json", "good.npz")
    notes = [stage.pop("note") for stage in found["stages"]]
    assert "0.43" in notes[0]
    assert notes[1] is None
    answer = {"start": "zero", "rule": "SGD on one sequence a step"}
    stages = [
        {"stage": name, "lr": lr, "records": 61, "decided": 61} | none | answer
        for name, lr in (("Y", 0.5), ("Z", 0.05))
    ]
    assert found == {
        "dataset": "three",
        "file": "good.npz",
        "conforms": True,
        **none,
        "decided": 122,
        **answer,
        "stages": stages,
    }
    said = command("conform", "three.json", "bad.npz", "--fail-on", "departs")
    assert said.status == 1
    line = said.out.splitlines()[-1]
    assert line.startswith("bad.npz departs on three at Y, step 2, next token n")
    assert line.endswith("; cause: momentum (0.9)")
    line = marginaudit.conform(THREE, "drawn.npz").line
    assert line.startswith("drawn.npz departs on three at Y, step 1500, token c")
    assert " 0.22 " in marginaudit.conform(THREE, "long.npz").line


def test_step_sizes_are_the_papers_unless_given(command: Command) -> None:
    found = command.json("conform", "three.json", "good.npz", "--lr-y", "0.25")
    assert (found["departs_at"]["stage"], found["departs_at"]["step"]) == ("Y", 1)
    assert (found["cause"], found["value"]) == ("step size 0.5", pytest.approx(0.5))
    assert not marginaudit.conform(THREE, "good.npz", lr_z=0.1).conforms
    assert marginaudit.conform("three.json", "good.npz").conforms


def test_what_is_refused(command: Command) -> None:
    recorder = Recorder()
    recorder.classes(0, np.zeros((3, 12)), np.zeros((2, 12)))
    recorder.save("logits.npz")
    assert "logits.npz: Y: got shape (1, 3, 12), expected (n, 12, 12)" in command.refused(
        "conform", "three.json", "logits.npz"
    )
    assert "--lr1: got sequence classes to run" in command.refused("conform", "three.json", "good.npz", "--lr1", "1")
    with pytest.raises(InputError, match="conform 'lr1': got no setting of that name, expected lr_y, lr_z"):
        marginaudit.conform(THREE, "good.npz", lr1=1)
