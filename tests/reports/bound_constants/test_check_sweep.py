"""`bound_constants.check_sweep`: which datasets of a sweep moved, what is kept of it, and tables that are none."""

import csv
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from marginaudit.orders import InputError
from marginaudit.orders.ntp import CASES
from marginaudit.reports.bound_constants.kept_sweep import first_kept, kept_from_document
from marginaudit.reports.bound_constants.moves import moves
from marginaudit.reports.bound_constants.store import DamagedFile, read_sweeps
from marginaudit.reports.bound_constants.swept import Swept, read_swept
from marginaudit.reports.ntp import Config, Run
from tests.command_line import Command
from tests.reports.study.small_spec import small_spec

pytest_plugins = ("pytester",)

TEST = "def test_it(bound_constants):\n    bound_constants.check_sweep('out')\n"
UPDATE = "--update-bounds"
WORDS = ("verdict", "side", "slack", "repeats_within")

Cells = dict[tuple[int, int], dict[str, Any]]
"""Of each run, by V and seed, its results by ``CLAIM:word``; None where it failed."""


def found(**upper: Any) -> dict[str, Any]:
    """An upper bound with a slack of 4, and a lower one with a slack of 1/4; repeated within 1e-6."""
    return {
        "a.upper:verdict": "holds", "a.upper:side": "upper", "a.upper:slack": 4.0, "a.upper:repeats_within": 1e-6,
        "b.lower:verdict": "holds", "b.lower:side": "lower", "b.lower:slack": 0.25, "b.lower:repeats_within": 1e-6,
    } | {f"a.upper:{word}": value for word, value in upper.items()}  # fmt: skip


def cells(**first: Any) -> Cells:
    """Four runs, V = 4, 5 and seed = 0, 1; the first one's upper bound may be given."""
    return {(V, seed): found(**(first if (V, seed) == (4, 0) else {})) for V in (4, 5) for seed in (0, 1)}


def write(folder: Path, runs: Cells, **settings: Any) -> Path:
    """A folder as a sweep leaves it."""
    folder.mkdir(exist_ok=True)
    keep = list(next(results for results in runs.values() if results))
    made = {"L": 3, "steps1": 900} | settings
    with (folder / "runs.csv").open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["V", *made, "seed", *keep, "status", "message", "versions", "code"])
        for (V, seed), results in runs.items():
            ended = ["done", ""] if results else ["failed", "ValueError: odd"]
            values = [results.get(name) for name in keep]
            rows.writerow([V, *made.values(), seed, *values, *ended, "marginaudit 1.0, numpy 2.0", "c0de"])
    return folder


class Project:
    """A project of one's own with the table of a sweep, and a test of it."""

    def __init__(self, pytester: pytest.Pytester) -> None:
        self.pytester, self.folder = pytester, pytester.path / "out"
        self.file = pytester.path / "test_mine.sweeps.json"
        self.tests(TEST)
        write(self.folder, cells())

    def tests(self, text: str) -> None:
        (self.pytester.path / "test_mine.py").write_text(text, encoding="utf-8")

    def run(self, *arguments: str, **outcomes: int) -> str:
        result = self.pytester.runpytest_inprocess(
            "-p", "no:cacheprovider", "-p", "no:hypothesispytest", "-W", "error", *arguments
        )
        result.assert_outcomes(**outcomes)
        return str(result.stdout)

    @property
    def kept(self) -> Any:
        return json.loads(self.file.read_text(encoding="utf-8"))["test_it"]


@pytest.fixture(autouse=True, scope="module")
def compiler_loaded() -> None:
    """What is imported in a project's run is forgotten after it, and numba cannot be imported twice."""
    _ = Run(CASES["example-1"](), Config(steps1=2, steps2=2)).training


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    for name in ("CI", "BUILD_NUMBER"):
        monkeypatch.delenv(name, raising=False)
    return Project(pytester)


@pytest.fixture
def kept(project: Project) -> Project:
    project.run(UPDATE, passed=1)
    return project


def test_the_first_run_fails_with_the_way_to_keep_and_then_passes(project: Project) -> None:
    out = project.run(failed=1)
    assert "bound_constants: a sweep has nothing kept" in out
    assert "to keep what was measured: pytest --update-bounds" in out
    assert "in test_mine.sweeps.json, test_it" in out
    assert not project.file.exists()

    assert "test_mine.sweeps.json, test_it: kept: 4 runs, 2 statements" in project.run(UPDATE, passed=1)
    of_upper = ["holds", "upper", 4.0, 1e-6]
    of_lower = ["holds", "lower", 0.25, 1e-6]
    worst = {"worst": "holds", "worst in": "V = 4, seed = 0", "holds": 4, "audits": 4}
    upper = {"slack worst": 4.0, "slack worst in": "V = 4, seed = 0", "slack worst but 5%": 4.0, "slack median": 4.0}
    lower = {name: value if isinstance(value, str) else 0.25 for name, value in upper.items()}
    assert project.kept == {
        "settings": {"L": "3", "steps1": "900"},
        "tolerance": None,
        "keep": [f"{claim}:{word}" for claim in ("a.upper", "b.lower") for word in WORDS],
        "datasets": {f"V = {V}, seed = {seed}": of_upper + of_lower for V in (4, 5) for seed in (0, 1)},
        "history": [
            {
                "date": "1970-01-01T00:00:00Z",
                "versions": "marginaudit 1.0, numpy 2.0",
                "audits": 4,
                "moved": {},
                "statements": {"a.upper": worst | upper, "b.lower": worst | lower},
            }
        ],
    }
    lines = project.file.read_text(encoding="utf-8").splitlines()
    assert sum("V = 5, seed = 1" in line and "0.25" in line for line in lines) == 1, "a line a dataset"
    assert "bound constants" not in project.run(passed=1)


MOVED: list[tuple[Cells, list[str], bool]] = [
    (cells(slack=2.0), ["worse: a.upper on V = 4, seed = 0: slack: 4 -> 2, worse by a factor of 2"], True),
    (cells(slack=8.0), ["better: a.upper on V = 4, seed = 0: slack: 4 -> 8, better by a factor of 2"], False),
    (cells(verdict="violated"), ["worse: a.upper on V = 4, seed = 0: verdict: holds -> violated"], True),
    (cells(slack=None), ["worse: a.upper on V = 4, seed = 0: slack: 4 -> none"], True),
    ({run: results for run, results in cells().items() if run != (5, 1)}, ["gone: V = 5, seed = 1"], True),
    (cells() | {(5, 0): {}}, ["gone: V = 5, seed = 0: failed: ValueError: odd"], True),
    (cells() | {(6, 0): found()}, ["new: V = 6, seed = 0"], False),
    (
        {run: {name: value for name, value in results.items() if name[0] == "a"} for run, results in cells().items()},
        ["gone: b.lower"],
        True,
    ),
    ({run: results | {"c:verdict": "holds"} for run, results in cells().items()}, ["new: c"], False),
]


@pytest.mark.parametrize(("runs", "lines", "loosens"), MOVED)
def test_a_dataset_that_moved_is_named_and_kept_as_it_is_told(
    kept: Project, runs: Cells, lines: list[str], loosens: bool
) -> None:
    before = kept.file.read_bytes()
    write(kept.folder, runs)
    out = kept.run(failed=1)
    assert "bound_constants: a sweep moved" in out
    for line in lines:
        assert f"\n  {line}" in out
    others = [line for line in out.splitlines() if line.strip().startswith(("worse:", "better:", "gone:", "new:"))]
    assert len(others) == len(lines)
    assert f"to accept it: pytest --update-bounds{' --reason TEXT' if loosens else ''}\n" in out
    if loosens:
        out = kept.run(UPDATE, failed=1)
        assert "a sweep would be loosened" in out
        assert lines[0] in out
    assert kept.file.read_bytes() == before

    assert lines[0] in kept.run(UPDATE, "--reason", "meant", passed=1)
    assert kept.kept["history"][-1].get("reason") == ("meant" if loosens else None)
    kept.run(passed=1)


@pytest.mark.parametrize(
    ("side", "measured", "slack", "direction"),
    [("lower", 1.0, 2.0, "better"), ("lower", 1.0, 8.0, "worse"), ("upper", -1.0, 2.0, "better")],
)
def test_which_way_is_worse(tmp_path: Path, side: str, measured: float, slack: float, direction: str) -> None:
    """As in one audit: of a lower bound upwards, and the other way round where both numbers are negative."""
    old = read_swept(write(tmp_path / "old", cells(side=side, measured=measured)))
    new = read_swept(write(tmp_path / "new", cells(side=side, measured=measured, slack=slack)))
    assert [move.direction for move in moves(old, new, None)] == [direction]


def test_over_all_datasets_it_says_what_moved(kept: Project) -> None:
    write(kept.folder, cells(slack=2.0, verdict="vacuous"))
    out = kept.run(failed=1)
    assert (
        "a.upper over all: vacuous none -> 1, holds 4 -> 3, slack worst 4.0 -> 2.0, slack worst but 5% 4.0 -> 2.0\n"
        in out
    )
    assert "b.lower over all" not in out


def test_error_bars_say_what_is_the_same(kept: Project) -> None:
    write(kept.folder, cells(slack=4.0 / (1 + 0.9e-6)))
    kept.run(passed=1)
    write(kept.folder, cells(slack=4.0 * (1 + 0.9e-6)))
    kept.run(passed=1)
    write(kept.folder, cells(slack=4.0 / (1 + 1.1e-6)))
    assert "worse by a factor of 1 + 1.1e-06 (tolerance 1e-06)" in kept.run(failed=1)


def test_a_bar_that_reaches_zero_leaves_the_slack_unguarded(project: Project) -> None:
    write(project.folder, cells(repeats_within=None))
    project.run(UPDATE, passed=1)
    write(project.folder, cells(repeats_within=None, slack=1.0))
    project.run(passed=1)


def test_without_error_bars_what_counts_as_equal_in_a_verdict_is_the_same(tmp_path: Path) -> None:
    def without(slack: float) -> Swept:
        runs = cells(slack=slack)
        for results in runs.values():
            del results["a.upper:repeats_within"]
        return read_swept(write(tmp_path / "out", runs))

    assert moves(without(4.0), without(4.0 / (1 + 0.9e-9)), None) == []
    (move,) = moves(without(4.0), without(4.0 / (1 + 1.1e-9)), None)
    assert move.direction == "worse"


def test_updates_within_the_tolerance_do_not_add_up(kept: Project) -> None:
    for step in (1, 2):
        runs = cells(slack=4.0 / (1 + 0.8e-6 * step))
        write(kept.folder, runs | {(6, step): found()})
        out = kept.run(UPDATE, *(("--reason", "fewer") if step == 2 else ()), passed=1)
        assert f"new: V = 6, seed = {step}" in out
        assert kept.kept["datasets"]["V = 4, seed = 0"][2] == (4.0 if step == 1 else 4.0 / (1 + 1.6e-6))


def test_a_tolerance_of_the_tests_own(kept: Project) -> None:
    kept.tests(TEST.replace("'out'", "'out', tolerance=0.5"))
    assert "tolerance: the file has None, the test 0.5" in kept.run(failed=1)
    assert "tolerance: None -> 0.5" in kept.run(UPDATE, failed=1)
    kept.run(UPDATE, "--reason", "noisy", passed=1)
    assert kept.kept["tolerance"] == 0.5
    write(kept.folder, cells(slack=4.0 / 1.4))
    kept.run(passed=1)
    write(kept.folder, cells(slack=4.0 / 1.6))
    kept.run(failed=1)


def test_other_settings_are_not_compared(kept: Project) -> None:
    write(kept.folder, cells(), steps1=50, lr=1)
    out = kept.run(failed=1)
    assert "a sweep is not what was kept" in out
    assert "steps1: the file has '900', the sweep '50'" in out
    assert "lr: the file has None, the sweep '1'" in out
    kept.run(UPDATE, passed=1)
    kept.run(passed=1)


def test_history_has_what_each_run_found_otherwise(kept: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    before = kept.file.read_bytes()
    kept.run(UPDATE, passed=1)
    assert kept.file.read_bytes() == before
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    write(kept.folder, cells(slack=2.0) | {(6, 0): found()})
    kept.run(UPDATE, "--reason", "a bug is fixed", passed=1)
    first, second = kept.kept["history"]
    assert (first["date"], second["date"]) == ("1970-01-01T00:00:00Z", "1970-01-02T00:00:00Z")
    assert (second["audits"], second["reason"], second["moved"]) == (5, "a bug is fixed", {"worse": 1, "new": 1})
    assert (second["statements"]["a.upper"]["slack worst"], second["statements"]["a.upper"]["audits"]) == (2.0, 5)
    write(kept.folder, cells(slack=3.0) | {(6, 0): found()})
    kept.run(UPDATE, passed=1)
    assert list(kept.kept["history"][-1]["statements"]) == ["a.upper"], "b.lower is what it was"


def test_many_moves_are_counted(project: Project) -> None:
    write(project.folder, {(4, seed): found() for seed in range(30)})
    project.run(UPDATE, passed=1)
    write(project.folder, {(4, seed): found(slack=2.0) for seed in range(30)})
    out = project.run(failed=1)
    assert out.count("worse: a.upper on") == 20
    assert ".. and 10 more" in out


def test_a_broken_claim_fails_and_is_not_kept(project: Project) -> None:
    write(project.folder, cells(verdict="broken"))
    out = project.run(UPDATE, "--reason", "any", failed=1)
    assert "a sweep has what is broken\n  a.upper on V = 4, seed = 0\n" in out
    assert not project.file.exists()


def test_workers_keep_the_same_and_what_is_not_asked_for_is_told(project: Project) -> None:
    project.tests(TEST + TEST.replace("test_it", "test_b"))
    project.run(UPDATE, "-n", "2", passed=2)
    several = project.file.read_bytes()
    project.file.unlink()
    project.run(UPDATE, passed=2)
    assert project.file.read_bytes() == several
    project.tests(TEST)
    out = project.run(UPDATE, passed=1)
    assert "test_mine.sweeps.json, test_b: not asked for in this run; remove it if its test is gone" in out
    assert project.file.read_bytes() == several


def test_a_sweep_is_returned_by_statement(project: Project) -> None:
    project.tests(
        "def test_it(bound_constants):\n"
        "    upper, lower = bound_constants.check_sweep('out/runs.csv')\n"
        "    assert (upper['claim'], upper['holds'], lower['slack median']) == ('a.upper', 4, 0.25)\n"
    )
    project.run(UPDATE, passed=1)
    project.run(passed=1)


def test_each_test_file_has_its_own(project: Project) -> None:
    (project.pytester.path / "test_other.py").write_text(TEST.replace("test_it", "test_b"), encoding="utf-8")
    project.run(UPDATE, passed=2)
    assert list(json.loads(project.file.read_text(encoding="utf-8"))) == ["test_it"]
    other = project.pytester.path / "test_other.sweeps.json"
    assert list(json.loads(other.read_text(encoding="utf-8"))) == ["test_b"]


def test_bad_input_is_refused_in_one_line(project: Project) -> None:
    project.tests(TEST + "    bound_constants.check_sweep('out')\n")
    assert "a sweep is asked for twice in one test\n  expected one sweep a test" in project.run(UPDATE, failed=1)
    project.tests(TEST.replace("'out'", "'none'"))
    out = project.run(UPDATE, failed=1)
    assert "\nbound_constants: none: got No such file or directory, expected the folder of a `marginaudit sweep`" in out
    project.tests(TEST)
    project.file.write_text('{"test_it": {}}', encoding="utf-8")
    out = project.run(failed=1)
    assert "test_mine.sweeps.json: KeyError('keep') in a damaged file" in out
    assert "Traceback" not in out


# tables and files


def test_a_dataset_is_named_by_what_varies_and_its_seed(tmp_path: Path) -> None:
    """The seed and a file's dataset also where there is one."""
    swept = read_swept(write(tmp_path / "one", {(4, 0): found()}))
    assert (list(swept.runs), swept.settings["V"]) == (["seed = 0"], "4")
    file = write(tmp_path / "two", {(4, 0): found(), (5, 0): found()}) / "runs.csv"
    assert list(read_swept(file).runs) == ["V = 4, seed = 0", "V = 5, seed = 0"]
    file.write_text(file.read_text(encoding="utf-8").replace("V,L", "V,dataset"), encoding="utf-8")
    assert list(read_swept(file).runs) == ["V = 4, dataset = 3, seed = 0", "V = 5, dataset = 3, seed = 0"]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda text: "", "another table"),
        (lambda text: text.replace(",seed,", ",grain,"), "'seed' is not in list"),
        (lambda text: text.replace("status", "end"), "'status' is not in list"),
        (lambda text: text.replace("verdict", "word"), "no verdicts"),
        (lambda text: text.replace("holds", "fine", 1), "line 2: a.upper:verdict: got 'fine'"),
        (lambda text: text.replace(",upper", ",above", 1), "line 2: a.upper:side: got 'above'"),
        (lambda text: text.replace("4.0", "nan", 1), "line 2: a.upper:slack: got nan"),
        (lambda text: text.replace("4.0", "four", 1), "could not convert"),
        (lambda text: text.replace("\n5,3,900,1", "\n5,3,900,0"), "line 5: got V = 5, seed = 0 again"),
    ],
)
def test_a_table_that_is_none_is_refused(tmp_path: Path, change: Any, expected: str) -> None:
    file = write(tmp_path / "out", cells()) / "runs.csv"
    file.write_text(change(file.read_bytes().decode("utf-8").replace("\r\n", "\n")), encoding="utf-8")
    with pytest.raises(InputError) as refused:
        read_swept(file)
    assert expected in str(refused.value)
    assert ", expected " in str(refused.value)


def test_a_file_comes_back_as_it_was_written(tmp_path: Path) -> None:
    swept = read_swept(write(tmp_path / "out", cells(slack=0.1)))
    document = first_kept(swept, 0.25, "today").as_document()
    again = kept_from_document(json.loads(json.dumps(document)))
    assert again.as_document() == document
    assert again.swept.entries(0.25) == swept.entries(0.25)


@pytest.mark.parametrize("text", ["[]", "{", '{"t": {"keep": 1}}', b"\xff"])
def test_a_damaged_file_is_refused(tmp_path: Path, text: str | bytes) -> None:
    file = tmp_path / "test_mine.sweeps.json"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(DamagedFile):
        read_sweeps(file)


def test_two_sweeps_compared(command: Command, tmp_path: Path) -> None:
    old = write(tmp_path / "old", cells())
    new = write(tmp_path / "new", cells(slack=2.0) | {(5, 1): {}}, steps1=50)
    answer = command.json("compare", old, new)
    said = [(c["direction"], c["dataset"], c["claim"], c["what"]) for c in answer["changes"]]
    gone = [("gone", "V = 5, seed = 1", claim, "row") for claim in ("a.upper", "b.lower")]
    assert said == [("worse", "V = 4, seed = 0", "a.upper", "slack"), *gone]
    assert answer["settings"] == [{"name": "steps1", "old": "900", "new": "50"}]
    assert command("compare", old / "runs.csv", new, "--fail-on", "worse").status == 1
    bad = tmp_path / "bad.csv"
    bad.write_text("a\n1\n", encoding="utf-8")
    assert "another table" in command.refused("compare", old, bad)


def test_two_files_of_kept_sweeps_compared(command: Command, project: Project, tmp_path: Path) -> None:
    project.run(UPDATE, passed=1)
    old = tmp_path / "old.sweeps.json"
    old.write_bytes(project.file.read_bytes())
    write(project.folder, cells(slack=8.0))
    project.run(UPDATE, passed=1)
    (change,) = command.json("compare", old, project.file)["changes"]
    assert (change["dataset"], change["direction"], change["old"], change["new"]) == (
        "test_it: V = 4, seed = 0",
        "better",
        4.0,
        8.0,
    )
    old.write_text("[]", encoding="utf-8")
    assert "expected a file of bound constants" in command.refused("compare", old, project.file)


@pytest.mark.slow
def test_a_sweep_that_is_run_again_has_not_moved(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("small.toml").write_text(small_spec("ntp.theorem1.*:*", "ntp.prop1.*:*"), encoding="utf-8")
    for out in ("one", "two"):
        assert command("sweep", "small.toml", "--out", out, "--jobs", "1").status == 0
    one, two = read_swept(Path("one")), read_swept(Path("two"))
    assert moves(one, two, None) == []
    with Path("one/statements.csv").open(encoding="utf-8", newline="") as file:
        written = list(csv.DictReader(file))
    told = [{name: "" if value is None else str(value) for name, value in row.items()} for row in one.statements]
    assert told == written
    assert len(one.runs) == 4
    assert command.json("compare", "one", "two")["changes"] == []
