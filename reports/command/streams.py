"""Standard output and standard error, which may be full or left by their reader."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TextIO

from marginaudit.orders import InputError, printable

_reserved: TextIO | None = None
"""Standard output, once what others print there goes elsewhere."""


def reserve_output() -> None:
    """From now on standard output takes what `standard_output` gives alone.

    What else is printed, by libraries in C and by the processes that we start too, goes to standard error.
    """
    global _reserved
    sys.stdout.flush()
    _reserved = open(os.dup(1), "w", encoding=sys.stdout.encoding, errors=sys.stdout.errors)  # noqa: PTH123, SIM115
    os.dup2(2, 1)


@contextmanager
def standard_output() -> Iterator[TextIO]:
    """Within, what is written to standard output is refused in one line where there is no room for it.

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
    """One line on standard error, if anybody listens."""
    try:
        print(printable(text), file=sys.stderr, flush=True)
    except OSError:
        _discard(sys.stderr)


def _discard(stream: TextIO) -> None:
    """Lose what the stream still holds: Python would fail on it once more when it ends."""
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
