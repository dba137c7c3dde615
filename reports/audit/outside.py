"""Code from outside: users' files and the modules of installed packages."""

import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from importlib.metadata import EntryPoint

from marginaudit.orders import InputError, printable, shortened
from marginaudit.reports.claim import message
from marginaudit.reports.time_limit import TimeIsUp, time_limit

LOADING = 120.0
"""Seconds in which code from outside is to say what it has."""

LONGEST_ERROR = 300
"""Characters of an exception's text that are told."""

Notice = Callable[[str], None]


def place_of(point: EntryPoint) -> str:
    """An entry point with its package, as errors name it."""
    package = "a package" if point.dist is None else point.dist.name
    return printable(f"{package}: entry point {point.name} = {point.value}")


@contextmanager
def failures_in_one_line(where: str, file: str | None = None) -> Iterator[None]:
    """Run code from outside: what it prints goes to standard error, and what it raises becomes an InputError.

    Parameters
    ----------
    where : str
        What opens the error.
    file : str or None
        The file that is run, whose line is then told.
    """
    try:
        with redirect_stdout(sys.stderr), time_limit(LOADING):
            yield
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        lines = [line.lineno for line in traceback.extract_tb(error.__traceback__) if line.filename == file]
        if isinstance(error, SyntaxError) and error.filename == file:
            lines.append(error.lineno)
        place = f"{where}:{lines[-1]}" if lines and lines[-1] else where
        if isinstance(error, TimeIsUp):
            raise InputError(place, got=f"no end within {LOADING:g} s", expected="Python that ends") from None
        raise InputError(place, got=error_in_words(error), expected="Python that runs") from None


def error_in_words(error: BaseException) -> str:
    """What was raised, with its message, on one short line."""
    text = printable(error.msg) if isinstance(error, SyntaxError) else message(error)
    return shortened(": ".join(part for part in (type(error).__name__, text) if part), LONGEST_ERROR)
