"""How reports write numbers."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any


def number(value: float | None) -> str:
    """A number as a reader wants it: few digits, a dash for none.

    >>> number(None), number(900), number(0.00123456), number(2.4e14), number(10**400)
    ('–', '900', '0.001235', '2.4e+14', '1.000e+400')
    """
    if value is None:
        return "–"
    if isinstance(value, int) and abs(value) < 10_000_000:
        return str(value)
    try:
        return f"{value:.4g}"
    except OverflowError:  # of a whole number beyond all floats
        return f"{Decimal(value):.4g}"


SIGNS = {"upper": "≤", "lower": "≥"}
"""Before a bound: the measured quantity's relation to it."""


def bound(row: Mapping[str, Any]) -> str:
    """The bound of a verdict with its sign; alone where it is the other side of an equality, or a limit.

    >>> [bound({"bound": value, "side": side}) for value, side in ((7.5, "lower"), (2.0, None), (None, "upper"))]
    ['≥ 7.5', '2', '–']
    """
    sign = SIGNS.get(row["side"]) if row["bound"] is not None else None
    return f"{sign} {number(row['bound'])}" if sign else number(row["bound"])


def powers(room: Sequence[float]) -> str:
    """Powers of ten of room in a cell of the matrix.

    >>> powers((0.04, 27.6)), powers((-0.2,)), powers(())
    ('0.0 → 28', '−0.2', '')
    """
    return " → ".join(f"{round(x, 1 if abs(x) < 9.95 else None) + 0}".replace("-", "−") for x in room)
