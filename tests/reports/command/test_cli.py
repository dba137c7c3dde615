"""What the commands answer: JSON of the contract's form, exit statuses, and output that pipes take."""

import json
import math
import os
import re
import signal
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import IO

import click
import pytest

from marginaudit.reports.command.cli import cli, commands
from tests.command_line import NO_FUNCTION, SHORT, SVOP, Command, dataset_file, strict_json

ENVIRONMENT = os.environ | {"OPENBLAS_NUM_THREADS": "1", "PYTHONHASHSEED": "1"}


def process(
    *arguments: object, stdout: int | IO[str] = subprocess.PIPE, env: dict[str, str] = ENVIRONMENT
) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "marginaudit.reports", *map(str, arguments)]
    return subprocess.run(command, stdout=stdout, stderr=subprocess.PIPE, text=True, check=False, timeout=100, env=env)


def test_classify_tells_what_is_undecided_from_what_fails(command: Command, own_folder: Path) -> None:
    uniform = dict.fromkeys("abcd", 1 / 4)
    classes = [
        {"next": "n", "query": "p", "probabilities": uniform},
        {"next": "m", "query": "q", "probabilities": {"a": 1}},
    ]
    path = dataset_file(own_folder, {"classes": classes}, "half.json")
    assert re.search(r"small_overlap\s+undecided", command("classify", path).out)


def test_solve(command: Command, svop: Path) -> None:
    found = command.json("solve", svop)
    assert set(found) == {"ov", "kq"}
    for which, answer in found.items():
        keys = {"status", "method", "norm_squared", "norm_squared_exact", "weights", "weights_exact", "certificate"}
        assert keys <= set(answer)
        assert ("closed_form" in answer) == (which == "kq")
        assert answer["status"] == "optimal"
        assert set(answer["certificate"]) == {"primal", "dual", "gap", "max_violation"}
        exact = [Fraction(v) for column in answer["weights_exact"].values() for v in column.values()]
        rounded = [v for column in answer["weights"].values() for v in column.values() if v]
        assert sum(v * v for v in exact) == Fraction(answer["norm_squared_exact"])
        assert math.isclose(answer["norm_squared"], sum(v * v for v in rounded), rel_tol=1e-14)
    for form in found["kq"]["closed_form"].values():
        assert form == {"holds": True, "witness": None}
    for method in ("auto", "exact", "cvxpy"):
        for only in ("ov", "kq"):
            one = command.json("solve", svop, "--only", only, "--method", method)
            assert list(one) == [only]
            assert math.isclose(one[only]["norm_squared"], found[only]["norm_squared"], rel_tol=1e-6)
            assert (one[only]["method"] == "cvxpy") == (method == "cvxpy")


def test_solve_says_what_it_supposes_of_the_embedding(command: Command, own_folder: Path) -> None:
    for entry in (1.0, 1 + 4.5e-13):
        rows = [[entry * (i == j) for j in range(4)] for i in range(4)]
        path = dataset_file(own_folder, SVOP | {"embedding": rows})
        deviation = 0.0 if entry == 1 else pytest.approx(9.006e-13, rel=1e-3, abs=0)
        note = (
            None if entry == 1 else "for orthonormal tokens; the embedding's Gram matrix is within about 9.01e-13 of I"
        )
        for answer in command.json("solve", path).values():
            assert answer["norm_squared_exact"] is not None
            assert (answer["gram_deviation"], answer["note"]) == (deviation, note)
        text = command("solve", path).out
        assert (f"ov: {note}" in text, f"kq: {note}" in text) == (entry > 1, entry > 1)


def test_solve_infeasible(command: Command, own_folder: Path) -> None:
    path = dataset_file(own_folder, {"sentences": [list("abba"), list("ba")]})
    for method in ("auto", "cvxpy"):
        answer = command.json("solve", path, "--only", "kq", "--method", method)["kq"]
        assert answer["status"] == "infeasible"
        assert answer["norm_squared"] is answer["norm_squared_exact"] is answer["weights_exact"] is None
    assert "infeasible" in command("solve", path).out


def test_train(command: Command, svop: Path) -> None:
    found = command.json("train", svop, *SHORT)
    assert set(found) == {"stage1", "stage2"}
    for stage, rows in found.items():
        assert [rows[0]["step"], rows[-1]["step"]] == [0, 30]
        for row in rows:
            assert {"step", "loss", "norm", "one_minus_cos", "distance", "gradient_norm"} <= set(row)
            assert type(row["step"]) is int
            assert (row["one_minus_cos"] is None) == (row["distance"] is None) == (row["step"] == 0)
            if row["step"]:
                assert math.isclose(2 * row["one_minus_cos"], row["distance"] ** 2, rel_tol=1e-12)
            if stage == "stage2":
                assert 0 <= row["min_optimal_weight"] <= 1
    norms = [row["norm"] for row in found["stage1"]]
    assert math.isclose(norms[1], 0.2 / math.sqrt(4), rel_tol=1e-12)
    assert norms == sorted(norms)
    halved = command.json("train", svop, *SHORT, "--lr1", "0.05", "--lr2", "1e-2", "--at", "1")
    assert math.isclose(halved["stage1"][0]["norm"], 0.05, rel_tol=1e-12)
    assert math.isclose(halved["stage2"][0]["norm"], 0.01, rel_tol=1e-12)


def test_claims_of_a_pattern(command: Command) -> None:
    found = [entry["id"] for entry in command.json("claims", "ntp.prop1.*")]
    assert found == ["ntp.prop1.norm", "ntp.prop1.direction", "ntp.prop1.loss"]
    told = command("claims", "ntp.prop1.*").out
    assert all(name in told for name in found)
    assert "ntp.theorem1" not in told
    assert "got no claim whose id matches" in command("claims", "nope.*").err


def test_what_fails_worst_comes_first(command: Command, own_folder: Path) -> None:
    said = command("audit", "snap-single", "--claim", "snap.remark[12]", "--steps", "10", "--seeds", "10").out
    fails = said[said.index("What fails") :].splitlines()
    assert [line.partition(":")[0] for line in fails if line.startswith("snap.")] == [
        "snap.remark2 (Remark 2)",
        "snap.remark1 (Remark 1)",
    ]


@pytest.mark.parametrize("kind", ["figure", "table"])
def test_a_list_says_what_each_shows(command: Command, kind: str) -> None:
    lines = [line.split(maxsplit=1) for line in command(kind, "list").out.splitlines()]
    assert [name for name, _ in lines] == command.json(kind, "list")[f"{kind}s"]
    assert all(len(text) > 10 for _, text in lines)


@pytest.mark.parametrize("ending", [".pdf", ".SVG"])
def test_figure_formats(command: Command, own_folder: Path, ending: str) -> None:
    path = own_folder / f"f{ending}"
    assert command.json("figure", "ntp-2", "--out", path) == {"figure": "ntp-2", "file": str(path)}
    drawn = path.read_bytes()
    assert drawn.startswith({".svg": b"<?xml", ".pdf": b"%PDF"}[ending.lower()])
    assert b"date>" not in drawn
    assert b"CreationDate" not in drawn


def test_fail_on_violated(command: Command, svop: Path, own_folder: Path) -> None:
    no_function = dataset_file(own_folder, NO_FUNCTION, "no-function.json")
    arguments = ("--claim", "ntp.prop1.norm", "--claim", "ntp.theorem2.floor", *SHORT, "--fail-on", "violated")
    answer = command("audit", svop, *arguments, "--json")
    assert (answer.status, answer.err) == (1, "report: audit-report/report.html\n")
    rows = strict_json(answer.out)["verdicts"]
    assert [row["verdict"] for row in rows] == ["holds", "violated"]
    answer = command("audit", no_function, *arguments)
    assert (answer.status, answer.err) == (0, "")
    assert answer.out.rstrip().endswith("report: audit-report/report.html")


def test_a_reader_that_leaves_early_is_neither_a_violation_nor_a_refusal() -> None:
    """A shell with `pipefail` takes the status of `marginaudit .. | head` for the answer."""
    for arguments in (["classify", "section-7", "--json"], ["--help"]):
        reading, writing = os.pipe()
        os.close(reading)
        answer = process(*arguments, stdout=writing)
        os.close(writing)
        assert (answer.returncode, answer.stderr) == (141, "")


def test_interrupted_while_it_runs(own_folder: Path) -> None:
    program = (
        "from marginaudit.reports.command.cli import main; print('ready', flush=True); "
        "main(['audit', 'example-1', '--steps1', '1e9', '--out', 'report'])"
    )
    running = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT
    )
    assert running.stdout is not None
    assert running.stdout.readline() == "ready\n"
    with pytest.raises(subprocess.TimeoutExpired):
        running.wait(1)
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=60)
    assert (running.returncode, out, err.strip()) == (130, "", "marginaudit: interrupted")
    assert not list(own_folder.iterdir())


@pytest.mark.parametrize("arguments", [["--help"], ["audit", "--help"], ["classify", "example-1"], ["figure", "list"]])
def test_what_is_imported_before_it_is_needed(arguments: list[str]) -> None:
    program = (
        "import json, sys\n"
        "from marginaudit.reports.command.cli import main\n"
        "try: main(sys.argv[1:])\n"
        "except SystemExit: print(json.dumps(sorted(sys.modules)), file=sys.stderr)"
    )
    answer = subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=True, timeout=100
    )
    imported = set(json.loads(answer.stderr))
    ours = {name for name in imported if name.partition(".")[0] == "marginaudit"}
    assert "--help" not in arguments or len(ours) <= 60, ours
    heavy = {"cvxpy", "clarabel", "hypothesis", "jinja2", "matplotlib", "pandas", "scipy.optimize", "scipy.sparse"}
    if "figure" not in arguments:
        heavy |= {"flint", "loky", "numba", "scipy"}
    assert not heavy & imported


def test_the_list_of_commands_says_what_each_one_says() -> None:
    context = click.Context(cli)
    assert cli.list_commands(context) == list(commands())
    for name, (_, does) in commands().items():
        command = cli.get_command(context, name)
        assert command is not None
        assert (command.name, command.get_short_help_str(100)) == (name, does)
    assert cli.get_command(context, "nothing") is None
