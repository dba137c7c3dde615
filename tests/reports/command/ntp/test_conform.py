"""`marginaudit conform` and the fixture `conforms`."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from marginaudit.orders.ntp import CASES
from marginaudit.record import Recorder
from tests.command_line import Command
from tests.training.ntp.recorded.program import Mistake, run

pytest_plugins = ("pytester",)

DATA = CASES["example-1"]()


@pytest.fixture(autouse=True)
def runs(own_folder: Path) -> None:
    run(DATA, np.float32).save("good.npz")
    run(DATA, mistake=Mistake(momentum=0.9)).save("bad.npz")


def test_a_run_that_conforms(command: Command) -> None:
    found = command.json("conform", "example-1", "good.npz")
    stages = [{"stage": 1, "lr": 0.1, "records": 31}, {"stage": 2, "lr": 0.05, "records": 21}]
    none = {"departs_at": None, "cause": None, "value": None}
    answer = {"start": "zero", "rule": "Algorithm 1"}
    assert found == {
        "dataset": "example-1",
        "file": "good.npz",
        "conforms": True,
        **none,
        "decided": 52,
        **answer,
        "stages": [one | {"decided": one["records"], "note": None} | none | answer for one in stages],
    }
    said = command("conform", "example-1", "good.npz", "--fail-on", "departs")
    assert (said.status, said.out.splitlines()[-1]) == (0, "good.npz conforms on example-1: 52 of 52 records decided")


def test_a_run_that_departs(command: Command) -> None:
    found = command.json("conform", "example-1", "bad.npz")
    at = found["departs_at"]
    assert (found["conforms"], found["cause"]) == (False, "momentum (0.9)")
    assert found["value"] == pytest.approx(0.9)
    assert (at["stage"], at["step"], at["token"]) == (2, 2, "O")
    assert at["error"] == pytest.approx(0.045)
    assert 0 < at["bar"] < 1e-12
    said = command("conform", "example-1", "bad.npz", "--fail-on", "departs")
    assert said.status == 1
    line = said.out.splitlines()[-1]
    assert line.startswith("bad.npz departs on example-1 at stage 2, step 2, query O: off by 0.045 where")
    assert line.endswith("; cause: momentum (0.9)")


def test_from_another_start_the_next_steps_are_compared_too(command: Command) -> None:
    """Of 21 records of stage 2 the first is another start; the others are Algorithm 1's, or have momentum."""
    for name, mistake, rule, decided in (
        ("start", Mistake(start=0.125), "Algorithm 1", 21),
        ("both", Mistake(start=0.125, momentum=0.9), "momentum (0.9)", 3),
    ):
        run(DATA, mistake=mistake).save(f"{name}.npz")
        found = command.json("conform", "example-1", f"{name}.npz")
        told = (found["conforms"], found["start"], found["rule"], found["decided"])
        assert told == (False, "given", rule, 31 + decided)
        assert (found["departs_at"]["step"], found["cause"]) == (0, "another start than zero")
        assert (found["stages"][1]["later"]["departs_at"] is None) == (name == "start")
        line = command("conform", "example-1", f"{name}.npz").out.splitlines()[-1]
        assert "at stage 2, step 0, query S: off by 0.5" in line
        later = {
            "start": "20 of 20 records are decided to be Algorithm 1's",
            "both": "it departs at stage 2, step 2, query O: off by 0.045",
        }
        assert f"cause: another start than zero; from there on {later[name]}" in line


def test_the_first_line_says_what_to_do_next(command: Command) -> None:
    run(DATA, mistake=Mistake(start=0.125)).save("start.npz")
    run(DATA, mistake=Mistake(start=0.125, momentum=0.9)).save("both.npz")
    carried = "every row on its weights will be `carried over`; next: marginaudit audit example-1 --trajectory"
    start = "another start than zero at stage 2, step 0, query S, then"
    for arguments, line in (
        (
            ("good.npz",),
            "good.npz: 52 of 52 records decided; all follow Algorithm 1; no row will be `carried over`; "
            "next: marginaudit audit example-1 --trajectory good.npz",
        ),
        (
            ("bad.npz",),
            "bad.npz: 34 of 52 records decided; departs from Algorithm 1 at stage 2, step 2, query O; "
            f"cause: momentum (0.9); {carried} bad.npz",
        ),
        (("start.npz",), f"start.npz: 52 of 52 records decided; {start} follows Algorithm 1; {carried} start.npz"),
        (
            ("both.npz",),
            f"both.npz: 34 of 52 records decided; {start} departs at stage 2, step 2, query O; cause: momentum (0.9); "
            f"{carried} both.npz",
        ),
        (
            ("good.npz", "--lr2", "0.1"),
            "good.npz: 33 of 52 records decided; departs from Algorithm 1 at stage 2, step 1, query O; "
            f"cause: another step size (0.05); {carried} good.npz --lr2 0.1",
        ),
    ):
        assert command("conform", "example-1", *arguments).out.splitlines()[0] == line


def test_step_sizes_given_take_the_place_of_the_files(command: Command) -> None:
    found = command.json("conform", "example-1", "good.npz", "--lr1", "0.2", "--lr2", "0.1")
    assert [stage["lr"] for stage in found["stages"]] == [0.2, 0.1]
    assert [stage["cause"] for stage in found["stages"]] == [
        "another step size (0.1) or gradient clipped at norm 0.5, not normalised",
        "another step size (0.05)",
    ]
    assert found["departs_at"]["stage"] == 1


def test_without_a_recorded_stage_1_the_answer_says_which_w_ov_is_taken(command: Command) -> None:
    recorder = Recorder()
    recorder.stage2(0, np.zeros((4, 4)))
    recorder.save("short.npz")
    said = command("conform", "example-1", "short.npz").out
    assert "conforms on example-1, W_ov being Algorithm 1's after 900 steps: 1 of 1 record decided" in said


def test_a_run_without_a_decided_record_neither_conforms_nor_departs(command: Command) -> None:
    """In float32 the W_ov of 900 steps is open, and with it the direction of a step of length lr."""
    recorder = Recorder()
    recorder.stage2(1, np.eye(4, dtype=np.float32) * np.float32(0.0125))
    recorder.save("open.npz")
    found = command.json("conform", "example-1", "open.npz", "--fail-on", "departs")
    assert (found["conforms"], found["departs_at"], found["decided"]) == (None, None, 0)


def test_what_is_refused(command: Command) -> None:
    run(DATA, every=7).save("sparse.npz")
    of_other_steps = "sparse.npz: step1: got no record of step 10, from which W_ov was frozen"
    assert command("conform", "example-1", "sparse.npz", "--steps1", "14").status == 0
    for arguments, line in (
        (("example-1", "sparse.npz", "--steps1", "10"), of_other_steps),
        (("section-7", "good.npz"), "good.npz: W_ov: got shape (31, 4, 4), expected (n, 20, 20)"),
        (("example-1", "no.npz"), "no.npz: got No such file or directory, expected an .npz file"),
        (
            ("snap-medium", "good.npz"),
            "good.npz: got step1 31, step2 21, W_ov 31x4x4, W_kq 21x4x4, lr1 a number",
        ),
        (("example-1", "good.npz", "--lr2", "0"), "--lr2: got '0', expected a positive number"),
    ):
        assert line in command.refused("conform", *arguments)


def test_the_fixture(pytester: pytest.Pytester, tmp_path: Path) -> None:
    for name in ("good.npz", "bad.npz"):
        shutil.copy(tmp_path / name, pytester.path)
    pytester.makepyfile(
        """
        def test_good(conforms):
            assert conforms("example-1", "good.npz").conforms

        def test_bad(conforms):
            conforms("example-1", "bad.npz")

        def test_other_step(conforms):
            conforms("example-1", "good.npz", lr2=0.1)

        def test_none(conforms):
            conforms("example-1", "no.npz")
        """
    )
    result = pytester.runpytest_inprocess("-q", "-p", "no:cacheprovider")
    result.assert_outcomes(passed=1, failed=3)
    result.stdout.fnmatch_lines(
        [
            "conforms: bad.npz departs on example-1 at stage 2, step 2, query O: *; cause: momentum (0.9)",
            "conforms: good.npz departs on example-1 at stage 2, step 1, *; cause: another step size (0.05)",
            "conforms: no.npz: got No such file or directory, expected an .npz file*",
        ]
    )
