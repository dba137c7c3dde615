"""Writing files whole or not at all."""

import csv
import io
import json
import os
import re
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

FORMULA_START = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""First characters by which a spreadsheet takes a text cell for a formula (the list of OWASP, "CSV Injection")."""


def write_whole(path: Path, content: str | bytes) -> None:
    """Write under a temporary name beside the file, then rename."""
    path.parent.mkdir(parents=True, exist_ok=True)
    data = content.encode("utf-8") if isinstance(content, str) else content
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        umask = os.umask(0)
        os.umask(umask)
        Path(temporary).chmod(0o666 & ~umask)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def json_text(document: Any, *, indent: int | None = None) -> str:
    """One JSON document, refusing numbers that are not finite; on one line unless an indent is given."""
    return json.dumps(document, ensure_ascii=False, indent=indent, allow_nan=False) + "\n"


def csv_text(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    r"""RFC 4180 text; a text cell that a spreadsheet would run as a formula is written behind a quote mark.

    >>> csv_text(["token", "value"], [["=1+1", -2.5], [None, 3]])
    "token,value\r\n'=1+1,-2.5\r\n,3\r\n"
    """
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    writer.writerow([_cell(cell) for cell in header])
    writer.writerows([_cell(cell) for cell in row] for row in rows)
    return buffer.getvalue()


def _cell(value: Any) -> Any:
    if isinstance(value, str) and value.startswith(FORMULA_START):
        return "'" + value
    return value


def file_stem(name: str) -> str:
    """A dataset's name as part of a file name: letters, digits, dot, minus and underscore.

    >>> file_stem("../S V"), file_stem("...")
    ('S-V', 'dataset')
    """
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip(".-")[:80].rstrip(".-") or "dataset"
