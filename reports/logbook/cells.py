r"""Pages of a Trackio logbook: a title and cells, each a marker with JSON and a Markdown body."""

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from marginaudit.orders import on_a_line, printable

FENCE = "````"

LONGEST_PAGE = 30_000
"""Most bytes of a page, so that a reader gets it whole."""

CUT = "\n.. cut here: the page would be too long. report.json has the whole of it."


@dataclass(frozen=True)
class Cell:
    """Cell of a page.

    Attributes
    ----------
    cuts : bool
        Whether the body is one fenced block that may be cut on a page that is too long.
    """

    title: str
    body: str
    kind: Literal["markdown", "figure"] = "markdown"
    pinned: bool = False
    cuts: bool = False


def fenced(text: str, info: str = "") -> str:
    r"""A text in four backticks, control characters escaped line by line.

    >>> print(fenced("a\x1b", "output"))
    ````output
    a\x1b
    ````
    """
    lines = [printable(line).replace(FENCE, "``` `") for line in text.rstrip("\n").split("\n")]
    return "\n".join([f"{FENCE}{info}", *lines, FENCE])


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Markdown table; bars in cells are escaped."""
    cells = [[on_a_line(cell).replace("|", "\\|") for cell in row] for row in rows]
    lines = [list(header), ["---"] * len(header), *cells]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def slug(text: str) -> str:
    """Text as the name of a page: letters, digits and hyphens.

    >>> slug("Theorem 1(b): a bound")
    'theorem-1-b-a-bound'
    """
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:60].strip("-") or "page"


def page(title: str, cells: Sequence[Cell], date: str, of: str) -> str:
    """Markdown of a page; ids and dates of its cells depend on the report alone. ``of`` is the page's name.

    Bodies that may be cut lose what exceeds `LONGEST_PAGE`, the longest first.
    """
    kept = list(cells)
    while (excess := len(_page(title, kept, date, of).encode()) - LONGEST_PAGE) > 0:
        may = [at for at, cell in enumerate(kept) if cell.cuts and len(cell.body) > 2 * len(CUT)]
        if not may:
            break
        at = max(may, key=lambda one: len(kept[one].body))
        body = kept[at].body.removesuffix(f"{CUT}\n{FENCE}").removesuffix(f"\n{FENCE}")
        shorter = body.encode()[: max(len(body.encode()) - excess - len(CUT), len(CUT))].decode(errors="ignore")
        kept[at] = Cell(kept[at].title, f"{shorter}{CUT}\n{FENCE}", cuts=True)
    return _page(title, kept, date, of)


def _page(title: str, cells: Sequence[Cell], date: str, of: str) -> str:
    blocks = [f"# {on_a_line(title)}\n"]
    for number, cell in enumerate(cells):
        digest = hashlib.sha256(f"{of} {number} {cell.title}".encode()).hexdigest()[:12]
        marker: dict[str, Any] = {"type": cell.kind, "id": f"cell_{digest}", "created_at": date, "title": cell.title}
        marker |= {"pinned": True, "pinned_at": date} if cell.pinned else {}
        text = json.dumps(marker, ensure_ascii=False).replace(">", "\\u003e")
        body = cell.body.strip().replace("\n---\n<!--", "\n--- \n<!--")
        blocks.append(f"\n---\n<!-- trackio-cell\n{text}\n-->\n{body}\n")
    return "".join(blocks)
