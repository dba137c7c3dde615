"""An interrupt that no library swallows while it is imported, and on which click prints no line of its own."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_interrupted = threading.Event()


class Interrupted(BaseException):
    """The user wants the program to end."""


@contextmanager
def interrupts_kept() -> Iterator[None]:
    """Within, SIGINT raises Interrupted, and again at the next `raise_if_interrupted`."""
    _interrupted.clear()
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, _interrupt)
    try:
        yield
    except BaseException:
        raise_if_interrupted()  # what a library made of it may be another exception
        raise
    finally:
        signal.signal(signal.SIGINT, before)


def raise_if_interrupted() -> None:
    """Raise Interrupted if there was a SIGINT before."""
    if _interrupted.is_set():
        raise Interrupted


def _interrupt(_signal: int, _frame: FrameType | None) -> None:
    _interrupted.set()
    raise Interrupted
