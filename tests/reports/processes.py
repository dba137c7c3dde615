"""Processes that tests start, wait for, and count."""

import time
from collections.abc import Callable
from pathlib import Path

DEADLINE = 200.0


def until(true: Callable[[], bool]) -> None:
    start = time.monotonic()
    while not true():
        assert time.monotonic() - start < DEADLINE
        time.sleep(0.02)


def children(process: int) -> list[int]:
    """The processes that a process has begun, and those that they have."""
    listed = Path(f"/proc/{process}/task/{process}/children")
    found = [int(child) for child in listed.read_text().split()] if listed.exists() else []
    return found + [grandchild for child in found for grandchild in children(child)]


def alive(process: int) -> bool:
    status = Path(f"/proc/{process}/stat")
    try:
        return status.read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
