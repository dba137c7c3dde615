"""Output of commands: standard streams, JSON, text and files."""

import io
import json
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from marginaudit.orders import InputError, printable, shown, shown_path
from marginaudit.reports.page.files import check_writable, json_text, write_whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure


_reserved: TextIO | None = None
"""The real standard output after `reserve_output`."""


def reserve_output() -> None:
    """Reserve standard output for `standard_output`; redirect all other writes to standard error.

    This includes output of C libraries and of child processes.
    """
    global _reserved
    sys.stdout.flush()
    _reserved = open(os.dup(1), "w", encoding=sys.stdout.encoding, errors=sys.stdout.errors)  # noqa: PTH123, SIM115
    os.dup2(2, 1)


def standard_output() -> TextIO:
    """Stream for a command's answer."""
    return _reserved or sys.stdout


def discard_output() -> None:
    """Drop unwritten output; otherwise Python would try to flush it again at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), standard_output().fileno())


def notify(text: str) -> None:
    """Print a line to standard error, ignoring write errors."""
    with suppress(OSError):
        print(printable(text), file=sys.stderr, flush=True)


def write(path: Path, content: "str | bytes | Iterator[str]", option: str) -> None:
    """Write a file atomically."""
    with writing(path, option):
        write_whole(path, content)


def write_json(path: Path, document: Any, option: str, indent: int | None = None) -> None:
    """Write a JSON file atomically."""
    write(path, json_text(document, indent=indent), option)


def refuse_existing(path: Path) -> None:
    """Refuse a path that exists.

    Raises
    ------
    InputError
    """
    if path.exists() or path.is_symlink():
        raise InputError(shown_path(path), got="a path that exists", expected="a new one")


def check_output(path: Path, option: str, *endings: str, reads: Iterable[Path | str | None]) -> None:
    """Check an output file before the work: writable, not an input of the command, and with one of the endings."""
    if endings and path.suffix.lower() not in endings:
        expected = endings[0] if len(endings) == 1 else f"one of {', '.join(endings)}"
        raise InputError(f"{option} {shown_path(path)}", got=f"the ending {shown(path.suffix)}", expected=expected)
    if any(read is not None and _same_file(path, Path(read)) for read in reads):
        raise InputError(f"{option} {shown_path(path)}", got="a file that is read", expected="another one to write")
    with writing(path, option):
        check_writable(path)


def _same_file(path: Path, other: Path) -> bool:
    try:
        return path.samefile(other)
    except (OSError, ValueError):  # a missing or impossible path: reading or writing it raises
        return False


def write_figure(path: Path, figure: "Figure", option: str) -> None:
    """Write a figure atomically, in the format of the file's ending."""
    from marginaudit.reports.plots.measured import rendered

    write(path, rendered(figure, path.suffix.lower(), lambda text: notify(f"{shown_path(path)}: {text}")), option)


@contextmanager
def writing(path: Path, option: str) -> Iterator[None]:
    """Context that turns write errors into an InputError with the option and the path."""
    try:
        yield
    except OSError as error:
        got = error.strerror or "an error"
        raise InputError(f"{option} {shown_path(path)}", got=got, expected="a file to write") from None


def print_json(document: Any) -> None:
    """Print a JSON document to standard output."""
    text = json_text(document)
    try:
        standard_output().write(text)
    except UnicodeEncodeError:  # standard output is not UTF-8; no part of the text was written
        standard_output().write(json.dumps(json.loads(text)) + "\n")


def print_text(text: str) -> None:
    """Write text to standard output, escaping characters outside its encoding."""
    output = standard_output()
    if isinstance(output, io.TextIOWrapper):
        output.reconfigure(errors="backslashreplace", newline="")
    output.write(text)
