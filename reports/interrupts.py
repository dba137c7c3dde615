"""An interrupt that is not lost: some libraries catch every exception, also KeyboardInterrupt, while they import."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_interrupted = threading.Event()


@contextmanager
def interrupts_kept() -> Iterator[None]:
    """Within, SIGINT raises KeyboardInterrupt as ever, and again at the next `raise_if_interrupted`."""
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
    """Raise KeyboardInterrupt if there was one before."""
    if _interrupted.is_set():
        raise KeyboardInterrupt


def _interrupt(_signal: int, _frame: FrameType | None) -> None:
    _interrupted.set()
    raise KeyboardInterrupt
