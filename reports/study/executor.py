"""Compute tasks, in this process or in workers, and keep the results in a store."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Self, TypeVar

import cloudpickle

from marginaudit.orders import InputError, counted, printable
from marginaudit.reports.audit.auditing import Progress, quiet
from marginaudit.reports.processes import Died, called, forkable
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
    def size(self) -> float:
        """Size of the data, or expected seconds; the largest tasks start first, but last before a deadline."""
        return 0

    def load(self) -> None:  # noqa: B027
        """Import the task's dependencies before this process is forked."""

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

        The result is None for a task that kills its workers. With ``until``, all tasks are computed in workers, which
        end at this time of `time.monotonic`; unfinished tasks are left out. Otherwise a single task, and tasks that no
        worker can be given, are computed in this process. ``progress`` is called with the current task.
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
        if until is None and (min(self.jobs, len(tasks)) <= 1 or not (forkable() or _picklable(tasks))):
            return ((task, task.compute(progress)) for task in tasks)
        progress(counted(len(tasks), "task"), "under way")
        tasks.sort(key=lambda task: task.size, reverse=until is None)
        return in_workers({task: task for task in tasks}, self.jobs, until)

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


def in_workers(tasks: Mapping[K, Task], jobs: int, until: float | None = None) -> Iterator[tuple[K, Any]]:
    """Compute tasks in local workers; yield the key and the result of each as it ends.

    The result is None for a task that kills its workers. The iterator ends at the time ``until``.
    """
    fork = forkable()
    for task in tasks.values() if fork else ():
        task.load()

    def run(some: Mapping[K, Task]) -> Iterator[tuple[K, Any]]:
        keys, calls = list(some), [partial(computed, task) for task in some.values()]
        for number, result in called(calls, jobs, until, fork=fork):
            yield keys[number], None if isinstance(result, Died) else result

    return with_retries(run, tasks)


def with_retries(
    run: Callable[[Mapping[K, Task]], Iterator[tuple[K, Any]]], tasks: Mapping[K, Task]
) -> Iterator[tuple[K, Any]]:
    """Run tasks; retry those whose result is None, as their workers died.

    A retry has no other task beside it, as the system may have ended the worker for the memory of all.
    """
    died = []
    for key, result in run(tasks):
        if result is None:
            died.append(key)
        else:
            yield key, result
    for key in died:
        yield from run({key: tasks[key].retry()})
