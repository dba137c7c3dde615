"""Parts on a Dask cluster, whose scheduler and worker are threads of this process."""

import logging
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from dask.distributed import Client, Future, KilledWorker, LocalCluster, default_client

from marginaudit.reports.sweep.cluster import on_cluster
from marginaudit.reports.sweep.folder import Folder
from tests.command_line import Command
from tests.reports.sweep import odd_paper
from tests.reports.sweep.specs import odd_spec, written
from tests.reports.sweep.test_processes import made


@pytest.fixture
def address() -> Iterator[str]:
    """The address of a scheduler with one worker."""
    with LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None) as cluster:
        yield cluster.scheduler_address


def test_a_cluster_and_one_process_write_the_same_bytes(command: Command, address: str) -> None:
    path = written()
    for out, where in (("cluster", ("--scheduler", address)), ("alone", ("--jobs", 1))):
        assert command.json("sweep", path, "--out", out, *where)["runs"]["done"] == 18
    assert made("cluster") == made("alone")
    assert logging.getLogger("distributed.worker").getEffectiveLevel() == logging.CRITICAL


def test_what_is_no_address_is_refused_with_the_reason(command: Command) -> None:
    line = command.refused("sweep", written(), "--out", "out", "--scheduler", "nonsense://x")
    assert line.startswith("--scheduler 'nonsense://x': got unknown address scheme 'nonsense'")
    assert line.endswith(", expected a running Dask scheduler")


def test_the_client_of_a_notebook_stays_the_default(address: str) -> None:
    folder = Folder(Path("out"), odd_spec(), fresh=False)
    folder.begin()
    with Client(address) as mine:
        ended = [default_client() is mine for _ in on_cluster(folder.all, folder.parts.absolute(), address)]
    assert ended == [True] * len(folder.all)


def test_a_part_that_is_cancelled_ends_the_sweep_in_one_line(
    command: Command, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cancel(_: object) -> None:
        with Client(address, set_as_default=False) as other:
            other.cancel([Future(key, other) for key in other.run_on_scheduler(keys)], force=True)

    def keys(dask_scheduler: Any) -> list[str]:
        return list(dask_scheduler.tasks)

    monkeypatch.setattr(odd_paper, "notice", cancel)
    line = command.refused("sweep", written(), "--out", "out", "--scheduler", address)
    assert line == f"--scheduler '{address}': got the part cancelled, expected a scheduler that stays"


def test_what_kills_workers_is_written_as_killed(
    command: Command, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker: Any = SimpleNamespace(address="a worker")

    def dies(*_: object) -> str:
        raise KilledWorker("a part", worker, 3)

    monkeypatch.setattr("marginaudit.reports.sweep.cluster.compute", dies)
    answer = command.json("sweep", written(), "--out", "out", "--scheduler", address)
    assert answer["runs"] == {"done": 0, "failed": 0, "killed": 18, "missing": 0}


def test_a_worker_that_refuses_ends_the_sweep(command: Command, address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def other_results(*_: object) -> None:
        monkeypatch.setattr("marginaudit.reports.sweep.work.identity", lambda _: {"other": "code"})

    monkeypatch.setattr(odd_paper, "notice", other_results)
    line = command.refused("sweep", written(), "--out", "out", "--scheduler", address)
    assert line.startswith("a worker: got versions and code ")
