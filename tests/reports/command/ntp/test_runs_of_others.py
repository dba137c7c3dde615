"""`conform` and `audit --trajectory` on folders of checkpoints and files with other names than ours."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import marginaudit
from marginaudit.claims.ntp.config import Config
from marginaudit.claims.ntp.recorded_run import RecordedRun
from marginaudit.orders import InputError
from marginaudit.orders.ntp import CASES
from marginaudit.record import Recorder
from marginaudit.training.ntp.recorded.trajectory import Trajectory
from marginaudit.training.recorded_weights import Recorded
from marginaudit.training.weight_files.run_file import RunFile, Target, read_weights
from tests.command_line import Command
from tests.training.ntp.recorded.program import Mistake, run
from tests.training.ntp.recorded.test_declared import BATCH, HEAD, trained
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


def test_rounding_of_both_factors_is_in_the_bars(command: Command) -> None:
    """W_kq as k.T @ q, where entries of both are much larger than those of the product."""
    k = np.eye(4) + 1e4
    with np.load("good.npz") as arrays:
        for t, W in zip(arrays["step2"], arrays["W_kq"], strict=True):
            factors = {"k": k, "q": np.linalg.solve(k.T, W)}
            single = {name: one.astype(np.float32) for name, one in factors.items()}
            write_safetensors(Path("wide") / f"{t}.safetensors", single)
    found = command.json("conform", "example-1", "wide", "--map", "W_kq = k.T @ q", *SETTINGS)
    assert found["conforms"]
    assert found["decided"] > 0


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


def second(trajectory: Trajectory) -> Recorded:
    """The records of W_kq."""
    assert trajectory.stage2 is not None
    return trajectory.stage2


def folder_of(trajectory: Trajectory, name: str) -> None:
    """Checkpoints of both matrices."""
    assert trajectory.stage1 is not None
    for t, (W_ov, W_kq) in enumerate(zip(trajectory.stage1.weights, second(trajectory).weights, strict=True)):
        write_safetensors(Path(name) / f"step-{t}.safetensors", {"W_ov": W_ov, "W_kq": W_kq})


def test_a_constant_w_ov_is_a_given_one(command: Command) -> None:
    folder_of(trained(), "given")
    found = command.json("conform", "example-1", "given", "--lr2", "0.05")
    assert (found["conforms"], found["decided"], found["rule"]) == (True, 31, "Algorithm 1")
    assert [stage["stage"] for stage in found["stages"]] == [2]
    said = command("conform", "example-1", "given", "--lr2", "0.05").out.splitlines()
    assert said[0] == (
        "given: 31 of 31 records decided; all follow Algorithm 1; every row on its weights will be `carried over`; "
        "next: marginaudit audit example-1 --trajectory given --lr2 0.05"
    )
    assert said[-1] == "given conforms on example-1, W_ov as given: 31 of 31 records decided"
    measured = RecordedRun(DATA, Config(lr2=0.05), None, Path("given")).trained
    assert (len(measured.stage1), len(measured.stage2)) == (0, 31)
    found = command.json("conform", "example-1", "given", "--lr2", "0.05", "--head", "trained")
    assert (found["conforms"], [stage["stage"] for stage in found["stages"]]) == (False, [1, 2])


def test_the_head_is_a_setting(command: Command) -> None:
    arrays = {
        "step2": np.arange(31),
        "W_kq": np.asarray(second(trained()).weights),
        "W_ov": HEAD,
        "lr2": np.array(0.05),
    }
    np.savez("given.npz", allow_pickle=False, **arrays)
    assert "got W_ov without step1, expected both" in command.refused("conform", "example-1", "given.npz")
    found = command.json("conform", "example-1", "given.npz", "--head", "given")
    assert (found["conforms"], found["decided"]) == (True, 31)
    assert marginaudit.conform("example-1", "given.npz", head="given").conforms
    line = command("conform", "example-1", "given.npz", "--head", "given").out.splitlines()[0]
    assert line.endswith("next: marginaudit audit example-1 --trajectory given.npz --head given")
    np.savez("without.npz", step2=np.arange(2), W_kq=np.zeros((2, 4, 4)))
    said = command.refused("conform", "example-1", "without.npz", "--head", "given")
    assert said == "without.npz: got no W_ov, expected W_ov and W_kq, with --head given"
    said = command.refused("conform", "snap-single", "given.npz", "--head", "given")
    assert said == "--head: got sequence classes, expected a dataset of sentences, whose model has a W_ov"
    with pytest.raises(InputError, match="head: got 'other', expected trained, given or joint"):
        marginaudit.conform("example-1", "given.npz", head="other")


def verdicts(folder: str) -> dict[str, dict[str, Any]]:
    report = json.loads(Path(f"{folder}/report.json").read_text())
    return {row["claim"]: row for row in report["verdicts"] if row["dataset"] == "mine"}


def test_of_a_given_or_moving_head_what_needs_no_w_ov_is_judged(command: Command) -> None:
    folder_of(trained(), "given")
    folder_of(trained(joint=True, momentum=0.9), "joint")
    found = command.json("conform", "example-1", "joint", "--lr2", "0.05")
    words = "W_ov not frozen (as recorded at each step)"
    assert (found["conforms"], found["cause"], found["rule"]) == (False, words, f"momentum (0.9); {words}")
    reasons = {
        "given": "W_ov is given, and the margins of its columns are not one",
        "joint": "W_ov is not frozen in stage 2 of the trajectory",
    }
    for name, reason in reasons.items():
        done = command("audit", "example-1", "--trajectory", f"mine={name}", "--lr2", "0.05", "--out", f"{name}-report")
        assert done.status == 0, done.err
        rows = verdicts(f"{name}-report")
        for claim in ("ntp.theorem1.direction", "ntp.theorem1.norm", "ntp.lemma5", "ntp.theorem3.order.any-t"):
            assert rows[claim]["premise"] == "carried over"
            assert rows[claim]["measured"] is not None
        for claim in ("ntp.lemma7", "ntp.theorem2.loss"):
            assert reason in rows[claim]["detail"]
        assert "the trajectory has no stage 1" in rows["ntp.prop1.direction"]["detail"]


def test_minibatches_that_were_recorded(command: Command) -> None:
    run_of = trained(batch=BATCH)
    recorder = Recorder(lr2=0.05)
    for t, W in enumerate(second(run_of).weights):
        recorder.stage2(t, W)
        if t:
            recorder.batch(t, BATCH[t - 1])
    recorder.save("batch.npz")
    with np.load("batch.npz") as arrays:
        kept = dict(arrays)
    np.testing.assert_array_equal(kept["batch"], BATCH)
    np.savez("both.npz", allow_pickle=False, W_ov=HEAD, **kept)
    found = command.json("conform", "example-1", "both.npz", "--head", "given")
    assert (found["cause"], found["rule"]) == (
        "minibatches as recorded",
        "Algorithm 1; minibatches as recorded",
    )
    for batch, said in (
        (
            BATCH[:5],
            "batch: got int64 of shape (5, 8), expected integers of shape (30, size): the samples of",
        ),
        (BATCH + 99, "expected numbers of samples from 0 to"),
        (BATCH * 1.0, "batch: got float64 of shape (30, 8)"),
    ):
        np.savez("bad.npz", allow_pickle=False, **kept | {"batch": batch})
        assert said in command.refused("conform", "example-1", "bad.npz")
    np.savez("bad.npz", allow_pickle=False, step2=[0], W_kq=kept["W_kq"][:1], batch=BATCH[:0])
    assert "batch: got int64 of shape (0, 8), expected" in command.refused("conform", "example-1", "bad.npz")


@pytest.mark.parametrize(
    ("t", "samples", "said"),
    [
        (2, [0], "batch: got step 2, expected step 1, as every step has one"),
        (1, [], r"batch at step 1: got \[\], expected as many whole numbers at each step"),
        (1, [0.5], r"batch at step 1: got \[0.5\]"),
        (1, [-1], r"batch at step 1: got \[-1\]"),
    ],
)
def test_a_batch_that_is_refused(t: int, samples: list[Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        Recorder().batch(t, samples)


KQ = {"W_kq": Target("step2", ((4, 4),))}


def two_heads(own_ov: bool) -> None:
    """`heads/`: head 0 is a run with momentum, head 1 Algorithm 1's."""
    of = {0: second(trained(momentum=0.9)), 1: second(trained())}
    for t in range(31):
        tensors = {"h0": of[0].weights[t], "h1": of[1].weights[t], "ov": HEAD} | ({"ov1": HEAD / 2} if own_ov else {})
        write_safetensors(Path("heads") / f"step-{t}.safetensors", tensors)


def test_each_head_is_a_run(command: Command) -> None:
    two_heads(own_ov=False)
    maps = ("--map", "W_kq[0] = h0", "--map", "W_kq[1] = h1", "--map", "W_ov = ov")
    asked = ("conform", "example-1", "heads", *maps, "--lr2", "0.05")
    found = command.json(*asked)
    assert [(one["file"], one["conforms"], one["rule"]) for one in found["heads"]] == [
        ("heads W_kq[0]", False, "momentum (0.9)"),
        ("heads W_kq[1]", True, "Algorithm 1"),
    ]
    assert (found["conforms"], found["cause"]) == (False, "momentum (0.9)")
    assert found["decided"] == sum(one["decided"] for one in found["heads"])
    said = command(*asked, "--fail-on", "departs")
    assert said.status == 1
    lines = said.out.splitlines()
    assert lines[0].startswith("heads W_kq[0]: ")
    assert lines[1].startswith("heads W_kq[1]: 31 of 31 records decided; all follow Algorithm 1")
    assert "heads W_kq[1]: Algorithm 1, record by record" in said.out
    with pytest.raises(InputError, match=r"heads\.map:1: got rules of heads, expected rules of one run, without"):
        marginaudit.conform("example-1", "heads")


def test_of_several_w_ov_the_sum_is_a_run(command: Command) -> None:
    two_heads(own_ov=True)
    maps = ("--map", "W_kq[0] = h0", "--map", "W_kq[1] = h1", "--map", "W_ov[0] = ov", "--map", "W_ov[1] = ov1")
    found = command.json("conform", "example-1", "heads", *maps, "--lr2", "0.05")
    assert [one["file"] for one in found["heads"]] == ["heads W_kq[0]", "heads W_kq[1]", "heads W_ov"]
    assert [[stage["stage"] for stage in one["stages"]] for one in found["heads"]] == [[2], [2], [1]]
    sums = read_weights(RunFile(Path("heads"), quantity="W_ov"), {"W_ov": Target("step1", ((4, 4),)), **KQ}).records
    np.testing.assert_allclose(sums["W_ov"].weights[3], 1.5 * HEAD)


def test_an_audit_names_heads(command: Command) -> None:
    two_heads(own_ov=False)
    maps = ("--map", "W_kq[0] = h0", "--map", "W_kq[1] = h1", "--map", "W_ov = ov")
    asked = ("--trajectory", "mine=heads", *maps, "--lr2", "0.05", "--claim", "ntp.theorem1.direction")
    assert command("audit", "example-1", *asked).status == 0
    report = json.loads(Path("audit-report/report.json").read_text())
    assert [one["name"] for one in report["datasets"]] == ["example-1", "mine W_kq[0]", "mine W_kq[1]"]
    rows = {row["dataset"]: row for row in report["verdicts"]}
    assert rows["mine W_kq[0]"]["measured"] != rows["mine W_kq[1]"]["measured"]
    table = command("table", "direction", "example-1", *asked[:-2], "--format", "csv").out
    assert {"mine W_kq[0]", "mine W_kq[1]"} <= {line.split(",")[0] for line in table.splitlines()}
    assert "mine W_kq[1]" in Path("audit-report/report.html").read_text()
