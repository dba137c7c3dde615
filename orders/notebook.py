"""Small HTML tables for notebooks, with escaped texts."""

import json
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from marginaudit.orders.text import printable, shortened

MOST_ROWS = 60
"""Limit on the rows of a table."""

LONGEST_CELL = 200
"""Limit on the characters of a cell."""


def in_json(value: Any) -> str:
    """Plain data, such as a witness, as JSON on one line."""
    return json.dumps(value, ensure_ascii=False, default=str)


def html_table(title: str, header: Sequence[str], rows: Iterable[Sequence[Any]], longest: int = LONGEST_CELL) -> str:
    """A table in HTML for ``_repr_html_``; beyond `MOST_ROWS` rows, the first ones and the total number.

    Texts of more than ``longest`` characters are cut in the middle.

    >>> html_table("a<b", ("x",), [(0.12345,), (None,)])
    '<table><caption>a&lt;b</caption><tr><th>x</th></tr><tr><td>0.1235</td></tr><tr><td></td></tr></table>'
    """
    lines = list(rows)
    found = [f"<caption>{_text(title, longest)}</caption>"] if title else []
    if header:
        found.append(_row("th", header, longest))
    found += [_row("td", line, longest) for line in lines[:MOST_ROWS]]
    if len(lines) > MOST_ROWS:
        found.append(_row("td", [f"and {len(lines) - MOST_ROWS} more"], longest))
    return f"<table>{''.join(found)}</table>"


def _row(tag: str, cells: Sequence[Any], longest: int) -> str:
    return "<tr>" + "".join(f"<{tag}>{_text(cell, longest)}</{tag}>" for cell in cells) + "</tr>"


def _text(value: Any, longest: int) -> str:
    text = "" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)
    return escape(shortened(printable(text), longest))
