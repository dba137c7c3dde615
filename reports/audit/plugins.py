"""Plug-ins: users' files of claims and the modules of installed packages, run with their failures on one line."""

import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from importlib.metadata import EntryPoint

from marginaudit.orders import InputError, printable
from marginaudit.reports.error_text import error_text

Notice = Callable[[str], None]


def place_of(point: EntryPoint) -> str:
    """An entry point with its package, as errors name it."""
    package = "a package" if point.dist is None else point.dist.name
    return printable(f"{package}: entry point {point.name} = {point.value}")


@contextmanager
def failures_in_one_line(where: str, file: str | None = None) -> Iterator[None]:
    """Run a plug-in: what it prints goes to standard error, and what it raises becomes an InputError.

    The error begins with ``where``, and names the line of ``file`` that was run.
    """
    try:
        with redirect_stdout(sys.stderr):
            yield
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        lines = [line.lineno for line in traceback.extract_tb(error.__traceback__) if line.filename == file]
        if isinstance(error, SyntaxError) and error.filename == file:
            lines.append(error.lineno)
        place = f"{where}:{lines[-1]}" if lines and lines[-1] else where
        raise InputError(place, got=error_text(error), expected="Python that runs") from None
