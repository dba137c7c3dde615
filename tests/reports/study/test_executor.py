"""Workers: whatever dies costs itself alone, errors come back, and no process stays behind."""

import gc
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
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


@dataclass(frozen=True, eq=False)
class Calling(Task):
    """A task that calls a function."""

    call: Callable[[], Any]
    size: int = 0
    key = None

    def compute(self, *_: Any) -> Any:
        return self.call()


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


@pytest.mark.parametrize(("times", "result", "tried"), [(0, 2, 1), (1, 1, 2), (2, None, 2)])
def test_a_task_whose_worker_dies_is_retried_once_alone(
    times: int, result: int | None, tried: int, tmp_path: Path
) -> None:
    (tmp_path / "tries").mkdir()
    death = partial(dies, times, tmp_path / "tries", frozenset(children(os.getpid())))
    tasks = {**{name: Calling(partial(str.upper, name)) for name in "abc"}, "dies": Calling(death)}
    found = list(in_workers(tasks, 2))
    assert dict(found) == {"a": "A", "b": "B", "c": "C", "dies": result}
    assert (len(found), found[-1][0] == "dies" or not times) == (4, True)
    assert len([*(tmp_path / "tries").iterdir()]) == tried


def test_another_worker_takes_the_place_of_a_dead_one() -> None:
    tasks = {"dies": Calling(partial(os._exit, 3)), "a": Calling(os.getpid), "b": Calling(os.getpid)}
    found = dict(in_workers(tasks, 1))
    assert found == {"dies": None, "a": found["a"], "b": found["a"]}


def test_the_largest_task_starts_first_and_the_smallest_before_a_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    def computed(tasks: Mapping[Calling, Calling], *_: object) -> Iterator[tuple[Calling, int]]:
        return ((task, task.size) for task in tasks)

    monkeypatch.setattr(executing, "in_workers", computed)
    tasks = [Calling(int, size) for size in (2, 9, 5)]
    assert [size for _, size, _ in Executor(2).results(tasks)] == [9, 5, 2]
    assert [size for _, size, _ in Executor(2).results(tasks, until=time.monotonic() + 9)] == [2, 5, 9]


@pytest.mark.parametrize("error", [InputError("here", got="one", expected="two"), ValueError("here: got one")])
def test_an_error_of_a_task_ends_all(error: Exception) -> None:
    """A mistake of this program says where it is."""

    def fails() -> None:
        raise error

    before = children(os.getpid())
    with pytest.raises(type(error), match=r"^here: got one") as raised:
        Executor(2).all([Calling(fails), Calling(partial(time.sleep, 60))], quiet)
    assert isinstance(error, InputError) or "in fails\n" in raised.value.__notes__[0]
    assert children(os.getpid()) == before


def test_workers_end_with_the_iterator() -> None:
    before = children(os.getpid())
    results = in_workers({"a": Calling(os.getpid), "b": Calling(partial(time.sleep, 60))}, 2)
    _, process = next(results)
    assert process in children(os.getpid())
    del results
    assert children(os.getpid()) == before


def test_garbage_is_not_looked_for_in_what_workers_share() -> None:
    assert dict(in_workers({"a": Calling(gc.get_freeze_count)}, 1))["a"] > 0
    assert gc.get_freeze_count() == 0


def test_what_cannot_be_sent_is_computed_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where nothing can be forked, and a claim holds a lock."""
    monkeypatch.setattr(executing, "forkable", lambda: False)
    lock = threading.Lock()
    assert Executor(2).all([Calling(lambda: (lock.locked(), os.getpid()))] * 2, quiet) == [(False, os.getpid())] * 2


@pytest.mark.parametrize("client_is_there", [True, False])
def test_a_worker_ends_with_its_client(client_is_there: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "WATCH_SECONDS", 0.01)
    if not client_is_there:
        monkeypatch.setattr(os, "getppid", lambda: -1)
    call = partial(time.sleep, 0.5 if client_is_there else 60)
    assert list(called([call], 1, fork=True)) == [(0, None if client_is_there else Died(1))]


WARNING_FORK = """
fork, told_of = os.fork, "This process (pid=1) is multi-threaded, use of fork() may lead to deadlocks in the child."
os.fork = lambda: warnings.warn(told_of, DeprecationWarning) or fork()  # as Python 3.12 does
"""

PROCESSES = """
import os, sys, threading, time, warnings
from dataclasses import dataclass
import numpy as np
import marginaudit
from marginaudit.reports.study.executor import Executor, Task
from marginaudit.reports.processes import forkable

@dataclass(frozen=True, eq=False)
class Known(Task):
    key = None
    def compute(self, *_):
        return os.getppid(), hasattr(marginaudit, "mark")

np.ones((500, 500)) @ np.ones((500, 500))  # with all the threads that it has
told = forkable()
{beside}
marginaudit.mark = True
found = Executor(2).all([Known(), Known()], print)
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
