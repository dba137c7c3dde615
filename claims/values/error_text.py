"""Exceptions of users' code on one line."""

import sys
import traceback
from pathlib import Path

from marginaudit.orders import printable, shortened

LONGEST_ERROR = 1000
"""Longest exception text shown."""

PACKAGE = __name__.partition(".")[0]

LIBRARIES = frozenset(sys.stdlib_module_names) | {"numpy", "scipy", "networkx", "cvxpy", "clarabel", "flint", "numba"}
"""Modules excluded from user code in tracebacks."""


def error_text(error: BaseException) -> str:
    r"""The exception's type and message.

    >>> error_text(ValueError("no\nway")), error_text(MemoryError())
    ('ValueError: no\\nway', 'MemoryError')
    """
    text = printable(error.msg if isinstance(error, SyntaxError) else str(error))
    return shortened(": ".join(part for part in (type(error).__name__, text) if part), LONGEST_ERROR)


def error_place(error: BaseException) -> str:
    """File and line of an exception: the deepest frame in user code, else in ours, else the last."""
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    modules = [str(frame.f_globals.get("__name__")).partition(".")[0] for frame in frames]
    lines = list(traceback.extract_tb(error.__traceback__))
    users = [line.filename for module, line in zip(modules, lines, strict=True) if module not in LIBRARIES | {PACKAGE}]
    own = [line for line in lines if line.filename in users[:1]]
    ours = [line for module, line in zip(modules, lines, strict=True) if module == PACKAGE]
    place = (own or ours or lines)[-1]
    return f"in {place.name}, {Path(place.filename).name} line {place.lineno}"
