"""Writing files whole or not at all."""

import csv
import errno
import io
import json
import os
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from marginaudit.orders import printable
from marginaudit.reports.page.locks import lock_of

FORMULA_START = ("=", "+", "-", "@", "＝", "＋", "－", "＠")
"""First characters by which a spreadsheet takes a text cell for a formula: the printable ones of OWASP's list."""

ENTRIES = 10_000
"""Entries of a long array that are written at a time."""

PART = ".part"
"""Ending of a file's temporary."""


def write_whole(path: Path, content: str | bytes | Iterator[str]) -> None:
    """Write, piece by piece if there are several, under a temporary name beside the file, then rename.

    What programs that were killed left of it is removed, where the file system has locks.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    _sweep(path)
    if isinstance(content, bytes):
        replace_whole(path, content)
    else:
        pieces = [content] if isinstance(content, str) else content
        replace_whole(path, (piece.encode("utf-8") for piece in pieces))


def replace_whole(path: Path, data: bytes | Iterator[bytes], *, read_back: bool = False) -> None:
    """Write under a temporary name beside the file, then rename; if asked, once it is on the disk and read back.

    Raises
    ------
    OSError
        It cannot be written, or is not on the disk what it was.
    """
    handle, temporary, lock = _temporary_beside(path)
    try:
        with os.fdopen(handle, "wb") as file:
            file.writelines([data] if isinstance(data, bytes) else data)
            if read_back:
                file.flush()
                os.fsync(file.fileno())
        if read_back and temporary.read_bytes() != data:
            raise OSError(None, "other bytes than were written", str(path))
        umask = os.umask(0)
        os.umask(umask)
        temporary.chmod(0o666 & ~umask)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    finally:
        if lock is not None:
            os.close(lock)


def _temporary_beside(path: Path) -> tuple[int, Path, int | None]:
    """A new file, its name, and its lock, without which another program may have removed it already."""
    while True:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=PART)
        lock = lock_of(Path(name), wait=True)
        if Path(name).exists():
            return handle, Path(name), lock
        os.close(handle)
        if lock is not None:
            os.close(lock)


def _sweep(path: Path) -> None:
    """Remove the file's temporaries on which no program has a lock."""
    if not os.access(path.parent, os.R_OK):
        return
    own = re.compile(rf"{re.escape(f'.{path.name}.')}\w{{8}}{re.escape(PART)}")
    remove_unlocked(temporary for temporary in path.parent.iterdir() if own.fullmatch(temporary.name))


def remove_unlocked(temporaries: Iterable[Path]) -> None:
    """Remove temporary files but those that a program is writing."""
    for temporary in temporaries:
        lock = lock_of(temporary, wait=False)
        if lock is not None:
            temporary.unlink(missing_ok=True)
            os.close(lock)


def check_writable(path: Path) -> None:
    """Try whether there is room for a file to write in its folder.

    Raises
    ------
    OSError
        The file cannot be written.
    """
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", suffix=PART):
        pass


def json_text(document: Any, *, indent: int | None = None) -> str:
    r"""One JSON document, refusing numbers that are not finite; on one line unless an indent is given.

    Characters that a terminal would act on are escaped.

    >>> json_text({"é\x9b": "\x1b[0m"})
    '{"é\\u009b": "\\u001b[0m"}\n'
    """
    text = json.dumps(document, ensure_ascii=False, indent=indent, allow_nan=False)
    return re.sub(r"[^ -~\n]", lambda c: c[0] if c[0].isprintable() else json.dumps(c[0])[1:-1], text) + "\n"


def json_pieces(document: Mapping[str, Any]) -> Iterator[str]:
    r"""`json_text` piece by piece, of an object in which iterators stand for arrays.

    >>> "".join(json_pieces({"a": 1, "b": iter([2, {"c": 3}]), "d": iter([])}))
    '{"a": 1, "b": [2, {"c": 3}], "d": []}\n'
    """
    before = "{"
    for key, value in document.items():
        yield f"{before}{_line(key)}: "
        if isinstance(value, Iterator):
            between = "["
            while some := list(islice(value, ENTRIES)):
                yield f"{between}{_line(some)[1:-1]}"
                between = ", "
            yield "[]" if between == "[" else "]"
        else:
            yield _line(value)
        before = ", "
    yield "}\n"


def _line(value: Any) -> str:
    return json_text(value).removesuffix("\n")


def csv_text(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    r"""RFC 4180 text in printable characters; a cell that a spreadsheet would run is written behind a quote mark.

    >>> csv_text(["token", "value"], [["=1+1", -2.5], [None, 3]])
    "token,value\r\n'=1+1,-2.5\r\n,3\r\n"
    """
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    writer.writerow([_cell(cell) for cell in header])
    writer.writerows([_cell(cell) for cell in row] for row in rows)
    return buffer.getvalue()


def _cell(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    text = printable(value)
    return f"'{text}" if text.startswith(FORMULA_START) else text


def file_stem(name: str) -> str:
    """A dataset's name as part of a file name: letters, digits, dot, minus and underscore.

    >>> file_stem("../S V"), file_stem("...")
    ('S-V', 'dataset')
    """
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip(".-")[:80].rstrip(".-") or "dataset"
