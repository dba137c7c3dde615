"""Processes that work for this one end with it."""

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from marginaudit.reports import workers


@pytest.mark.parametrize("client_is_there", [True, False])
def test_a_worker_ends_with_its_client(client_is_there: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "WATCH_SECONDS", 0.01)
    worker = os.fork()
    if worker == 0:
        workers.leave_with(os.getppid() if client_is_there else -1)
        time.sleep(0.5 if client_is_there else 60)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(worker, 0)[1]) == (0 if client_is_there else 1)


def test_workers_end_with_their_block_whatever_they_do() -> None:
    with workers.workers(1) as pool:
        assert pool.submit(os.getpid).result() != os.getpid()
        asleep = pool.submit(time.sleep, 30)
    assert asleep.cancelled() or asleep.exception() is not None


WARNING_FORK = """
fork, told_of = os.fork, "This process (pid=1) is multi-threaded, use of fork() may lead to deadlocks in the child."
os.fork = lambda: warnings.warn(told_of, DeprecationWarning) or fork()  # as Python 3.12 does
"""

PROCESSES = """
import os, sys, threading, time, warnings
import numpy as np
import marginaudit
from marginaudit.reports import workers

np.ones((500, 500)) @ np.ones((500, 500))  # with all the threads that it has
told = workers.forkable()
{beside}
known = lambda: hasattr(marginaudit, "mark")
marginaudit.mark = True
with workers.workers(2) as pool:
    print(told, workers.forkable(), *(workers.submitted(pool, known).result() for _ in range(2)))
"""


@pytest.mark.parametrize(
    ("beside", "told"),
    [
        (WARNING_FORK, "True True True True\n"),
        ("threading.Thread(target=time.sleep, args=[5], daemon=True).start()", "True False False False\n"),
    ],
    ids=["alone", "beside a thread"],
)
def test_workers_are_forked_where_no_thread_is_beside(beside: str, told: str) -> None:
    """Then they have what their client has; else they begin anew."""
    code = PROCESSES.replace("{beside}", beside)
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == (told, "")


def test_where_threads_cannot_be_counted_nothing_is_forked(monkeypatch: pytest.MonkeyPatch) -> None:
    threads = len(list(Path("/proc/self/task").iterdir()))
    pools = [{"threading_layer": "pthreads", "num_threads": threads}, {"internal_api": "mkl", "num_threads": 50}]
    monkeypatch.setattr(workers, "threadpool_info", lambda: pools)
    assert workers.forkable() == sys.platform.startswith("linux")
    with_one = threading.Event()
    threading.Thread(target=with_one.wait, args=[5]).start()
    assert not workers.forkable()
    with_one.set()
    pools[0]["num_threads"] = 100
    monkeypatch.setattr(workers, "THREADS", Path("/nowhere"))
    assert not workers.forkable()
