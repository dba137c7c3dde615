"""Workers: whatever dies costs itself alone, errors come back, and no process stays behind."""

import gc
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from marginaudit.orders import InputError
from marginaudit.reports import processes
from marginaudit.reports.audit.auditing import quiet
from marginaudit.reports.processes import Died, called
from marginaudit.reports.study import executor as executing
from marginaudit.reports.study.executor import Executor, Task, in_workers
from tests.reports.processes import children


def calling(call: Callable[[], Any]) -> Task:
    """A task that calls a function."""
    return Task("a task", lambda _=quiet: call())


@pytest.fixture(autouse=True)
def forking(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever threads other tests have left here."""
    monkeypatch.setattr(executing, "forkable", lambda: True)


def dies(times: int, folder: Path, before: frozenset[int]) -> int:
    """Kill its own process so often; then the number of workers."""
    tried = len([*folder.iterdir()])
    (folder / str(tried)).touch()
    if tried < times:
        os.kill(os.getpid(), signal.SIGKILL)
    return len({*children(os.getppid())} - before)


KILLED = Died("was ended by the system (Killed)")


@pytest.mark.parametrize(("times", "result", "tried"), [(0, 2, 1), (1, 1, 2), (2, KILLED, 2)])
def test_a_call_whose_worker_dies_is_retried_once_alone(
    times: int, result: int | Died, tried: int, tmp_path: Path
) -> None:
    (tmp_path / "tries").mkdir()
    death = partial(dies, times, tmp_path / "tries", frozenset(children(os.getpid())))
    found = list(in_workers({**{name: partial(str.upper, name) for name in "abc"}, "dies": death}, 2))
    assert dict(found) == {"a": "A", "b": "B", "c": "C", "dies": result}
    assert (len(found), found[-1][0] == "dies" or not times) == (4, True)
    assert len([*(tmp_path / "tries").iterdir()]) == tried


def test_calls_together_run_in_forked_workers_and_again_here_if_one_dies(monkeypatch: pytest.MonkeyPatch) -> None:
    """Their objects need not be picklable: a lock is not."""
    ours, lock = os.getpid(), threading.Lock()

    def process() -> int:
        with lock:
            return os.getpid()

    def dies_elsewhere() -> str:
        if os.getpid() != ours:
            os.kill(os.getpid(), signal.SIGKILL)
        return "here"

    monkeypatch.setattr(executing, "forkable", lambda: True)
    first, second, again = Executor(2).together(process, process, dies_elsewhere)
    assert (ours in (first, second), again) == (False, "here")
    assert Executor(1).together(process, process) == [ours, ours]
    monkeypatch.setattr(executing, "forkable", lambda: False)
    assert Executor(2).together(process, process) == [ours, ours]


def test_another_worker_takes_the_place_of_a_dead_one() -> None:
    calls: dict[str, Callable[[], Any]] = {"dies": partial(os._exit, 3), "a": os.getpid, "b": os.getpid}
    found = dict(in_workers(calls, 1))
    assert found == {"dies": Died("gave no finding (exit status 3)"), "a": found["a"], "b": found["a"]}


def test_a_retry_may_be_another_call() -> None:
    calls: dict[str, Callable[[], Any]] = {"dies": partial(os._exit, 3), "a": partial(str.upper, "a")}
    assert dict(in_workers(calls, 2, retries={"dies": int})) == {"dies": 0, "a": "A"}


@pytest.mark.parametrize("error", [InputError("here", got="one", expected="two"), ValueError("here: got one")])
def test_an_error_of_a_task_ends_all(error: Exception) -> None:
    """A mistake of this program says where it is."""

    def fails() -> None:
        raise error

    before = children(os.getpid())
    with pytest.raises(type(error), match=r"^here: got one") as raised:
        Executor(2).all([calling(fails), calling(partial(time.sleep, 60))], quiet)
    assert isinstance(error, InputError) or "in fails\n" in raised.value.__notes__[0]
    assert children(os.getpid()) == before


def test_workers_end_with_the_iterator() -> None:
    before = children(os.getpid())
    results = in_workers({"a": os.getpid, "b": partial(time.sleep, 60)}, 2)
    _, process = next(results)
    assert process in children(os.getpid())
    del results
    assert children(os.getpid()) == before


def test_garbage_is_not_looked_for_in_what_workers_share() -> None:
    assert dict(in_workers({"a": gc.get_freeze_count}, 1))["a"] > 0
    assert gc.get_freeze_count() == 0


def test_what_cannot_be_sent_is_computed_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where nothing can be forked, and a claim holds a lock."""
    monkeypatch.setattr(executing, "forkable", lambda: False)
    lock = threading.Lock()
    tasks = [calling(lambda: (lock.locked(), os.getpid())) for _ in range(2)]
    assert Executor(2).all(tasks, quiet) == dict.fromkeys(tasks, (False, os.getpid()))


@pytest.mark.parametrize("client_is_there", [True, False])
def test_a_worker_ends_with_its_client(client_is_there: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "WATCH_SECONDS", 0.01)
    if not client_is_there:
        monkeypatch.setattr(os, "getppid", lambda: -1)
    call = partial(time.sleep, 0.5 if client_is_there else 60)
    died = Died("gave no finding (exit status 1)")
    assert list(called({"a": call}, 1, fork=True)) == [("a", None if client_is_there else died)]


WARNING_FORK = """
fork, told_of = os.fork, "This process (pid=1) is multi-threaded, use of fork() may lead to deadlocks in the child."
os.fork = lambda: warnings.warn(told_of, DeprecationWarning) or fork()  # as Python 3.12 does
"""

PROCESSES = """
import os, sys, threading, time, warnings
import numpy as np
import marginaudit
from marginaudit.reports.study.executor import Executor, Task
from marginaudit.reports.processes import forkable

def known(*_):
    return os.getppid(), hasattr(marginaudit, "mark")

np.ones((500, 500)) @ np.ones((500, 500))  # with all the threads that it has
told = forkable()
{beside}
marginaudit.mark = True
found = Executor(2).all([Task("a", known), Task("b", known)], print).values()
assert [client for client, _ in found] == [os.getpid()] * 2
print(told, forkable(), *{mark for _, mark in found})
"""


@pytest.mark.parametrize(
    ("beside", "told"),
    [
        (WARNING_FORK, "True True True\n"),
        ("import pandas  # with a thread of jemalloc", "True True True\n"),
        ("threading.Thread(target=time.sleep, args=[60], daemon=True).start()", "True False False\n"),
    ],
    ids=["alone", "beside pandas", "beside a thread"],
)
def test_workers_are_forked_where_no_thread_is_beside(beside: str, told: str) -> None:
    """Then they have what their client has; else they begin anew."""
    code = PROCESSES.replace("{beside}", beside)
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == (f"2 tasks under way\n{told}", "")
