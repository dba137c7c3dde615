"""Sweeps on a Dask cluster, whose scheduler and worker are threads of this process."""

import logging
import socket
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import pytest
from dask.distributed import KilledWorker, LocalCluster

from marginaudit.reports.study import sweep as sweeping
from marginaudit.reports.study.grid import outcomes
from marginaudit.reports.study.store import digest
from tests.command_line import Command, files_of
from tests.reports.study import odd_paper
from tests.reports.study.specs import written


@pytest.fixture
def address() -> Iterator[str]:
    """The address of a scheduler with one worker."""
    with LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None) as cluster:
        yield cluster.scheduler_address


def test_a_cluster_and_one_process_write_the_same_bytes(command: Command, address: str) -> None:
    path = written()
    for out, where in (("cluster", ("--scheduler", address)), ("alone", ("--jobs", 1))):
        assert command.json("sweep", path, "--out", out, *where)["runs"]["done"] == 18
    assert files_of("cluster") == files_of("alone")
    assert logging.getLogger("distributed.worker").getEffectiveLevel() == logging.CRITICAL


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (None, "got no answer within 0.5 s"),
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "got an answer in another protocol"),
        (b"", "got "),
    ],
)
def test_what_listens_and_is_no_scheduler_is_refused(
    command: Command, monkeypatch: pytest.MonkeyPatch, answer: bytes | None, said: str
) -> None:
    monkeypatch.setattr("marginaudit.reports.study.cluster.CONNECT_SECONDS", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as listening, ThreadPoolExecutor(1) as thread:

        def answers() -> socket.socket:
            connection, _ = listening.accept()
            if answer is not None:
                connection.sendall(answer)
                connection.close()
            return connection

        answered = thread.submit(answers)
        address = f"tcp://127.0.0.1:{listening.getsockname()[1]}"
        line = command.refused("sweep", written(), "--out", "out", "--scheduler", address)
        answered.result().close()
    assert line.startswith(f"--scheduler '{address}': {said}")
    assert line.endswith(", expected a running Dask scheduler")


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("nonsense://x", "unknown address scheme 'nonsense'"),
        ("tls://127.0.0.1:1", ""),
        ("", ""),
    ],
)
def test_what_cannot_be_spoken_to_is_refused_in_one_line(command: Command, address: str, said: str) -> None:
    line = command.refused("sweep", written(), "--out", "out", "--scheduler", address)
    assert line.startswith(f"--scheduler '{address}': got {said}")
    assert line.endswith(", expected a running Dask scheduler")


WORKER: Any = SimpleNamespace(address="a worker")


def test_what_died_beside_others_is_done_by_itself(
    command: Command, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:

    def dies_once(work: Mapping[str, Any]) -> Any:
        if odd_paper.first_time(digest(work)):
            raise KilledWorker("a task", WORKER, 3)
        return outcomes(work)

    monkeypatch.setattr(sweeping, "outcomes", dies_once)
    assert command.json("sweep", written(), "--out", "out", "--scheduler", address)["runs"]["done"] == 18
