"""Worker pool: local processes or a Dask cluster; calls of dead workers are retried."""

import gc
import logging
import os
import sys
from abc import ABC, abstractmethod
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context, resource_tracker
from time import monotonic
from typing import Any, Self, TypeVar, final

from loky import ProcessPoolExecutor

from marginaudit.orders import InputError, printable, shortened, shown
from marginaudit.reports.processes import forkable, forking, leave_with

A = TypeVar("A")
K = TypeVar("K")
R = TypeVar("R")

EXTRA = "pip install 'marginaudit[cluster]'"

CONNECT_SECONDS = 10

LONGEST_REASON = 200
"""Longest reason that is shown for a scheduler that does not answer."""


class Pool(ABC):
    """A context of workers, which end with it.

    Attributes
    ----------
    at_once : int
        Calls under way at a time.
    tries : int
        A call that ended its worker so often, each time the only one under way, counts as what kills workers.
    died : exception
        How a worker's death shows.
    """

    at_once: int
    tries: int
    died: type[Exception]

    @abstractmethod
    def submit(self, function: Callable[[A], R], argument: A, *, alone: bool) -> "Future[R]":
        """Begin a call; where it is ``alone``, no process of this machine works, or waits for work, beside it."""

    @abstractmethod
    def end(self) -> None:
        """End the workers, or let go of them, whatever they do."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def results(
        self, function: Callable[[A], R], calls: Mapping[K, A], until: float | None = None
    ) -> Iterator[tuple[K, R | None]]:
        """Each call's key and result when it ends; None for a call that kills workers. The first calls begin here.

        At the time ``until`` of `time.monotonic` it ends, whatever is under way.

        One death may end other workers' calls too, or the system may end several workers. So a call that was under
        way then is taken up after all others, alone, and again after the other suspects where its worker dies.
        """
        waiting, suspected, running = deque(calls), deque[K](), dict[Future[R], K]()

        def fill() -> None:
            while waiting and len(running) < self.at_once:
                key = waiting.popleft()
                running[self.submit(function, calls[key], alone=False)] = key
            if suspected and not running:
                key = suspected.popleft()
                running[self.submit(function, calls[key], alone=True)] = key

        def ended() -> Iterator[tuple[K, R | None]]:
            deaths = Counter[K]()
            while running:
                left = None if until is None else max(until - monotonic(), 0.0)
                done = wait(running, timeout=left, return_when=FIRST_COMPLETED).done
                if not done:
                    return
                for future in done:
                    key = running.pop(future)
                    try:
                        result = future.result()
                    except self.died:
                        deaths[key] += 1  # the first time it was not alone
                        if deaths[key] > self.tries:
                            yield key, None
                        else:
                            suspected.append(key)
                    else:
                        yield key, result
                fill()

        fill()
        return ended()


@final
class Local(Pool):
    """Processes of this machine, which begin with the first call and end with this process, whatever ends it.

    They are forked from this process, with all that it has imported, where it is `forkable`; else they are new ones.
    """

    tries = 3
    died = BrokenProcessPool

    def __init__(self, jobs: int) -> None:
        self.at_once = jobs
        self._pool: Any = None
        self._alone = False

    @property
    def begun(self) -> bool:
        """Whether there are processes."""
        return self._pool is not None

    def submit(self, function: Callable[[A], R], argument: A, *, alone: bool) -> "Future[R]":
        """Begin a call; workers that begin here leave it to this process what becomes of an interrupt."""
        while True:
            if self._pool is None or alone != self._alone:
                self._begin(alone)
            resource_tracker.ensure_running()  # which is begun by workers otherwise, and unblocks the signal
            try:
                with forking():
                    future: Future[R] = self._pool.submit(function, argument)
            except BrokenProcessPool:
                self.end()
            else:
                return future

    def end(self) -> None:
        """End the processes."""
        if self._pool is not None:
            self._pool.shutdown(kill_workers=True)
            self._pool = None
            gc.unfreeze()

    def _begin(self, alone: bool) -> None:
        self.end()
        context = get_context("fork") if forkable() else None
        jobs, client = 1 if alone else self.at_once, os.getpid()
        gc.freeze()  # a worker's garbage collector would copy the pages of all that was imported
        self._pool = ProcessPoolExecutor(jobs, context=context, initializer=leave_with, initargs=(client,))
        self._alone = alone


@final
class Cluster(Pool):
    """The workers of a Dask cluster.

    How often a call is tried again after its worker's death is the scheduler's ``allowed-failures``, which also counts
    the deaths of workers at which it was waiting.

    Raises
    ------
    InputError
        There is no scheduler at the address, or Dask is not installed.
    """

    at_once = sys.maxsize
    tries = 1

    def __init__(self, address: str) -> None:
        import asyncio  # which nothing else imports

        try:
            from dask.distributed import Client, KilledWorker
        except ImportError:
            raise InputError("--scheduler", got="no dask.distributed", expected=EXTRA) from None
        for name in logging.root.manager.loggerDict:
            if name.startswith("distributed"):
                logging.getLogger(name).setLevel(logging.CRITICAL)
        self._where, self.died = f"--scheduler {shown(address)}", KilledWorker
        try:
            asyncio.run(_answer(address))
            self._client = Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
        except Exception as error:  # of what is sent by anything that listens, or of a protocol's missing settings
            other = isinstance(error, MemoryError)  # of the size that its first bytes would be
            got = "an answer in another protocol" if other else printable(str(error))
            got = shortened(got, LONGEST_REASON) or f"no answer within {CONNECT_SECONDS} s"
            raise InputError(self._where, got=got, expected="a running Dask scheduler") from None

    def submit(self, function: Callable[[A], R], argument: A, *, alone: bool) -> "Future[R]":
        """Submit a call; it fails with InputError if the scheduler is lost."""
        future: Future[R] = Future()

        def pass_on(task: Any) -> None:
            try:
                if task.status in ("cancelled", "lost"):
                    raise InputError(self._where, got=f"a task {task.status}", expected="a scheduler that stays")
                future.set_result(task.result())
            except BaseException as error:
                future.set_exception(error)

        self._client.submit(function, argument, pure=False).add_done_callback(pass_on)
        return future

    def end(self) -> None:
        """Disconnect from the cluster, which then drops its calls."""
        self._client.close()


async def _answer(address: str) -> None:
    """Ask who is there before a `Client` does, which waits without end for what is no scheduler.

    Raises
    ------
    Exception
        Of whatever kind: it is no scheduler, or none that can be spoken to.
    """
    import asyncio

    from dask.distributed import Security, rpc

    arguments = Security().get_connection_args("client")
    async with asyncio.timeout(CONNECT_SECONDS), rpc(address, connection_args=arguments) as scheduler:
        kind = (await scheduler.identity())["type"]
    if kind != "Scheduler":
        raise ValueError(f"a {kind}")
