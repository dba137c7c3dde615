"""Reading a file that a user named, whole or line by line."""

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
"""Paths that are no regular file: reading one may never end."""


def file_content(path: Path, expected: str) -> bytes:
    """All bytes of a file.

    Raises
    ------
    InputError
        It cannot be read, or is no regular file; says what is ``expected`` there.
    """
    with open_file(path, expected) as file:
        return file.read()


def open_file(path: Path, expected: str) -> BinaryIO:
    """The file, open to read its bytes.

    Raises
    ------
    InputError
        It cannot be opened, or is no regular file; says what is ``expected`` there.
    """
    try:
        kind = KINDS.get(stat.S_IFMT(path.stat().st_mode))
        if kind is None:
            return path.open("rb")
    except OSError as error:
        kind = error.strerror or "no readable file"
    except ValueError:  # a path that no file system takes, as one with a zero byte
        kind = "no valid path"
    raise InputError(shown_path(path), got=kind, expected=expected) from None


Reach = Callable[[float], None]
"""Takes the part that is done, from 0 to 1."""


def no_progress(done: float) -> None:
    """Take the part that is done, and say nothing."""


def lines(path: Path, expected: str, reach: Reach = no_progress) -> Iterator[tuple[int, str]]:
    """Number and text of each line of a file in UTF-8, after a byte order mark or none.

    A line ends with LF, CR LF or CR, which are left out.

    Raises
    ------
    InputError
        The file cannot be read, and says what is ``expected`` there, or a line is not UTF-8.
    """
    number = read = told = 0
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
            if read // hundredth > told:
                told = read // hundredth
                reach(told / 100)
