"""Standard output and standard error, which may be full or left by their reader."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TextIO

from marginaudit.orders import InputError, printable

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


@contextmanager
def standard_output() -> Iterator[TextIO]:
    """Context that turns a failed write to standard output, as on a full disk, into an InputError.

    Raises
    ------
    BrokenPipeError
        Its reader has left.
    InputError
        There is another error.
    """
    output = _reserved or sys.stdout
    try:
        yield output
        output.flush()
    except BrokenPipeError:
        _discard(output)
        raise
    except OSError as error:
        _discard(output)
        got = error.strerror or "an error"
        raise InputError("standard output", got=got, expected="room for all of it") from None


def tell(text: str) -> None:
    """Print a line to standard error; a closed one is ignored."""
    try:
        print(printable(text), file=sys.stderr, flush=True)
    except OSError:
        _discard(sys.stderr)


def _discard(stream: TextIO) -> None:
    """Drop the stream's buffer, which Python would otherwise try to flush once more at exit."""
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
