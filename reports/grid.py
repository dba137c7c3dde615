"""A table as a reader sees it: every cell a short text."""

from dataclasses import dataclass
from decimal import Decimal

NONE = "–"
"""An empty cell."""


@dataclass(frozen=True)
class Grid:
    """One table of texts, ready for a terminal, a page, LaTeX or Markdown.

    Attributes
    ----------
    title : str
    header : tuple of str
    rows : tuple of tuples of str, one cell a column
    notes : tuple of str
        What the reader has to know of it.
    words : set of int
        The columns that hold names; all others hold numbers.
    long : set of int
        Those of them that may be broken over lines.
    """

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...]
    words: frozenset[int] = frozenset()
    long: frozenset[int] = frozenset()


def brief(value: float | None) -> str:
    """A number in four digits, a whole one below 10^7 in full, a dash for none.

    >>> brief(None), brief(54527), brief(10**18), brief(0.000123456), brief(2/3), brief(10**400)
    ('–', '54527', '1e+18', '0.0001235', '0.6667', '1.000e+400')
    """
    if value is None:
        return NONE
    if isinstance(value, int) and abs(value) < 10**7:
        return str(value)
    try:
        return f"{value:.4g}"
    except OverflowError:  # of a whole number beyond all floats
        return f"{Decimal(value):.4g}"
