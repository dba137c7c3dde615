"""`conform` and `audit --trajectory` on folders of checkpoints and files with other names than ours."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import marginaudit
from marginaudit.orders.ntp import CASES
from tests.command_line import Command
from tests.training.ntp.recorded.program import Mistake, run
from tests.training.weight_files.written import bfloat16, write_safetensors

DATA = CASES["example-1"]()
RULE = "W_kq = k.weight.T @ q.weight / sqrt(4)"
SETTINGS = ("--steps1", "30", "--lr1", "0.1", "--lr2", "0.05")
CHECKPOINTS = Path(__file__).parents[3] / "training" / "weight_files" / "checkpoints"


@pytest.fixture(autouse=True)
def runs(own_folder: Path) -> None:
    """`ckpts/`: W_kq of a conforming run as k.T @ q / 2, with k = 2; `bf16/`: the same rounded."""
    run(DATA).save("good.npz")
    run(DATA, mistake=Mistake(momentum=0.9)).save("bad.npz")
    for name, folder in (("good", "ckpts"), ("bad", "momentum")):
        with np.load(f"{name}.npz") as arrays:
            for t, W in zip(arrays["step2"], arrays["W_kq"], strict=True):
                tensors: dict[str, Any] = {"model.k.weight": 2 * np.eye(4), "model.q.weight": W}
                write_safetensors(Path(folder) / f"iter-{t}.safetensors", tensors)
                if name == "good":
                    halves = {key: bfloat16(tensor) for key, tensor in tensors.items()}
                    write_safetensors(Path("bf16") / f"iter-{t}.safetensors", halves)


def test_a_folder_of_checkpoints_answers_as_the_file_does(command: Command) -> None:
    found = command.json("conform", "example-1", "ckpts", "--map", RULE, *SETTINGS)
    told = (found["conforms"], found["file"], found["decided"], found["start"], found["rule"])
    assert told == (True, "ckpts", 21, "zero", "Algorithm 1")
    assert Path("ckpts.map").read_text() == f"{RULE}\n"
    found = command.json("conform", "example-1", "momentum", "--map", RULE, *SETTINGS)
    of_file = command.json("conform", "example-1", "bad.npz")
    assert (found["cause"], found["value"]) == (of_file["cause"], pytest.approx(0.9))
    at = found["departs_at"]
    assert at == of_file["departs_at"] | {"error": pytest.approx(0.045), "bar": at["bar"]}


def test_the_saved_map_is_used_and_named_once(command: Command) -> None:
    asked = ("conform", "example-1", "ckpts", *SETTINGS)
    assert 'or a map such as --map "W_kq = model.k.weight.T @ model.q.weight"' in command.refused(*asked)
    assert "map saved in ckpts.map" in command(*asked, "--map", RULE).err
    answers = [command(*asked), command(*asked, "--map", RULE)]
    for answer in answers:
        assert "map saved" not in answer.err
        assert "conforms on example-1" in answer.out
    Path("ckpts.map").write_text("W_kq = k.weight.T @\n")
    assert command.refused(*asked).startswith("ckpts.map:1: got the end in 'k.weight.T @', expected a tensor's name")


def test_a_wrong_map_is_not_saved(command: Command) -> None:
    for rule in ("W_kq = k.weight[0:2]", "W_kq = nothing", "W_kq ="):
        command.refused("conform", "example-1", "ckpts", "--map", rule)
    assert not Path("ckpts.map").exists()


def test_a_map_that_cannot_be_saved_is_used(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "write_text", refuse)
    answer = command("conform", "example-1", "ckpts", *SETTINGS, "--map", RULE)
    assert "ckpts.map: map not saved: Permission denied" in answer.err
    assert "conforms on example-1" in answer.out


def test_bfloat16_widens_the_bars(command: Command) -> None:
    """Steps of 0.05 are rounded by up to 2^-8 of weights of about 1: all records conform, fewer are decided."""
    found = command.json("conform", "example-1", "bf16", "--map", RULE, *SETTINGS)
    assert found["conforms"]
    assert found["decided"] < 21


def test_checkpoints_of_pytorch(command: Command) -> None:
    """Random factors: another start than zero."""
    shutil.copytree(CHECKPOINTS, "torch", ignore=shutil.ignore_patterns("kinds*"))
    said = command.refused("conform", "example-1", "torch")
    assert "got model.q.weight 2x4, model.k.weight 2x4, expected W_ov or W_kq, or a map such as" in said
    found = command.json("conform", "example-1", "torch", "--map", "W_kq = k.weight.T @ q.weight / sqrt(2)")
    assert (found["start"], found["stages"][0]["records"]) == ("given", 3)


def test_an_audit_of_checkpoints(command: Command) -> None:
    asked = ("audit", "example-1", "--trajectory", "mine=ckpts", *SETTINGS, "--claim", "ntp.lemma4")
    assert command.refused(*asked).startswith("ckpts: got model.k.weight 4x4, model.q.weight 4x4, expected W_ov")
    said = command(*asked, "--map", RULE)
    assert said.status == 0, said.err
    assert "map saved in ckpts.map" in said.err
    report = json.loads(Path("audit-report/report.json").read_text())
    mine = next(one for one in report["datasets"] if one["name"] == "mine")
    digest = mine["sha256"]
    command(*asked)
    report = json.loads(Path("audit-report/report.json").read_text())
    assert next(one for one in report["datasets"] if one["name"] == "mine")["sha256"] == digest


def test_python_takes_the_same() -> None:
    assert marginaudit.conform("example-1", "ckpts", map=RULE, steps1=30, lr1=0.1, lr2=0.05).conforms
    assert marginaudit.conform("example-1", "ckpts", map=[RULE], steps1=30, lr1=0.1, lr2=0.05).decided == 21
    report = marginaudit.audit(
        "example-1", "ntp.lemma4", {"steps1": 30, "lr1": 0.1, "lr2": 0.05}, trajectory={"mine": "ckpts"}, map=RULE
    )
    assert {row.dataset for row in report.rows} == {"example-1", "mine"}
    assert not Path("ckpts.map").exists()
