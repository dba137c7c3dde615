"""Reading a file that a user named."""

import stat
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
"""What is no file and may have no end, or nobody who writes to it."""


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
