"""Processes and threads: safe forking, workers that exit with their parent, single-threaded BLAS."""

import os
import signal
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

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


@contextmanager
def forking() -> Iterator[None]:
    """Context that blocks SIGINT in forked workers, so that the parent alone handles an interrupt."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "This process .* is multi-threaded", DeprecationWarning)  # see `forkable`
            yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def leave_with(client: int) -> None:
    """Exit this process soon after its client ends."""

    def watch() -> None:
        while os.getppid() == client:
            time.sleep(WATCH_SECONDS)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def one_thread() -> threadpool_limits:
    """Context with single-threaded linear algebra, for equal results on every machine."""
    import_module("scipy.linalg")  # load the last linear-algebra library first
    return threadpool_limits(1)
