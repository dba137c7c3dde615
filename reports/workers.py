"""Processes of this machine that work for this one and end with it."""

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from multiprocessing import resource_tracker
from typing import ParamSpec, TypeVar

from loky import ProcessPoolExecutor

P = ParamSpec("P")
T = TypeVar("T")

WATCH_SECONDS = 0.5
"""How often a worker looks whether its client is still there."""


@contextmanager
def workers(jobs: int) -> Iterator[ProcessPoolExecutor]:
    """A pool whose processes end with the block, whatever they do, and with this process, whatever ends it."""
    pool = ProcessPoolExecutor(max_workers=jobs, initializer=_leave_with, initargs=(os.getpid(),))
    try:
        yield pool
    finally:
        pool.shutdown(kill_workers=True)


def submitted(pool: ProcessPoolExecutor, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> "Future[T]":
    """Submit a call; workers are started here, and leave it to this process what becomes of an interrupt."""
    resource_tracker.ensure_running()  # which is begun by workers otherwise, and unblocks the signal
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        future: Future[T] = pool.submit(function, *args, **kwargs)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    return future


def _leave_with(client: int) -> None:
    """End this process soon after its client has ended."""

    def watch() -> None:
        while os.getppid() == client:
            time.sleep(WATCH_SECONDS)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
