"""Pools: whichever workers die, and with whom, every call comes back; processes of this machine end with it."""

import gc
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, wait
from multiprocessing import active_children
from pathlib import Path
from typing import Any, final

import pytest

from marginaudit.reports import processes
from marginaudit.reports.study import pool
from marginaudit.reports.study.pool import Local, Pool


class Death(Exception):  # noqa: N818
    """Of a worker."""


@final
class Fragile(Pool):
    """A pool in which a death ends all calls under way: those of calls as often as given, and of whole batches."""

    tries = 3
    died = Death

    def __init__(self, at_once: int, deaths: Mapping[str, int], kills: Iterator[bool]) -> None:
        self.at_once, self.deaths, self.kills = at_once, deaths, kills
        self.tried, self.alone, self.batch = Counter[str](), Counter[str](), dict[Future[Any], str]()

    def submit(self, function: Callable[[Any], Any], argument: Any, *, alone: bool) -> "Future[Any]":
        future: Future[Any] = Future()
        assert not (alone and self.batch)
        self.batch[future] = argument
        self.tried[argument] += 1
        self.alone[argument] += alone
        return future

    def resolve(self) -> None:
        died = next(self.kills, False) | any(
            self.tried[name] <= self.deaths.get(name, 0) for name in self.batch.values()
        )
        for future, name in self.batch.items():
            future.set_exception(Death()) if died else future.set_result(name.upper())
        self.batch.clear()

    def end(self) -> None:
        """Nothing is to be ended."""


def ended(
    monkeypatch: pytest.MonkeyPatch, calls: str, at_once: int, deaths: Mapping[str, int], *kills: bool
) -> tuple[dict[str, Any], Fragile]:
    workers = Fragile(at_once, deaths, iter(kills))

    def waited(running: Any, timeout: float | None, return_when: str) -> Any:
        workers.resolve()
        return wait(running, timeout, return_when)

    monkeypatch.setattr(pool, "wait", waited)
    found = list(workers.results(str.upper, {name: name for name in calls}))
    assert len(found) == len(calls)
    assert max(workers.alone.values(), default=0) <= workers.tries
    return dict(found), workers


@pytest.mark.parametrize(("deaths", "result", "tried"), [(0, "B", 1), (1, "B", 2), (3, "B", 4), (4, None, 4)])
def test_a_call_may_end_three_workers_alone(
    deaths: int, result: str | None, tried: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    found, workers = ended(monkeypatch, "abc", 1, {"b": deaths})
    assert found == {"a": "A", "b": result, "c": "C"}
    assert workers.tried == {"a": 1, "b": tried, "c": 1}


def test_what_was_under_way_with_it_is_taken_up_alone_after_all_else(monkeypatch: pytest.MonkeyPatch) -> None:
    found, workers = ended(monkeypatch, "abcde", 3, {"b": 9})
    assert found == {"a": "A", "b": None, "c": "C", "d": "D", "e": "E"}
    assert set(list(found)[:2]) == {"d", "e"}
    assert workers.alone == {"a": 1, "b": 3, "c": 1, "d": 0, "e": 0}


def test_workers_killed_together_and_again_cost_no_call(monkeypatch: pytest.MonkeyPatch) -> None:
    """The system ends all of them several times, those that take their place included."""
    calls = "abcdefghijklmnopqrstuvwx"
    found, workers = ended(monkeypatch, calls, 12, {}, *[True] * 20)
    assert found == {name: name.upper() for name in calls}
    assert max(workers.alone.values()) == 2


def test_an_error_of_a_call_ends_all() -> None:
    with Local(2) as workers, pytest.raises(OSError, match="No such file"):
        list(workers.results(os.stat, {"a": "/", "b": "/nowhere"}))


def dies(path: str) -> str:
    """Kill its own process, the first time, or each time."""
    if not os.path.exists(path) or path.endswith("guilty"):  # noqa: PTH110
        Path(path).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return path


def test_processes_that_die_together(tmp_path: Path) -> None:
    paths = {name: str(tmp_path / name) for name in ("one", "two", "guilty", "three")}
    with Local(2) as workers:
        assert dict(workers.results(dies, paths)) == paths | {"guilty": None}


def test_garbage_is_not_looked_for_in_what_workers_share() -> None:
    with Local(2) as workers:
        assert dict(workers.results(abs, {"a": -1})) == {"a": 1}
        assert gc.get_freeze_count() > 0
    assert gc.get_freeze_count() == 0


def test_processes_begin_with_the_first_call_and_end_with_the_block() -> None:
    before = set(active_children())
    with Local(2) as workers:
        assert dict(workers.results(len, {})) == {}
        assert set(active_children()) == before
        [(_, process)] = workers.results(lambda _: os.getpid(), {"a": 0})
        asleep = workers.submit(time.sleep, 30, alone=False)
        assert workers.submit(abs, -1, alone=True).result() == len(set(active_children()) - before) == 1
    assert process != os.getpid()
    assert asleep.cancelled() or asleep.exception() is not None


@pytest.mark.parametrize("client_is_there", [True, False])
def test_a_worker_ends_with_its_client(client_is_there: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "WATCH_SECONDS", 0.01)
    worker = os.fork()
    if worker == 0:
        processes.leave_with(os.getppid() if client_is_there else -1)
        time.sleep(0.5 if client_is_there else 60)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(worker, 0)[1]) == (0 if client_is_there else 1)


WARNING_FORK = """
fork, told_of = os.fork, "This process (pid=1) is multi-threaded, use of fork() may lead to deadlocks in the child."
os.fork = lambda: warnings.warn(told_of, DeprecationWarning) or fork()  # as Python 3.12 does
"""

PROCESSES = """
import os, sys, threading, time, warnings
import numpy as np
import marginaudit
from marginaudit.reports.study.pool import Local
from marginaudit.reports.processes import forkable

np.ones((500, 500)) @ np.ones((500, 500))  # with all the threads that it has
told = forkable()
{beside}
marginaudit.mark = True
with Local(2) as workers:
    known = dict(workers.results(lambda name: hasattr(marginaudit, name), {"a": "mark"}))
    print(told, forkable(), known["a"])
"""


@pytest.mark.parametrize(
    ("beside", "told"),
    [
        (WARNING_FORK, "True True True\n"),
        ("import pandas  # with a thread of jemalloc", "True False True\n"),
        ("threading.Thread(target=time.sleep, args=[5], daemon=True).start()", "True False False\n"),
    ],
    ids=["alone", "beside pandas", "beside a thread"],
)
def test_workers_are_forked_where_no_thread_is_beside(beside: str, told: str) -> None:
    """Then they have what their client has; else they begin anew."""
    code = PROCESSES.replace("{beside}", beside)
    # loky's tracker may find that an ended worker has removed its lock
    warn = ["-W", "error", "-W", "ignore:resource_tracker:UserWarning"]
    done = subprocess.run([sys.executable, *warn, "-c", code], capture_output=True, text=True, check=False)
    if beside == WARNING_FORK:
        told = told.replace("True True", "True False")  # workers run beside a thread that sees to them
    assert (done.stdout, done.stderr) == (told, "")
