"""Compute tasks, in this process or in workers, and keep the results in a store."""

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import wait
from time import monotonic
from typing import Any, Self, TypeVar

import cloudpickle

from marginaudit.orders import InputError, counted, printable
from marginaudit.reports.audit.auditing import Progress, quiet
from marginaudit.reports.plots.style import load_drawing
from marginaudit.reports.processes import Worker, forkable
from marginaudit.reports.study.store import NO_STORE, Store


class Task(ABC):
    """Work for one process: a dataset to audit, a figure to draw, or runs of a sweep."""

    @property
    @abstractmethod
    def key(self) -> str | None:
        """Cache key: hash of all inputs of the result; None if the inputs are unknown."""

    @abstractmethod
    def compute(self, progress: Progress = quiet) -> Any:
        """Compute the result: picklable, never None."""

    @property
    def name(self) -> str:
        """Name in error messages."""
        return type(self).__name__

    @property
    def size(self) -> int:
        """Size of the data; the largest tasks, hence the slowest, start first."""
        return 0

    def load(self) -> None:
        """Import the task's dependencies before this process is forked."""
        load_drawing()

    def retry(self) -> Self:
        """Task to compute after its worker's death."""
        return self

    def lasting(self, _result: Any) -> bool:
        """Whether the result is reproducible, so that it may be stored."""
        return True


K = TypeVar("K")
T = TypeVar("T", bound=Task)


@dataclass(frozen=True)
class Executor:
    """Executor of at most ``jobs`` tasks at a time, with a store of results."""

    jobs: int = 1
    store: Store = NO_STORE

    def results(
        self, tasks: Sequence[T], progress: Progress = quiet, until: float | None = None
    ) -> Iterator[tuple[T, Any, bool]]:
        """Yield each task as it ends, with its result and whether the store had it.

        The result is None for a task that kills its workers. The iterator ends at the time ``until`` of
        `time.monotonic`; unfinished tasks are left out or have the result None. A single task, and tasks that no worker
        can be given, are computed in this process. ``progress`` is called with the current task.
        """
        keys = {task: task.key if self.store.folder else None for task in tasks}
        missing = []
        for task in tasks:
            if (result := self.store.read(keys[task])) is None:
                missing.append(task)
            else:
                yield task, result, True
        for task, result in self._computed(missing, progress, until):
            if result is not None and task.lasting(result):
                self.store.write(keys[task], result)
            yield task, result, False

    def _computed(self, tasks: list[T], progress: Progress, until: float | None) -> Iterable[tuple[T, Any]]:
        if min(self.jobs, len(tasks)) > 1 and (forkable() or _picklable(tasks)):
            progress(counted(len(tasks), "task"), "under way")
            tasks.sort(key=lambda task: task.size, reverse=True)
            return in_workers({task: task for task in tasks}, self.jobs, until)
        return ((task, _computed_here(task, progress, until)) for task in tasks)

    def all(
        self, tasks: Sequence[T], progress: Progress, done: Callable[[T, bool], None] = lambda *_: None
    ) -> list[Any]:
        """Results of all tasks; ``done`` is called with each task as it ends and whether the store had its result.

        Raises
        ------
        InputError
            A task kills its workers; the results of the others are stored.
        """
        found = {}
        for task, result, stored in self.results(tasks, progress):
            found[task] = result
            if result is not None:
                done(task, stored)
        if died := [task.name for task in tasks if found[task] is None]:
            got = "processes that were ended at their work, by the system or by a claim's code"
            raise InputError(printable(", ".join(died)), got=got, expected="one that ends by itself")
        return [found[task] for task in tasks]


def computed(task: Task) -> Any:
    """Compute a task in a worker."""
    return task.compute()


def _picklable(tasks: Sequence[Task]) -> bool:
    with suppress(Exception):  # whatever an object raises that cannot be pickled, such as a lock
        cloudpickle.dumps(tasks)
        return True
    return False


def _computed_here(task: Task, progress: Progress, until: float | None) -> Any:
    if until is None:
        return task.compute(progress)
    from marginaudit.reports.hunt import TimeIsUp, ended_after  # slow import: half a second

    if (left := until - monotonic()) > 0:
        with suppress(TimeIsUp), ended_after(left):
            return task.compute(progress)
    return None


def in_workers(tasks: Mapping[K, Task], jobs: int, until: float | None = None) -> Iterator[tuple[K, Any]]:
    """Compute tasks in local workers; yield the key and the result of each as it ends.

    A task whose worker dies is retried after all others, with no other worker beside it, as the system may have ended
    it for the memory of all; the result is None if it dies again. The iterator ends at the time ``until``.
    """
    fork, died = forkable(), []
    for task in tasks.values() if fork else ():
        task.load()
    for key, result in _at_once(tasks, jobs, until, fork=fork):
        if result is None:
            died.append(key)
        else:
            yield key, result
    for key in died:
        yield from _at_once({key: tasks[key].retry()}, 1, until, fork=fork)


def _at_once(tasks: Mapping[K, Task], jobs: int, until: float | None, *, fork: bool) -> Iterator[tuple[K, Any]]:
    """Key and result of each task as it ends, None if its worker dies."""
    keys, calls = list(tasks), [partial(computed, task) for task in tasks.values()]
    waiting, running = deque(range(len(keys))), dict[Any, tuple[Worker, int]]()
    with ExitStack() as workers:

        def begin(worker: Worker | None = None) -> None:
            if worker is None:
                worker = Worker(calls, fork=fork)
                workers.callback(worker.end)
            number = waiting.popleft()
            running[worker.connection] = worker, number
            worker.begin(number)

        while len(running) < jobs and waiting:
            begin()
        while running:
            ended = wait(running, None if until is None else max(until - monotonic(), 0.0))
            if not ended:
                return
            for connection in ended:
                worker, number = running.pop(connection)
                try:
                    result = worker.result()
                except EOFError:
                    result = None
                if waiting:
                    begin(None if result is None else worker)
                yield keys[number], result
