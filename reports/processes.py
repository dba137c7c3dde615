"""Processes and threads: safe forking, workers that end with their client, single-threaded BLAS."""

import gc
import io
import os
import signal
import sys
import threading
import time
import traceback
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from importlib import import_module
from multiprocessing import Pipe, current_process, get_context, resource_tracker
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, TypeVar, final

from threadpoolctl import threadpool_info, threadpool_limits

THREADS = Path("/proc/self/task")
"""Where Linux has a folder for each thread of this process."""

JEMALLOC = "jemalloc_bg_thd\n"
"""Name of a thread of jemalloc, an allocator that comes with pandas, as in its file ``comm``."""

WATCH_SECONDS = 0.5
"""Seconds between a worker's checks that its client is alive."""

LONGEST_WAIT = 2e6
"""Longest timeout in seconds: poll(2) counts milliseconds in 32 bits."""


def forkable(ours: int = 1) -> bool:
    """Whether forking is safe: the only threads are ours and the fork-safe ones of OpenBLAS and jemalloc.

    Any other thread may hold a lock, on which a forked process would deadlock. False if the threads are unknown.
    """
    pools = (found for found in threadpool_info() if found.get("threading_layer") == "pthreads")
    ours += sum(found["num_threads"] - 1 for found in pools)
    try:
        names = [(thread / "comm").read_text(encoding="utf-8") for thread in THREADS.iterdir()]
    except OSError:  # another system, or a thread that has just ended
        return False
    return len(names) - names.count(JEMALLOC) <= ours


class Died(str):
    """How a worker ended, in place of its call's result: a predicate for error messages."""

    __slots__ = ()


K = TypeVar("K")


def called(
    calls: Mapping[K, Callable[[], Any]], jobs: int, until: float | None = None, least: int = 0, *, fork: bool
) -> Iterator[tuple[K, Any]]:
    """Call functions in workers; yield the key and the result of each as it ends, `Died` if its worker dies.

    Exceptions of the calls are raised here. The iterator ends at the time ``until`` of `time.monotonic`, but not before
    ``least`` results, without the unfinished calls; the workers end with it. Forked workers have all imports and
    objects of this process; others start afresh, with the pickled calls. An interrupt does not reach them; this process
    handles it. Their prints go to standard error.
    """
    keys, functions = list(calls), list(calls.values())
    waiting, idle, running = deque(range(len(keys))), list[_Worker](), dict[Any, tuple[int, _Worker]]()
    done = 0
    with ExitStack() as workers:
        while waiting or running:
            while waiting and len(running) < jobs:
                if not idle:
                    idle.append(_Worker(functions, fork=fork))
                    workers.callback(idle[-1].end)
                worker, number = idle.pop(), waiting.popleft()
                running[worker.connection] = number, worker
                with suppress(OSError):  # a dead worker is noticed below
                    worker.connection.send(number)
            left = None if until is None or done < least else min(max(until - time.monotonic(), 0.0), LONGEST_WAIT)
            ended: list[Any] = wait(running, left)
            if not ended:
                return
            for connection in ended:
                number, worker = running.pop(connection)
                try:
                    result, error = connection.recv()
                except (EOFError, OSError):
                    result, error = worker.end(), None
                else:
                    idle.append(worker)
                if error is not None:
                    raise error
                done += 1
                yield keys[number], result


def forked(call: Callable[[], Any], seconds: float) -> Any:
    """Result of a call in a forked worker; `Died` if it dies, or is ended after so many seconds."""
    results = called({"": call}, 1, time.monotonic() + seconds, fork=True)
    return next((result for _, result in results), Died(f"was ended after {seconds:g} s (--claim-timeout)"))


@final
class _Worker:
    """Process that computes one call at a time; it ends with this process, however that ends."""

    def __init__(self, calls: Sequence[Callable[[], Any]], *, fork: bool) -> None:
        self.connection, theirs = Pipe()
        if fork:
            context: Any = get_context("fork")
        else:
            from loky.backend import get_context as loky_context

            context = loky_context("loky")  # unlike spawn, it does not run the main program again
            resource_tracker.ensure_running()  # started beside the worker, it would unblock SIGINT
        self._process = context.Process(target=_work, args=(calls, theirs, os.getpid()), daemon=True)
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            with theirs, warnings.catch_warnings():
                warnings.filterwarnings("ignore", "This process .* is multi-threaded", DeprecationWarning)  # `forkable`
                self._process.start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def end(self) -> Died:
        """Kill the worker; return how it ended."""
        if self._process.is_alive():
            os.kill(self._process.pid, signal.SIGKILL)
        self._process.join()
        self.connection.close()
        status = self._process.exitcode
        if status < 0:
            return Died(f"was ended by the system ({signal.strsignal(-status)})")
        return Died(f"gave no finding (exit status {status})")


def _work(calls: Sequence[Callable[[], Any]], answers: Connection, client: int) -> None:
    """Compute the calls whose numbers arrive, and send each result or exception."""
    import cloudpickle  # a claim's witness may be of a class of its file

    current_process().daemon = False  # so that it may have workers
    gc.freeze()  # or the garbage collector copies the memory pages of all imports
    threading.Thread(target=_leave_with, args=[client], daemon=True).start()
    os.dup2(2, 1)
    unbuffered = io.FileIO(2, "w", closefd=False)
    sys.stdout = sys.stderr = io.TextIOWrapper(unbuffered, errors="backslashreplace", write_through=True)
    with suppress(EOFError, OSError):  # the client is gone
        while True:
            number = answers.recv()
            try:
                answer = cloudpickle.dumps((calls[number](), None))
            except Exception as error:
                error.add_note(traceback.format_exc())
                answer = cloudpickle.dumps((None, error))
            answers.send_bytes(answer)


def _leave_with(client: int) -> None:
    """Exit this process soon after its client ends."""
    while os.getppid() == client:
        time.sleep(WATCH_SECONDS)
    os._exit(1)


def one_thread() -> threadpool_limits:
    """Context with single-threaded linear algebra, for equal results on every machine."""
    import_module("scipy.linalg")  # load the last linear-algebra library first
    return threadpool_limits(1)
