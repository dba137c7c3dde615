"""Real processes: however a sweep is computed, and whatever is killed on the way, its files have the same bytes."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.command_line import Command, files_of
from tests.reports.processes import DEADLINE, alive, children, until
from tests.reports.study.specs import written

GRID = """
paper = "odd"
seeds = 4
[data]
generator = "counting"
N = [1, 4]
[settings]
rate = [0.5, 1, 2, 3]
what = "slow"
[figure]
x = "rate"
y = "end"
line = "N"
"""
TASKS = 16

TOLD = Path("told.txt")

Begun = Callable[..., "subprocess.Popen[bytes]"]


@pytest.fixture
def begun() -> Iterator[Begun]:
    """The command as a user begins it; what it says on standard error lies in a file."""
    started: list[subprocess.Popen[bytes]] = []

    def begin(*arguments: object) -> "subprocess.Popen[bytes]":
        command = [sys.executable, "-m", "marginaudit.reports", "sweep", *map(str, arguments)]
        with TOLD.open("wb") as told:
            started.append(subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=told))
        return started[-1]

    yield begin
    for process in started:
        process.kill()
        process.wait()


def results(folder: str) -> list[Path]:
    return list(Path(folder, "parts").glob("*.pickle"))


def workers_of(client: int) -> list[int]:
    """Its forks."""
    command = Path(f"/proc/{client}/cmdline").read_bytes()
    return [process for process in children(client) if Path(f"/proc/{process}/cmdline").read_bytes() == command]


def test_one_process_and_two_write_the_same_bytes(command: Command) -> None:
    path = written(GRID.replace('"slow"', '"well"').replace("seeds = 4", "seeds = 1"))
    for jobs in (1, 2):
        assert command.json("sweep", path, "--out", f"jobs-{jobs}", "--jobs", jobs)["runs"]["done"] == 8
    assert files_of("jobs-1") == files_of("jobs-2")


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, list["subprocess.Popen[bytes]"]]]:
    """A Dask scheduler's address, and its process with those of its two workers."""
    monkeypatch.setenv("DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES", "3")
    file = Path("scheduler.json").absolute()
    common = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    options = ["--scheduler-file", str(file), "--no-dashboard"]
    program = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0"]
    started = [subprocess.Popen([*program, *options], **common)]  # type: ignore[call-overload]
    try:
        until(lambda: file.exists() and bool(file.read_text()))
        address: str = json.loads(file.read_text())["address"]
        worker = [sys.executable, "-m", "distributed.cli.dask_worker", address, "--no-nanny", "--nthreads", "1"]
        for number in range(2):
            own = ["--no-dashboard", "--local-directory", f"worker-{number}"]
            started.append(subprocess.Popen([*worker, *own], **common))  # type: ignore[call-overload]
        yield address, started
    finally:
        for process in started:
            process.kill()
            process.wait()


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_whatever_is_killed_the_bytes_are_the_same(
    command: Command, begun: Begun, cluster: tuple[str, list["subprocess.Popen[bytes]"]]
) -> None:
    address, (_, worker, _) = cluster
    path = written(GRID)
    assert command.json("sweep", path, "--out", "serial", "--jobs", 1)["runs"]["done"] == 2 * TASKS
    expected = files_of("serial")
    assert len(results("serial")) == TASKS

    client = begun(path, "--out", "cluster", "--scheduler", address)
    until(lambda: len(results("cluster")) >= 2)
    worker.kill()
    assert len(results("cluster")) < TASKS
    assert client.wait(DEADLINE) == 0, TOLD.read_text()
    assert files_of("cluster") == expected

    client = begun(path, "--out", "killed", "--jobs", 2)
    until(lambda: len(results("killed")) >= 2)
    theirs = children(client.pid)
    assert theirs
    client.kill()
    assert client.wait(DEADLINE) == -signal.SIGKILL
    assert not Path("killed/runs.csv").exists()
    until(lambda: not any(alive(process) for process in theirs))
    kept = {file.name: file.stat().st_mtime_ns for file in results("killed")}
    assert 2 <= len(kept) < TASKS
    assert command.json("sweep", path, "--out", "killed", "--jobs", 2)["runs"]["done"] == 2 * TASKS
    assert files_of("killed") == expected
    assert {file.name: file.stat().st_mtime_ns for file in results("killed") if file.name in kept} == kept


@pytest.mark.slow
def test_an_interrupt_keeps_what_is_finished(begun: Begun) -> None:
    path = written(GRID)
    client = begun(path, "--out", "out", "--jobs", 2)
    until(lambda: len(results("out")) >= 2)
    theirs, workers = children(client.pid), workers_of(client.pid)
    assert len(workers) == 2
    for worker in workers:
        (blocked,) = re.findall(r"SigBlk:\s*(\w+)", Path(f"/proc/{worker}/status").read_text())
        assert int(blocked, 16) >> (signal.SIGINT - 1) & 1
    for process in (client.pid, *theirs):  # as a terminal does
        os.kill(process, signal.SIGINT)
    assert (client.wait(DEADLINE), TOLD.read_text().strip()) == (130, "marginaudit: interrupted")
    assert 2 <= len(results("out")) < TASKS
    until(lambda: not any(alive(process) for process in theirs))
    assert not Path("out/runs.csv").exists()
