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
    """Context manager of a pool of workers.

    Attributes
    ----------
    at_once : int
        Number of concurrent calls.
    tries : int
        Number of solo retries of a call after its worker's death.
    died : exception
        Exception raised on a worker's death.
    """

    at_once: int
    tries: int
    died: type[Exception]

    @abstractmethod
    def submit(self, function: Callable[[A], R], argument: A, *, alone: bool) -> "Future[R]":
        """Submit a call. If ``alone``, no other local worker runs or idles beside it."""

    @abstractmethod
    def end(self) -> None:
        """Kill or release the workers, busy or idle."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def results(
        self, function: Callable[[A], R], calls: Mapping[K, A], until: float | None = None
    ) -> Iterator[tuple[K, R | None]]:
        """Submit the first calls, and yield key and result of each call as it ends; None if it kills its workers.

        The iterator ends at the time ``until`` of `time.monotonic`, even with calls still running.

        One death may end other workers' calls too, or the system may kill several workers. So every call interrupted
        by a death is retried alone after all others; if its worker dies again, it is retried after the other suspects.
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
                        deaths[key] += 1  # the first death may be another call's fault
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
    """Local worker processes, started by the first call; they end with this process, even if it is killed.

    Workers are forked, with all imports of this process, if it is `forkable`; otherwise they start afresh.
    """

    tries = 3
    died = BrokenProcessPool

    def __init__(self, jobs: int) -> None:
        self.at_once = jobs
        self._pool: Any = None
        self._alone = False

    @property
    def begun(self) -> bool:
        """Whether the workers are started."""
        return self._pool is not None

    def submit(self, function: Callable[[A], R], argument: A, *, alone: bool) -> "Future[R]":
        """Submit a call. Workers ignore SIGINT; this process handles it."""
        while True:
            if self._pool is None or alone != self._alone:
                self._begin(alone)
            resource_tracker.ensure_running()  # started by a worker, it would unblock SIGINT
            try:
                with forking():
                    future: Future[R] = self._pool.submit(function, argument)
            except BrokenProcessPool:
                self.end()
            else:
                return future

    def end(self) -> None:
        """Kill the workers."""
        if self._pool is not None:
            self._pool.shutdown(kill_workers=True)
            self._pool = None
            gc.unfreeze()

    def _begin(self, alone: bool) -> None:
        self.end()
        context = get_context("fork") if forkable() else None
        jobs, client = 1 if alone else self.at_once, os.getpid()
        gc.freeze()  # or a worker's garbage collector copies the memory pages of all imports
        self._pool = ProcessPoolExecutor(jobs, context=context, initializer=leave_with, initargs=(client,))
        self._alone = alone


@final
class Cluster(Pool):
    """Workers of a Dask cluster.

    The scheduler's ``allowed-failures`` limits the retries of a call after deaths of workers; deaths of a worker in
    whose queue the call was waiting count too.

    Raises
    ------
    InputError
        No scheduler answers at the address, or Dask is not installed.
    """

    at_once = sys.maxsize
    tries = 1

    def __init__(self, address: str) -> None:
        import asyncio  # imported for Dask alone

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
        except Exception as error:  # any server may answer, or the protocol lack settings
            other = isinstance(error, MemoryError)  # its first bytes, read as a size
            got = "an answer in another protocol" if other else printable(str(error))
            got = shortened(got, LONGEST_REASON) or f"no answer within {CONNECT_SECONDS} s"
            raise InputError(self._where, got=got, expected="a running Dask scheduler") from None

    def submit(self, function: Callable[[A], R], argument: A, *, alone: bool) -> "Future[R]":
        """Submit a call; its future raises InputError if the scheduler is lost."""
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
    """Check for a scheduler at the address; a `Client` would wait forever for any other server.

    Raises
    ------
    Exception
        Any kind: the server is no scheduler, or is incompatible.
    """
    import asyncio

    from dask.distributed import Security, rpc

    arguments = Security().get_connection_args("client")
    async with asyncio.timeout(CONNECT_SECONDS), rpc(address, connection_args=arguments) as scheduler:
        kind = (await scheduler.identity())["type"]
    if kind != "Scheduler":
        raise ValueError(f"a {kind}")
