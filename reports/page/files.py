"""Atomic writes, and serialization as JSON and CSV."""

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
from uuid import uuid4

from marginaudit.orders import printable

ENTRIES = 10_000
"""Entries of a long array per write."""

PART = ".part"
"""Suffix of temporary files."""


def write_whole(path: Path, content: str | bytes | Iterator[str]) -> None:
    """Write a file atomically: to a temporary file beside it, in pieces if given so, then rename.

    Raises
    ------
    OSError
        The file cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    pieces = [content] if isinstance(content, str | bytes) else content
    temporary = path.with_name(f".{path.name}.{uuid4().hex[:12]}{PART}")
    try:
        with temporary.open("xb") as file:
            file.writelines(piece if isinstance(piece, bytes) else piece.encode("utf-8") for piece in pieces)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def check_writable(path: Path) -> None:
    """Check that a file can be created in the folder.

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
    r"""JSON text of a document, on one line unless an indent is given; non-finite numbers become null.

    Control characters are escaped.

    >>> json_text({"é\x9b": "\x1b[0m"})
    '{"é\\u009b":"\\u001b[0m"}\n'
    """
    from pydantic_core import to_json  # slow import: 0.01 s

    text = to_json(document, indent=indent, inf_nan_mode="null").decode()
    if not text.isascii() or "\x7f" in text:  # the other control characters are already escaped
        text = re.sub(r"[^ -~\n]", lambda c: c[0] if c[0].isprintable() else json.dumps(c[0])[1:-1], text)
    return text + "\n"


def json_pieces(document: Mapping[str, Any]) -> Iterator[str]:
    r"""`json_text` in pieces, for an object with iterators as arrays.

    >>> "".join(json_pieces({"a": 1, "b": iter([2, {"c": 3}]), "d": iter([])}))
    '{"a":1,"b":[2,{"c":3}],"d":[]}\n'
    """
    before = "{"
    for key, value in document.items():
        yield f"{before}{_line(key)}:"
        if isinstance(value, Iterator):
            between = "["
            while some := list(islice(value, ENTRIES)):
                yield f"{between}{_line(some)[1:-1]}"
                between = ","
            yield "[]" if between == "[" else "]"
        else:
            yield _line(value)
        before = ","
    yield "}\n"


def _line(value: Any) -> str:
    return json_text(value).removesuffix("\n")


def csv_text(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    r"""CSV text by RFC 4180, control characters escaped.

    >>> csv_text(["token", "=x"], [["-", -2.5], [None, 3], ["a,b", "\x1b"]])
    'token,=x\r\n-,-2.5\r\n,3\r\n"a,b",\\x1b\r\n'
    """
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    for row in (header, *rows):
        writer.writerow([printable(cell) if isinstance(cell, str) else cell for cell in row])
    return buffer.getvalue()


def csv_of(rows: Sequence[Mapping[str, Any]]) -> str:
    """`csv_text` of rows by column, with equal columns."""
    return csv_text(list(rows[0]), [list(row.values()) for row in rows])


def file_stem(name: str) -> str:
    """Dataset's name as part of a file name: letters, digits, dot, minus and underscore.

    >>> file_stem("../S V"), file_stem("..."), file_stem("A_1.b-"), file_stem("n" * 79 + "-x") == "n" * 79
    ('S-V', 'dataset', 'A_1.b', True)
    """
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip(".-")[:80].rstrip(".-") or "dataset"
