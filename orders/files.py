"""Read a file named by a user, whole or line by line."""

import codecs
import os
import stat
from collections.abc import Callable, Iterator
from io import StringIO
from pathlib import Path
from typing import BinaryIO

from marginaudit.orders.errors import InputError
from marginaudit.orders.text import shown_path

KINDS = {
    stat.S_IFIFO: "a named pipe",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
}
"""Kinds of files that are not regular; reading one may never end."""


def file_content(path: Path, expected: str) -> bytes:
    """Read all bytes of a file.

    Raises
    ------
    InputError
        The path cannot be read or is not a regular file; the message includes ``expected``.
    """
    with open_file(path, expected) as file:
        return file.read()


def open_file(path: Path, expected: str) -> BinaryIO:
    """Open a regular file for reading bytes.

    Raises
    ------
    InputError
        The path cannot be opened or is not a regular file; the message includes ``expected``.
    """
    try:
        kind = KINDS.get(stat.S_IFMT(path.stat().st_mode))
        if kind is None:
            return path.open("rb")
    except OSError as error:
        kind = error.strerror or "no readable file"
    except ValueError:  # a path that no file system accepts, such as one with a zero byte
        kind = "no valid path"
    raise InputError(shown_path(path), got=kind, expected=expected) from None


Reach = Callable[[float], None]
"""Progress callback, called with the share done, from 0 to 1."""


def no_progress(done: float) -> None:
    """Ignore progress."""


def lines(path: Path, expected: str, reach: Reach = no_progress) -> Iterator[tuple[int, str]]:
    """Number and text of each line of a UTF-8 file, with or without a byte order mark.

    Lines end with LF, CR LF or CR, which are stripped.

    Raises
    ------
    InputError
        The file cannot be read (the message includes ``expected``), or a line is not UTF-8.
    """
    number = read = reported = 0
    with open_file(path, expected) as file:
        hundredth = os.fstat(file.fileno()).st_size // 100 + 1
        for content in file:
            try:
                text = (content if read else content.removeprefix(codecs.BOM_UTF8)).decode()
            except UnicodeDecodeError:
                where = f"{shown_path(path)}: line {number + 1}"
                raise InputError(where, got="text that is not UTF-8", expected="UTF-8") from None
            for line in StringIO(text, newline=None):
                number += 1
                yield number, line.removesuffix("\n")
            read += len(content)
            if read // hundredth > reported:
                reported = read // hundredth
                reach(reported / 100)
