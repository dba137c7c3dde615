"""The lines of a text file, one at a time, so that only what is kept of them takes memory."""

import codecs
import os
from collections.abc import Callable, Iterator
from io import StringIO
from pathlib import Path

from marginaudit.orders.errors import InputError
from marginaudit.orders.files import open_file
from marginaudit.orders.text import shown_path

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
