"""Standard output and standard error."""

import os
import sys
from contextlib import suppress
from typing import TextIO

from marginaudit.orders import printable

_reserved: TextIO | None = None
"""The real standard output, once it is reserved."""


def reserve_output() -> None:
    """Redirect all other writes to standard error; only `standard_output` still writes to standard output.

    What else is printed, by libraries in C and by the processes that we start too, goes to standard error.
    """
    global _reserved
    sys.stdout.flush()
    _reserved = open(os.dup(1), "w", encoding=sys.stdout.encoding, errors=sys.stdout.errors)  # noqa: PTH123, SIM115
    os.dup2(2, 1)


def standard_output() -> TextIO:
    """The stream to which a command writes its answer."""
    return _reserved or sys.stdout


def discard_output() -> None:
    """Drop what could not be written, which Python would otherwise try to flush once more at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), standard_output().fileno())


def tell(text: str) -> None:
    """Print a line to standard error, if it can be."""
    with suppress(OSError):
        print(printable(text), file=sys.stderr, flush=True)
