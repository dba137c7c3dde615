"""Headings of the pages in docs/, by the anchors that GitHub gives them."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]


def anchors(page: str) -> list[str]:
    """The anchors of a page, given by its path from the project's root."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return [anchor(heading) for heading in re.findall(r"^#{1,6} (.*)$", text, re.M)]


def anchor(heading: str) -> str:
    """Lower case, without punctuation, hyphens for spaces."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")
