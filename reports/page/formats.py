"""Tables as CSV and Markdown."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from marginaudit.orders import printable
from marginaudit.reports.grid import Grid
from marginaudit.reports.page.files import csv_text


def csv_table(columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> str:
    """One CSV file of rows by column; lists and mappings as JSON texts."""
    return csv_text(columns, [[flat(row.get(column)) for column in columns] for row in rows])


def flat(value: Any) -> Any:
    """A value as a cell of a file: lists and mappings as JSON texts, flags as words of JSON."""
    if isinstance(value, bool):
        return str(value).lower()
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict) else value


def markdown(grids: Sequence[Grid]) -> str:
    """Tables of GitHub's Markdown, each under its title."""
    return "\n".join(_markdown(grid) for grid in grids)


def _markdown(grid: Grid) -> str:
    rules = ["---" if column in grid.words else "---:" for column in range(len(grid.header))]
    lines = [f"**{_markdown_text(grid.title)}**", ""]
    lines += [f"| {' | '.join(cells)} |" for cells in ([_markdown_text(name) for name in grid.header], rules)]
    lines += [f"| {' | '.join(_markdown_text(cell) for cell in row)} |" for row in grid.rows]
    lines += [line for note in grid.notes for line in ("", _markdown_text(note))]
    return "\n".join(lines) + "\n"


def _markdown_text(text: str) -> str:
    r"""Text escaped for Markdown.

    >>> _markdown_text("a|b *c* <d> \\ x_y W_kq -1/3")
    'a\\|b \\*c\\* \\<d\\> \\\\ x\\_y W\\_kq -1/3'
    """
    return re.sub(r"([\\`*_{}\[\]<>|#~&$!])", r"\\\1", printable(text))
