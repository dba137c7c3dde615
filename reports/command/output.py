"""What commands write: JSON and texts on standard output, and files."""

import io
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from marginaudit.orders import InputError, shown_path
from marginaudit.reports.command.streams import standard_output


def write_json(path: Path, document: Any, option: str, indent: int | None = None) -> None:
    """A JSON file, written whole or not at all."""
    from marginaudit.reports.page.files import json_text, write_whole

    with writing(path, option):
        write_whole(path, json_text(document, indent=indent))


def check_writable(path: Path, option: str) -> None:
    """Refuse a file that cannot be written, before there is anything to write to it."""
    from marginaudit.reports.page.files import check_writable

    with writing(path, option):
        check_writable(path)


@contextmanager
def writing(path: Path, option: str) -> Iterator[None]:
    """Within, a failure to write is an InputError that names the option and the path."""
    try:
        yield
    except OSError as error:
        got = error.strerror or "an error"
        raise InputError(f"{option} {shown_path(path)}", got=got, expected="a file to write") from None


def print_json(document: Any) -> None:
    """One JSON document on standard output."""
    from marginaudit.reports.page.files import json_text

    text = json_text(document)
    with standard_output() as output:
        try:
            output.write(text)
        except UnicodeEncodeError:  # standard output is not UTF-8; nothing of the text was written
            output.write(json.dumps(document, allow_nan=False) + "\n")


def print_text(text: str) -> None:
    """A file's text on standard output as it is; what its encoding lacks is written as an escape."""
    with standard_output() as output:
        if isinstance(output, io.TextIOWrapper):
            output.reconfigure(errors="backslashreplace", newline="")
        output.write(text)
