"""Processes and threads: safe forking, workers that end with their client, single-threaded BLAS."""

import gc
import os
import signal
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from multiprocessing import Pipe, current_process, get_context, resource_tracker
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, final

from threadpoolctl import threadpool_info, threadpool_limits

THREADS = Path("/proc/self/task")
"""Where Linux has a folder for each thread of this process."""

JEMALLOC = "jemalloc_bg_thd"
"""Name of a thread of jemalloc, an allocator that comes with pandas."""

WATCH_SECONDS = 0.5
"""Seconds between a worker's checks that its client is alive."""


def forkable(ours: int = 1) -> bool:
    """Whether forking is safe: the only threads are ours and the fork-safe ones of OpenBLAS and jemalloc.

    Any other thread may hold a lock, on which a forked process would deadlock. False if the threads are unknown.
    """
    pools = (found for found in threadpool_info() if found.get("threading_layer") == "pthreads")
    ours += sum(found["num_threads"] - 1 for found in pools)
    return THREADS.is_dir() and sum(_name(thread) != JEMALLOC for thread in THREADS.iterdir()) <= ours


def _name(thread: Path) -> str:
    try:
        return (thread / "comm").read_text(encoding="utf-8").strip()
    except OSError:
        return "a thread that has just ended"


@final
class Worker:
    """Process that computes one call at a time; it ends with this process, however that ends.

    If forked, it has all imports and objects of this process; otherwise it starts afresh, with the pickled calls.
    An interrupt does not reach it; this process handles it. Prints go to standard error.
    """

    def __init__(self, calls: Sequence[Callable[[], Any]], *, fork: bool) -> None:
        self.connection, theirs = Pipe()
        if fork:
            context: Any = get_context("fork")
        else:
            from loky.backend import get_context as loky_context

            context = loky_context("loky")  # unlike spawn, it does not run the main program again
            resource_tracker.ensure_running()  # started beside the worker, it would unblock SIGINT
        self._process = context.Process(target=_work, args=(calls, theirs, os.getpid()), daemon=True)
        with theirs, _forking():
            self._process.start()

    def begin(self, number: int) -> None:
        """Start a call; a dead worker is noticed by `result`."""
        with suppress(OSError):
            self.connection.send(number)

    def result(self) -> Any:
        """Wait for the result of the call; the exceptions of the call are raised here.

        Raises
        ------
        EOFError
            The worker died.
        """
        try:
            found, error = self.connection.recv()
        except OSError:
            raise EOFError from None
        if error is not None:
            raise error
        return found

    def end(self) -> int:
        """Kill the worker; return its exit status, or the negative number of the signal that ended it."""
        if self._process.is_alive():
            os.kill(self._process.pid, signal.SIGKILL)
        self._process.join()
        self.connection.close()
        return int(self._process.exitcode)


def _work(calls: Sequence[Callable[[], Any]], answers: Connection, client: int) -> None:
    """Compute the calls whose numbers arrive, and send each result or exception."""
    import cloudpickle  # a claim's witness may be of a class of its file

    current_process().daemon = False  # so that it may have workers
    gc.freeze()  # or the garbage collector copies the memory pages of all imports
    threading.Thread(target=_leave_with, args=[client], daemon=True).start()
    os.dup2(2, 1)
    printed = sys.stdout = sys.stderr = open(2, "w", buffering=1, errors="backslashreplace", closefd=False)  # noqa: SIM115
    with suppress(EOFError, OSError):  # the client is gone
        while True:
            number = answers.recv()
            try:
                answer = cloudpickle.dumps((calls[number](), None))
            except Exception as error:
                error.add_note(traceback.format_exc())
                answer = cloudpickle.dumps((None, error))
            with suppress(ValueError, OSError):  # closed by the call
                printed.flush()
            answers.send_bytes(answer)


def _leave_with(client: int) -> None:
    """Exit this process soon after its client ends."""
    while os.getppid() == client:
        time.sleep(WATCH_SECONDS)
    os._exit(1)


@contextmanager
def _forking() -> Iterator[None]:
    """Context that blocks SIGINT in new processes, so that this process alone handles an interrupt."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "This process .* is multi-threaded", DeprecationWarning)  # see `forkable`
            yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def one_thread() -> threadpool_limits:
    """Context with single-threaded linear algebra, for equal results on every machine."""
    import_module("scipy.linalg")  # load the last linear-algebra library first
    return threadpool_limits(1)
