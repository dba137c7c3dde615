"""`marginaudit sweep`: what it computes, what it leaves alone, what it writes, and what it refuses."""

import csv
import json
import statistics
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from marginaudit.orders import InputError
from marginaudit.reports.processes import Died
from marginaudit.reports.study import sweep as sweeping
from marginaudit.reports.study.grid import outcomes
from marginaudit.reports.study.store import digest
from tests.command_line import Command
from tests.reports.study import odd_paper
from tests.reports.study.specs import FIGURE, ODD, odd_spec, written

Works = list[Mapping[str, Any]]


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> Works:
    """Tasks are computed in this process; their work is listed in the order in which they were."""
    found: Works = []

    def computed(calls: Mapping[str, Any], jobs: int) -> Iterator[tuple[str, Any]]:
        assert jobs >= 1
        for key, call in calls.items():
            found.extend(call.args)
            yield key, call()

    monkeypatch.setattr(sweeping, "in_workers", computed)
    return found


def files(folder: str = "out") -> dict[str, bytes]:
    """What is made of the runs."""
    return {path.name: path.read_bytes() for path in Path(folder).iterdir() if path.is_file()}


def table(name: str) -> list[dict[str, str]]:
    with Path("out", name).open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def sweep(command: Command, *options: object, text: str = ODD, status: int = 0) -> Any:
    return command.json("sweep", written(text), "--out", "out", *options, status=status)


def test_the_tables(command: Command, here: Works) -> None:
    answer = sweep(command, text=ODD + FIGURE)
    assert answer["runs"] == {"done": 18, "failed": 0, "killed": 0, "missing": 0}
    assert answer["files"] == [
        f"out/{name}" for name in ("runs.parquet", "runs.csv", "cells.csv", "figure.svg", "figure.pdf")
    ]
    assert Path("out/spec.toml").read_text() == ODD + FIGURE
    runs = table("runs.csv")
    columns = ["N", "rate", "what", "seed", "end", "word", "status", "message", "versions", "code"]
    assert list(runs[0]) == columns
    expected = [(N, rate, seed) for N in (1, 4) for rate in (0.5, 1.0, 2.0) for seed in range(3)]
    assert [(int(run["N"]), float(run["rate"]), int(run["seed"])) for run in runs] == expected
    for (N, rate, seed), run in zip(expected, runs, strict=True):
        assert float(run["end"]) == rate * (seed + (N - 1) / 2) / 3
        assert (run["word"], run["what"], run["status"], run["message"]) == (f"n{N % 2}", "well", "done", "")
        assert run["code"] == here[0]["code"]
        assert run["versions"].startswith("marginaudit ")
    cells = table("cells.csv")
    assert list(cells[0]) == ["N", "rate", "seeds", "end mean", "end sd", "end count", "word"]
    for i, cell in enumerate(cells):
        ends = [float(run["end"]) for run in runs[3 * i : 3 * i + 3]]
        assert (cell["N"], cell["rate"], cell["seeds"]) == (runs[3 * i]["N"], runs[3 * i]["rate"], "3")
        assert float(cell["end mean"]) == pytest.approx(statistics.mean(ends), rel=1e-14, abs=0)
        assert float(cell["end sd"]) == pytest.approx(statistics.stdev(ends), rel=1e-14, abs=0)
        assert (cell["end count"], cell["word"]) == ("3", f"3 n{int(cell['N']) % 2}")
    assert [cell["end mean"] for cell in answer["cells"]] == [float(cell["end mean"]) for cell in cells]


def test_parquet_holds_what_the_csv_does(command: Command, here: Works) -> None:
    sweep(command)
    frame = pd.read_parquet("out/runs.parquet")
    assert frame.dtypes[["N", "seed", "rate", "end"]].astype(str).tolist() == ["int64", "int64", "float64", "float64"]
    assert [{name: str(value) for name, value in row.items()} for row in frame.to_dict("records")] == table("runs.csv")
    content = Path("out/runs.parquet").read_bytes()
    assert str(Path.cwd()).encode() not in content


def test_one_kept_number_has_a_mean_and_an_sd_and_one_seed_has_no_sd(command: Command, here: Works) -> None:
    sweep(command, text=ODD.replace("seeds = 3", "seeds = [4]\nkeep = ['end']"))
    cells = table("cells.csv")
    assert list(cells[0]) == ["N", "rate", "seeds", "mean", "sd", "count"]
    assert all(float(cell["mean"]) > 0 and cell["sd"] == "" for cell in cells)


def test_only_what_is_missing_is_computed(command: Command, here: Works) -> None:
    sweep(command)
    first, before = list(here), files()
    Path(f"out/parts/{digest(first[3])}.pickle").unlink()
    part, other = (Path(f"out/parts/{digest(first[number])}.pickle") for number in (5, 7))
    part.write_bytes(other.read_bytes())
    here.clear()
    told = command("sweep", written(), "--out", "out").err
    assert [line for line in told.splitlines() if "parts" in line] == [
        f"{part}: damaged, edited or copied since it was written, so to be computed anew"
    ]
    assert here == [first[3], first[5]]
    assert files() == before
    here.clear()
    sweep(command, text=ODD.replace("seeds = 3", "seeds = 4"))
    assert {work["seed"] for work in here} == {3}
    assert len(here) == 4


def test_other_code_is_refused_by_name_until_it_starts_over(
    command: Command, here: Works, monkeypatch: pytest.MonkeyPatch
) -> None:
    sweep(command)
    about = json.loads(Path("out/sweep.json").read_text())
    about["code"]["orders/text.py"] = "0" * 64
    about["versions"]["numpy"] = "1.0"
    Path("out/sweep.json").write_text(json.dumps(about))
    before = files()
    here.clear()
    for options in ((), ("--plan",), ("--status",), ("--retry-failed",)):
        line = command.refused("sweep", "odd.toml", "--out", "out", *options)
        assert line.startswith("--out out: got results of numpy 1.0, now ")
        assert line.endswith("; other code in orders/text.py, expected what computed them, or --fresh to start over")
    assert (files(), here) == (before, [])
    Path("out/parts", "0" * 64 + ".pickle").write_text("old")
    sweep(command, "--fresh")
    assert len(here) == len(list(Path("out/parts").iterdir())) == 12
    assert json.loads(Path("out/sweep.json").read_text()) != about


def test_what_was_made_for_another_spec_goes_and_its_results_stay(command: Command, here: Works) -> None:
    sweep(command, text=ODD + FIGURE)
    kept = {path.name for path in Path("out/parts").iterdir()}
    for name in ("statements.csv", "sweep.html"):
        Path("out", name).write_text("of the spec before")
    folder = sweeping.Folder(Path("out"), odd_spec(ODD + FIGURE))
    folder.begin()
    assert {"cells.csv", "statements.csv", "figure.svg"} <= set(files())  # an interrupted sweep that goes on
    here.clear()
    sweep(command)
    assert set(files()) == {"runs.parquet", "runs.csv", "cells.csv", "spec.toml", "sweep.json"}
    assert ({path.name for path in Path("out/parts").iterdir()}, here) == (kept, [])


def test_a_folder_of_something_else_is_refused(command: Command) -> None:
    written()
    Path("other").mkdir()
    Path("other/mine.txt").write_text("mine")
    line = command.refused("sweep", "odd.toml", "--out", "other", "--fresh")
    assert line.startswith("--out other: got a folder of files that are no sweep, expected a new folder")
    assert command.refused("sweep", "odd.toml", "--out", "odd.toml").startswith("--out odd.toml: got a file, expected")
    Path("bad").mkdir()
    Path("bad/sweep.json").write_text("{}")
    assert command.refused("sweep", "odd.toml", "--out", "bad").startswith("bad/sweep.json: got a damaged file")
    assert {path.name for path in Path().rglob("*")} == {"odd.toml", "other", "mine.txt", "bad", "sweep.json"}


def test_failures_are_recorded_and_retried_alone(
    command: Command, here: Works, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = ODD.replace("[1, 4]", "4").replace("[0.5, 1, 2]", "[0.5, 1]\nwhat = ['fail', 'well']").replace("= 3", "= 2")
    answer = sweep(command, text=text, status=1)
    assert answer["runs"] == {"done": 4, "failed": 4, "killed": 0, "missing": 0}
    told = command("sweep", "odd.toml", "--out", "out")
    assert (told.status, told.err) == (1, "marginaudit: 4 of 8 runs could not be done: 4 failed\n")
    cells = table("cells.csv")
    assert [(cell["what"], cell["seeds"], cell["end mean"] == "") for cell in cells] == [
        ("fail", "0", True),
        ("well", "2", False),
    ] * 2
    runs = table("runs.csv")
    assert [run["message"] for run in runs[:2]] == ["ValueError: rate 0.5 is odd"] * 2
    status = command.json("sweep", "odd.toml", "--out", "out", "--status")
    assert len(status["not_done"]) == 4
    assert status["not_done"][0] == {
        "settings": {"rate": 0.5, "what": "fail"},
        "seed": 0,
        "status": "failed",
        "message": "ValueError: rate 0.5 is odd",
    }
    assert "8 runs: 4 done, 4 failed." in command("sweep", "odd.toml", "--out", "out", "--status").out
    here.clear()
    sweep(command, text=text, status=1)
    assert here == []
    asked: list[str] = []
    monkeypatch.setattr(odd_paper, "notice", lambda configs: asked.extend(config.what for config in configs))
    sweep(command, "--retry-failed", text=text, status=1)
    assert asked == ["fail"] * 4


def test_a_retry_that_kills_its_workers_leaves_what_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    folder = sweeping.Folder(Path("out"), odd_spec())
    folder.begin()
    task = folder.tasks[0]
    done, other = outcomes(task.work)
    folder.keep(task.key, [done, {"status": "failed", "message": "odd", "results": {}}])
    monkeypatch.setattr(sweeping, "in_workers", lambda calls, _: ((key, Died()) for key in calls))
    [again] = folder.todo(retry_failed=True)
    sweeping.compute_missing(folder, [again], 1, None, lambda _: None)
    assert folder.outcomes()[task.key] == [done, sweeping.KILLED]
    folder.keep(task.key, [done, other])
    assert folder.todo(retry_failed=True) == []


def test_runs_that_were_killed_are_told_of_and_are_an_exit_status(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweeping, "in_workers", lambda calls, _: ((key, Died()) for key in calls))
    told = command("sweep", written(), "--out", "out", "--jobs", "1")
    assert (told.status, told.err) == (1, "marginaudit: 18 of 18 runs could not be done: 18 killed\n")


def test_a_retry_leaves_what_never_ran(command: Command, here: Works) -> None:
    written()
    line = command.refused("sweep", "odd.toml", "--out", "out", "--retry-failed")
    assert line == "--retry-failed out: got 18 runs that never ran, expected none"
    assert here == []


def test_plan_and_status_write_nothing(command: Command, here: Works) -> None:
    written()
    plan = command.json("sweep", "odd.toml", "--plan", "--jobs", "3")
    assert plan["seconds"] > 0
    assert {name: plan[name] for name in plan if name != "seconds"} == {
        "runs": 18, "parts": 12, "to_run": 18, "jobs": 3, "out": "sweep-odd",
    }  # fmt: skip
    assert command.json("sweep", "odd.toml", "--status")["runs"] == {"done": 0, "failed": 0, "killed": 0, "missing": 18}
    assert [path.name for path in Path().iterdir()] == ["odd.toml"]
    sweep(command)
    Path("out/parts", f"{digest(here[0])}.pickle").unlink()
    plan = command.json("sweep", "odd.toml", "--out", "out", "--plan")
    assert (plan["to_run"], plan["parts"]) == (2, 12)
    assert "2 of 18 runs to compute" in command("sweep", "odd.toml", "--out", "out", "--plan").out
    assert command.json("sweep", "odd.toml", "--out", "out", "--status")["runs"]["missing"] == 2


def test_the_plan_is_as_long_as_its_runs(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """By a clock on which a run takes ten seconds; what comes first takes longer, as it compiles."""
    clock = [0.0]
    monkeypatch.setattr(sweeping, "perf_counter", lambda: clock[0])

    def tick(configs: Sequence[object]) -> None:
        clock[0] += 10.0 * len(configs) if clock[0] else 500.0

    monkeypatch.setattr(odd_paper, "notice", tick)
    written()
    assert command.json("sweep", "odd.toml", "--plan", "--jobs", "1")["seconds"] == 180
    assert command("sweep", "odd.toml", "--plan", "--jobs", "4").out.endswith("about 45 s on 4 processes.\n")


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (("--plan", "--status"), "--plan: got --status beside it, expected one of the two"),
        (("--fresh", "--retry-failed"), "--retry-failed: got --fresh beside it, expected one of the two"),
        (("--jobs", "2", "--scheduler", "x"), "--jobs: got --scheduler beside it, expected one of the two"),
        (("--jobs", "0"), "--jobs: got '0', expected a whole number from 1 to 1024"),
        (("--jobs", "9" * 5000), "--jobs: got '999"),
        (("--jobs", "1025"), "--jobs: got '1025', expected a whole number from 1 to 1024"),
    ],
)
def test_options_that_are_refused(command: Command, options: tuple[str, ...], error: str) -> None:
    written()
    assert command.refused("sweep", "odd.toml", *options).startswith(error)
    assert [path.name for path in Path().iterdir()] == ["odd.toml"]


def test_another_result_for_the_same_key_ends_the_sweep(command: Command, here: Works) -> None:
    """As where two programs compute a task at a time, on machines that differ."""
    sweep(command)
    folder = sweeping.Folder(Path("out"), odd_spec())
    key = folder.tasks[0].key
    before = folder.store.path(key).read_bytes()
    first, second = folder.store.read(key)
    failed = {"status": "failed", "message": "odd", "results": {}}
    folder.keep(key, [failed, second])
    with pytest.raises(InputError) as refused:
        folder.keep(key, [first, {**second, "results": second["results"] | {"end": 7.0}}])
    assert str(refused.value) == (
        f"out/parts/{key}.pickle: got another end: {second['results']['end']}, now 7.0, "
        "expected the same from the same settings, seed, versions and code"
    )
    assert folder.store.path(key).read_bytes() == before
    folder.store.write(key, [failed, second])
    folder.keep(key, [first, failed])
    assert folder.store.path(key).read_bytes() == before


def test_progress_counts_runs(here: Works, tmp_path: Path) -> None:
    told: list[int] = []
    folder = sweeping.Folder(tmp_path / "out", odd_spec())
    folder.begin()
    sweeping.compute_missing(folder, folder.tasks, 1, None, told.append)
    assert told == [2, 3, 5, 6, 8, 9, 11, 12, 14, 15, 17, 18]
    told.clear()
    in_memory = sweeping.cells_in_memory(odd_spec(), told.append)
    assert told[-1] == 18
    assert in_memory == sweeping.write_tables(folder)[0]
