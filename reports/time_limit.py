"""A time limit on Python code that runs in this thread."""

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

AGAIN = 1.0
"""Seconds after which code that caught the end of its time is told again."""


class TimeIsUp(BaseException):
    """Ends code whose time is up; no Exception, which such code may well catch."""


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise TimeIsUp within after so many seconds, and every second from then on.

    By the signal SIGALRM, so between two steps of Python code: a loop inside of compiled code is not interrupted, nor
    is code that catches TimeIsUp for ever. In another thread than the main one, and where there is no SIGALRM, there
    is no limit. A timer that was set before, and that comes first, is served by its own handler; its rest is set again.

    Raises
    ------
    TimeIsUp
    """
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "SIGALRM"):
        yield
        return
    started = time.monotonic()
    over = False

    def ring(number: int, frame: FrameType | None) -> None:
        if over:
            return
        if time.monotonic() - started >= seconds:
            raise TimeIsUp
        signal.setitimer(signal.ITIMER_REAL, seconds - (time.monotonic() - started), AGAIN)
        if callable(before):
            before(number, frame)

    before = signal.signal(signal.SIGALRM, ring)
    rest, interval = signal.setitimer(signal.ITIMER_REAL, seconds, AGAIN)
    if 0 < rest < seconds:
        signal.setitimer(signal.ITIMER_REAL, rest, AGAIN)
    try:
        yield
    finally:
        over = True
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        if rest:
            signal.setitimer(signal.ITIMER_REAL, max(rest - (time.monotonic() - started), 1e-3), interval)
