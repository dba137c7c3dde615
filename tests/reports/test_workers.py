"""Processes that work for this one end with it."""

import os
import time

import pytest

from marginaudit.reports import workers


@pytest.mark.parametrize("client_is_there", [True, False])
def test_a_worker_ends_with_its_client(client_is_there: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "WATCH_SECONDS", 0.01)
    worker = os.fork()
    if worker == 0:
        workers._leave_with(os.getppid() if client_is_there else -1)
        time.sleep(0.5 if client_is_there else 60)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(worker, 0)[1]) == (0 if client_is_there else 1)


def test_workers_end_with_their_block_whatever_they_do() -> None:
    with workers.workers(1) as pool:
        assert pool.submit(os.getpid).result() != os.getpid()
        asleep = pool.submit(time.sleep, 30)
    assert asleep.cancelled() or asleep.exception() is not None
