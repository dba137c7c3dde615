"""Locks by which programs that write into one folder know of each other."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def locked(folder: Path) -> Iterator[bool]:
    """Within, no other program swaps or sweeps in the folder; False where it cannot be locked."""
    lock = lock_of(folder, wait=True)
    try:
        yield lock is not None
    finally:
        if lock is not None:
            os.close(lock)


def lock_of(path: Path, *, wait: bool) -> int | None:
    """An open descriptor that locks a path until it is closed; None where another has it or none can be had."""
    try:
        import fcntl
    except ImportError:  # a system without
        return None
    descriptor = None
    try:
        descriptor = os.open(path, os.O_RDONLY)
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:
        if descriptor is not None:
            os.close(descriptor)
        return None
    return descriptor
