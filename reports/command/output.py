"""Output of commands: JSON and text on standard output, and files."""

import io
import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from marginaudit.orders import InputError, shown, shown_path
from marginaudit.reports.command.streams import standard_output
from marginaudit.reports.page.files import check_writable, json_text, write_whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def write(path: Path, content: "str | bytes | Iterator[str]", option: str) -> None:
    """Write a file, whole or not at all."""
    with writing(path, option):
        write_whole(path, content)


def write_json(path: Path, document: Any, option: str, indent: int | None = None) -> None:
    """Write a JSON file, whole or not at all."""
    write(path, json_text(document, indent=indent), option)


def check_output(path: Path, option: str, *endings: str, reads: Iterable[Path | str | None]) -> None:
    """Refuse a file before there is anything to write: one that cannot be written, or that the command reads.

    Also one with another ending than those given.
    """
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
    except (OSError, ValueError):  # one is not there, or cannot be: reading or writing it will say so
        return False


def write_figure(path: Path, figure: "Figure", option: str) -> None:
    """Write a figure in the format of the file's ending, whole or not at all."""
    from marginaudit.reports.plots.measured import rendered

    write(path, rendered(figure, path.suffix.lower()), option)


@contextmanager
def writing(path: Path, option: str) -> Iterator[None]:
    """Context that turns a failed write into an InputError with the option and the path."""
    try:
        yield
    except OSError as error:
        got = error.strerror or "an error"
        raise InputError(f"{option} {shown_path(path)}", got=got, expected="a file to write") from None


def print_json(document: Any) -> None:
    """Print one JSON document to standard output."""
    text = json_text(document)
    try:
        standard_output().write(text)
    except UnicodeEncodeError:  # standard output is not UTF-8; nothing of the text was written
        standard_output().write(json.dumps(json.loads(text)) + "\n")


def print_text(text: str) -> None:
    """Write text to standard output, escaping characters that its encoding lacks."""
    output = standard_output()
    if isinstance(output, io.TextIOWrapper):
        output.reconfigure(errors="backslashreplace", newline="")
    output.write(text)
