"""Parts computed by processes of this machine."""

import os
import signal
import threading
import time
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import resource_tracker
from pathlib import Path

from loky import ProcessPoolExecutor

from marginaudit.reports.sweep.part import Part
from marginaudit.reports.sweep.work import compute

MOST_DEATHS = 3
"""A part whose worker died so often, the last times alone with it, counts as what kills workers."""

WATCH_SECONDS = 0.5
"""How often a worker looks whether its client is still there."""


def on_this_machine(parts: Sequence[Part], folder: Path, jobs: int) -> Generator[tuple[Part, bool]]:
    """Each part when it is through, and whether it is written or its worker died each time.

    When a worker dies, what was under way is taken up again, a part at a time, each in a process of its own, so that
    no part answers for another's death.
    """
    waiting = deque(parts)
    while waiting:
        running: dict[Future[str], Part] = {}
        with _workers(min(jobs, len(waiting))) as pool:
            while waiting or running:
                try:
                    while waiting and len(running) < jobs:
                        running[_submitted(pool, waiting[0], folder)] = waiting[0]
                        waiting.popleft()
                    for ended in wait(running, return_when=FIRST_COMPLETED).done:
                        ended.result()
                        yield running.pop(ended), True
                except BrokenProcessPool:
                    break
        for part in running.values():
            yield part, _alone(part, folder)


def _alone(part: Part, folder: Path) -> bool:
    for _ in range(MOST_DEATHS - 1):
        with _workers(1) as pool:
            try:
                _submitted(pool, part, folder).result()
            except BrokenProcessPool:
                continue
            return True
    return False


@contextmanager
def _workers(jobs: int) -> Iterator[ProcessPoolExecutor]:
    """A pool whose processes end with the block, whatever they do, and with this process, whatever ends it."""
    pool = ProcessPoolExecutor(max_workers=jobs, initializer=_leave_with, initargs=(os.getpid(),))
    try:
        yield pool
    finally:
        pool.shutdown(kill_workers=True)


def _submitted(pool: ProcessPoolExecutor, part: Part, folder: Path) -> "Future[str]":
    """Submit a part; workers are started here, and leave it to this process what becomes of an interrupt."""
    resource_tracker.ensure_running()  # which is begun by workers otherwise, and unblocks the signal
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        future: Future[str] = pool.submit(compute, part.work, part.key, str(folder))
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
