"""Processes of this machine that work for this one and end with it."""

import os
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from multiprocessing import get_context, resource_tracker
from pathlib import Path
from typing import ParamSpec, TypeVar

from loky import ProcessPoolExecutor
from threadpoolctl import threadpool_info

P = ParamSpec("P")
T = TypeVar("T")

THREADS = Path("/proc/self/task")
"""Where Linux has a folder for each thread of this process."""

WATCH_SECONDS = 0.5
"""How often a worker looks whether its client is still there."""


@contextmanager
def workers(jobs: int) -> Iterator[ProcessPoolExecutor]:
    """A pool whose processes end with the block, whatever they do, and with this process, whatever ends it.

    They are forked from this process, with all that it has imported, where it is `forkable`; else they are new ones.
    """
    context = get_context("fork") if forkable() else None
    pool = ProcessPoolExecutor(max_workers=jobs, context=context, initializer=leave_with, initargs=(os.getpid(),))
    try:
        yield pool
    finally:
        pool.shutdown(kill_workers=True)


def submitted(pool: ProcessPoolExecutor, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> "Future[T]":
    """Submit a call; workers are started here, and leave it to this process what becomes of an interrupt."""
    resource_tracker.ensure_running()  # which is begun by workers otherwise, and unblocks the signal
    with forking():
        future: Future[T] = pool.submit(function, *args, **kwargs)
    return future


@contextmanager
def forking() -> Iterator[None]:
    """Within, a process that is forked leaves it to this one what becomes of an interrupt."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "This process .* is multi-threaded", DeprecationWarning)  # see `forkable`
            yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def forkable(ours: int = 1) -> bool:
    """Whether no thread runs here but ours, and those that OpenBLAS ends before a fork and begins again after it.

    Another one may hold a lock, which a forked process would wait for without end. False where that is not known.
    """
    pools = (found for found in threadpool_info() if found.get("threading_layer") == "pthreads")
    return THREADS.is_dir() and len(list(THREADS.iterdir())) <= ours + sum(found["num_threads"] - 1 for found in pools)


def leave_with(client: int) -> None:
    """End this process soon after its client has ended."""

    def watch() -> None:
        while os.getppid() == client:
            time.sleep(WATCH_SECONDS)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
