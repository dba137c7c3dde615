"""Compute tasks, in this process or in workers, and keep the results in a store."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import cloudpickle

from marginaudit.orders import InputError, counted, printable
from marginaudit.reports.audit.auditing import Progress, quiet
from marginaudit.reports.processes import Died, called, forkable
from marginaudit.reports.study.store import NO_STORE, Store

K = TypeVar("K")
Call = Callable[[], Any]


@dataclass(frozen=True, eq=False)
class Task:
    """Work for one process, such as a dataset to audit or a figure to draw.

    Attributes
    ----------
    name : name in error messages
    compute : function of a `Progress`, `quiet` by default; its result is picklable, and not None
    key : function that returns the cache key, a hash of all inputs of the result; None if the inputs are unknown
    load : import the dependencies, before this process is forked
    retry : function in place of ``compute`` after its worker's death
    lasting : whether a result is reproducible, so that it may be stored
    """

    name: str
    compute: Callable[..., Any]
    key: Callable[[], str] | None = None
    load: Callable[[], object] = lambda: None
    retry: Callable[..., Any] | None = None
    lasting: Callable[[Any], bool] = lambda _: True


@dataclass(frozen=True)
class Executor:
    """Executor of at most ``jobs`` tasks at a time, with a store of results."""

    jobs: int = 1
    store: Store = NO_STORE

    def results(
        self, tasks: Sequence[Task], progress: Progress = quiet, until: float | None = None, least: int = 0
    ) -> Iterator[tuple[Task, Any, bool]]:
        """Yield each task as it ends, with its result and whether the store had it; the first tasks start first.

        The result is `Died` for a task that kills its workers. With ``until``, all tasks are computed in workers, which
        end at this time of `time.monotonic`, but not before ``least`` computed results; unfinished tasks are left out.
        Otherwise a single task, and tasks that no worker can be given, are computed in this process. ``progress`` is
        called with the current task.
        """
        missing = {}
        for task in tasks:
            key = task.key() if task.key and self.store.folder else None
            if (result := self.store.read(key)) is None:
                missing[task] = key
            else:
                yield task, result, True
        for task, result in self._computed(list(missing), progress, until, least):
            if not isinstance(result, Died) and task.lasting(result):
                self.store.write(missing[task], result)
            yield task, result, False

    def _computed(
        self, tasks: Sequence[Task], progress: Progress, until: float | None, least: int
    ) -> Iterable[tuple[Task, Any]]:
        if until is None and (min(self.jobs, len(tasks)) <= 1 or not (forkable() or _picklable(tasks))):
            return ((task, task.compute(progress)) for task in tasks)
        progress(counted(len(tasks), "task"), "under way")
        for task in tasks if forkable() else ():
            task.load()
        retries = {task: task.retry for task in tasks if task.retry}
        return in_workers({task: task.compute for task in tasks}, self.jobs, until, retries, least)

    def together(self, *calls: Call) -> list[Any]:
        """Results of calls that need not be picklable, in forked workers if that is safe, otherwise in this process.

        A call whose worker dies is repeated in this process.
        """
        if min(self.jobs, len(calls)) == 1 or not forkable():
            return [call() for call in calls]
        found = dict(called(dict(enumerate(calls)), self.jobs, fork=True))
        return [call() if isinstance(found[i], Died) else found[i] for i, call in enumerate(calls)]

    def all(
        self, tasks: Sequence[Task], progress: Progress, done: Callable[[Task, bool], None] = lambda *_: None
    ) -> dict[Task, Any]:
        """Results of all tasks; ``done`` is called with each task as it ends and whether the store had its result.

        Raises
        ------
        InputError
            A task kills its workers; the results of the others are stored.
        """
        found = {}
        for task, result, stored in self.results(tasks, progress):
            if not isinstance(result, Died):
                found[task] = result
                done(task, stored)
        if died := [task.name for task in tasks if task not in found]:
            got = "processes that were ended at their work, by the system or by a claim's code"
            raise InputError(printable(", ".join(died)), got=got, expected="one that ends by itself")
        return found


def _picklable(tasks: Sequence[Task]) -> bool:
    with suppress(Exception):  # whatever an object raises that cannot be pickled, such as a lock
        cloudpickle.dumps([task.compute for task in tasks])
        return True
    return False


def in_workers(
    calls: Mapping[K, Call],
    jobs: int,
    until: float | None = None,
    retries: Mapping[K, Call] | None = None,
    least: int = 0,
) -> Iterator[tuple[K, Any]]:
    """`with_retries` in local workers, until a time of `time.monotonic` and at least so many results."""
    return with_retries(partial(called, jobs=jobs, until=until, least=least, fork=forkable()), calls, retries or {})


def with_retries(
    run: Callable[[Mapping[K, Call]], Iterator[tuple[K, Any]]], calls: Mapping[K, Call], retries: Mapping[K, Call]
) -> Iterator[tuple[K, Any]]:
    """Run calls; yield the key and the result of each as it ends, `Died` if its worker died twice.

    A retry, by the same call unless ``retries`` has one, has no other beside it, as the system may have ended the
    worker for the memory of all.
    """
    died = []
    for key, result in run(calls):
        if isinstance(result, Died):
            died.append(key)
        else:
            yield key, result
    for key in died:
        yield from run({key: retries.get(key, calls[key])})
