"""Parts computed by processes of this machine."""

from collections import deque
from collections.abc import Generator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

from loky import ProcessPoolExecutor

from marginaudit.reports.sweep.part import Part
from marginaudit.reports.sweep.work import compute
from marginaudit.reports.workers import submitted, workers

MOST_DEATHS = 3
"""A part whose worker died so often, each time alone with it, counts as what kills workers."""


def on_this_machine(parts: Sequence[Part], folder: Path, jobs: int) -> Generator[tuple[Part, bool]]:
    """Each part when it is through, and whether it is written or its worker died each time.

    What was under way when a worker died is taken up again after all else, a part at a time, each in a process of its
    own, so that no part answers for another's death, nor for what ended several workers at once.
    """
    waiting = deque(parts)
    suspected: list[Part] = []
    while waiting:
        running: dict[Future[str], Part] = {}
        with workers(min(jobs, len(waiting))) as pool:
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
        suspected += running.values()
    for part in suspected:
        yield part, _alone(part, folder)


def _alone(part: Part, folder: Path) -> bool:
    for _ in range(MOST_DEATHS):
        with workers(1) as pool:
            try:
                _submitted(pool, part, folder).result()
            except BrokenProcessPool:
                continue
            return True
    return False


def _submitted(pool: ProcessPoolExecutor, part: Part, folder: Path) -> "Future[str]":
    return submitted(pool, compute, part.work, part.key, str(folder))
