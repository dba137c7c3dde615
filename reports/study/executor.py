"""Compute tasks, in this process or in workers, and keep the results in a store."""

import io
import pickle
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import redirect_stdout, suppress
from functools import cache
from itertools import chain
from time import monotonic
from typing import Any, ClassVar, Self, TypeVar

import cloudpickle

from marginaudit.claims.claim import Claim
from marginaudit.claims.paper import Paper
from marginaudit.orders import InputError, counted, printable
from marginaudit.reports.audit.auditing import Progress, quiet
from marginaudit.reports.audit.ledger import all_papers
from marginaudit.reports.plots.style import load_drawing
from marginaudit.reports.processes import forkable
from marginaudit.reports.study.pool import Local
from marginaudit.reports.study.store import NO_STORE, Store


class Task(ABC):
    """Work for one process: a dataset to audit, a figure to draw, or runs of a sweep.

    Attributes
    ----------
    light : bool
        Whether it is faster than starting a worker; workers already started compute it.
    """

    light: ClassVar[bool] = False

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

    def load(self) -> None:
        """Import the task's dependencies before this process is forked."""
        load_drawing()

    def lasting(self, _result: Any) -> bool:
        """Whether the result is reproducible, so that it may be stored."""
        return True


T = TypeVar("T", bound=Task)


class Executor:
    """Executor of at most ``jobs`` tasks at a time; a context whose workers start on demand."""

    def __init__(self, jobs: int = 1, store: Store = NO_STORE) -> None:
        self._jobs, self._store, self._workers = jobs, store, Local(0)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._workers.end()

    def results(
        self, tasks: Sequence[T], progress: Progress = quiet, until: float | None = None
    ) -> Iterator[tuple[T, Any, bool]]:
        """Yield each task as it ends, with its result and whether the store had it; the first tasks start at once.

        The result is None for a task that kills its workers. The iterator ends at the time ``until`` of
        `time.monotonic`; unfinished tasks are left out or have the result None. A single task, and any task that
        cannot be pickled, is computed in this process. ``progress`` is called with the current task.
        """
        keys = {task: task.key if self._store.folder else None for task in tasks}
        stored = {task: result for task, key in keys.items() if (result := self._store.read(key)) is not None}
        missing = [task for task in tasks if task not in stored]
        several = min(self._jobs, len(missing)) > 1 and (self._workers.begun or not all(task.light for task in missing))
        calls = largest_first(missing) if several else {}
        if calls and not self._workers.begun:
            self._workers = Local(min(self._jobs, len(calls)))
            for task in calls if forkable() else ():
                task.load()
        sent = self._workers.results(computed, calls, until)
        here = ((task, _computed_here(task, progress, until)) for task in missing if task not in calls)
        if calls:
            progress(counted(len(calls), "task"), "under way")

        def ended() -> Iterator[tuple[T, Any, bool]]:
            for task, result in stored.items():
                yield task, result, True
            for task, result in chain(sent, here):
                if result is not None and task.lasting(result):
                    self._store.write(keys[task], result)
                yield task, result, False

        return ended()

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


def _computed_here(task: Task, progress: Progress, until: float | None) -> Any:
    if until is None:
        return task.compute(progress)
    from marginaudit.reports.hunt import TimeIsUp, ended_after  # slow import: half a second

    if (left := until - monotonic()) > 0:
        with suppress(TimeIsUp), ended_after(left):
            return task.compute(progress)
    return None


def largest_first(tasks: Iterable[T]) -> dict[T, bytes]:
    """Pickled tasks, largest (hence slowest) first, without those that cannot be pickled."""
    found = {}
    for task in tasks:
        with suppress(pickle.PicklingError, TypeError, AttributeError, ValueError, RecursionError):
            found[task] = packed(task)
    return dict(sorted(found.items(), key=lambda item: -len(item[1])))


def computed(data: bytes) -> Any:
    """Compute a packed task in a worker; prints go to standard error."""
    with redirect_stdout(sys.stderr):
        return _Unpickler(io.BytesIO(data)).load().compute()


def packed(task: Task) -> bytes:
    """Pickle a task: papers and their claims by name, users' claims with their code.

    Raises
    ------
    Exception
        Pickling fails; any exception of the pickler.
    """
    file = io.BytesIO()
    _Pickler(file).dump(task)
    return file.getvalue()


class _Pickler(cloudpickle.Pickler):  # type: ignore[misc]
    """Pickler that sends papers and their claims by name, as every worker has them."""

    def persistent_id(self, value: Any) -> tuple[str, ...] | None:
        papers, _ = installed_papers()
        if isinstance(value, Paper):
            if papers.get(value.name) is not value:
                raise pickle.PicklingError(f"the paper {value.name} is not installed")
            return ("paper", value.name)
        if isinstance(value, Claim) and value.paper in papers:
            return ("claim", value.paper, value.id) if papers[value.paper].has(value) else None
        return None


class _Unpickler(pickle.Unpickler):
    def persistent_load(self, place: tuple[str, ...]) -> Any:
        paper = installed_papers()[0][place[1]]
        return paper if place[0] == "paper" else next(claim for claim in paper.claims if claim.id == place[2])


@cache
def installed_papers() -> tuple[Mapping[str, Paper], list[str]]:
    """Papers by name, and notices of failed imports."""
    notices: list[str] = []
    return {paper.name: paper for paper in all_papers(notices.append)}, notices
