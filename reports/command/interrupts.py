"""SIGINT as an exception that neither imports nor click swallow."""

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

_interrupted = threading.Event()


class Interrupted(BaseException):
    """The user pressed Ctrl-C."""


@contextmanager
def interrupts_kept() -> Iterator[None]:
    """Context: SIGINT raises Interrupted, and again at the next `raise_if_interrupted`.

    One raised where Python cannot pass it on, such as in a callback of an import, is not reported.
    """
    _interrupted.clear()
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before, told = signal.signal(signal.SIGINT, _interrupt), sys.unraisablehook

    def tell_of_others(lost: Any) -> None:
        if not issubclass(lost.exc_type, Interrupted):
            told(lost)

    sys.unraisablehook = tell_of_others
    try:
        yield
    except BaseException:
        raise_if_interrupted()  # what a library made of it may be another exception
        raise
    finally:
        signal.signal(signal.SIGINT, before)
        sys.unraisablehook = told


def raise_if_interrupted() -> None:
    """Raise Interrupted if there was a SIGINT before."""
    if _interrupted.is_set():
        raise Interrupted


def _interrupt(_signal: int, _frame: FrameType | None) -> None:
    _interrupted.set()
    raise Interrupted
