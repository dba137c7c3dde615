"""A user's claim at work: on a copy of the data, within a time, and leaving the process as it found it."""

import decimal
import io
import os
import pickle
import random
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from typing import Any, TextIO

import numpy as np
from numpy.typing import NDArray

from marginaudit.reports.claim import Claim
from marginaudit.reports.run import BaseRun
from marginaudit.reports.time_limit import TimeIsUp, time_limit
from marginaudit.reports.verdict import Finding, Verdict


class HandedOut:
    """A run for users' claims: each gets a copy of everything in it, the arrays shared and read-only.

    What takes long is computed before the first copy is made, once for all of them.
    """

    def __init__(self, run: BaseRun[Any]) -> None:
        run.prepare()
        self._kind = type(run)
        file = io.BytesIO()
        pickler = _Apart(file, protocol=pickle.HIGHEST_PROTOCOL)
        pickler.dump({name: value for name, value in run.__dict__.items() if name != "_progress"})
        self._pickle, self._shared = file.getvalue(), pickler.shared

    def copy(self) -> BaseRun[Any]:
        """A run of its own for one claim."""
        run = self._kind.__new__(self._kind)
        run.__dict__ |= _Together(io.BytesIO(self._pickle), self._shared).load() | {"_progress": None}
        return run


class _Apart(pickle.Pickler):
    """Leaves out arrays, which it makes read-only, and flint's numbers; ``shared`` stands for them."""

    def __init__(self, file: io.BytesIO, protocol: int) -> None:
        super().__init__(file, protocol)
        self.shared: list[Any] = []
        self._number: dict[int, int] = {}
        self._alive: list[Any] = []

    def persistent_id(self, value: Any) -> int | None:
        array = isinstance(value, np.ndarray)
        if not array and not type(value).__module__.startswith("flint."):
            return None
        if id(value) not in self._number:
            self._alive.append(value)  # so that nothing else gets its id
            self._number[id(value)] = len(self.shared)
            self.shared.append(_locked(value) if array else value)
        return self._number[id(value)]


def _locked(array: NDArray[Any]) -> NDArray[Any]:
    """The array, or a copy of one that is a view and could be made writable again, read-only."""
    array.setflags(write=False)
    owner = array if array.flags.owndata else array.copy()
    owner.setflags(write=False)
    return owner


class _Together(pickle.Unpickler):
    def __init__(self, file: io.BytesIO, shared: list[Any]) -> None:
        super().__init__(file)
        self._shared = shared

    def persistent_load(self, number: int) -> Any:
        value = self._shared[number]
        return value.view() if isinstance(value, np.ndarray) else value


def contained(claim: Claim, run: HandedOut, seconds: float) -> Finding:
    """`Claim.judge` of a user's claim; `broken` where its time is up."""
    try:
        with process_kept(), time_limit(seconds):
            return Claim.judge(claim, run.copy())
    except TimeIsUp:
        return Finding(Verdict.BROKEN, detail=f"Its code was ended after {seconds:g} s (--claim-timeout).")


@contextmanager
def process_kept() -> Iterator[None]:
    """Put the state of the process back that code within may change.

    The streams and their being open, NumPy's error state, print options and random state, Python's random state, its
    limits of recursion and of integers' digits and its decimal context, filters of warnings, Matplotlib's settings,
    the environment, the working directory, the umask, the handler of SIGINT.
    """
    with ExitStack() as stack:
        for keep in (_streams, np.errstate, np.printoptions, warnings.catch_warnings, decimal.localcontext):
            stack.enter_context(keep())
        if "matplotlib" in sys.modules:
            stack.enter_context(sys.modules["matplotlib"].rc_context())
        for read, write in KEPT:
            stack.callback(write, read())
        if threading.current_thread() is threading.main_thread():
            stack.callback(signal.signal, signal.SIGINT, signal.getsignal(signal.SIGINT))
        yield


@contextmanager
def _streams() -> Iterator[None]:
    before = sys.stdin
    open_ended = _Unclosable(sys.stderr)
    try:
        with redirect_stdout(open_ended), redirect_stderr(open_ended):
            yield
    finally:
        sys.stdin = before


class _Unclosable(io.TextIOBase):
    """A stream for what a claim prints, which goes to another one and leaves that open."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        return self._stream.write(text)

    def flush(self) -> None:
        self._stream.flush()


def _umask() -> int:
    umask = os.umask(0)
    os.umask(umask)
    return umask


def _put_environment_back(before: dict[str, str]) -> None:
    if dict(os.environ) != before:
        os.environ.clear()
        os.environ.update(before)


KEPT: tuple[tuple[Callable[[], Any], Callable[[Any], Any]], ...] = (
    (np.random.get_state, np.random.set_state),
    (random.getstate, random.setstate),
    (sys.getrecursionlimit, sys.setrecursionlimit),
    (sys.get_int_max_str_digits, sys.set_int_max_str_digits),
    (lambda: dict(os.environ), _put_environment_back),
    (os.getcwd, os.chdir),
    (_umask, os.umask),
)
"""How each piece of state is read and written."""
