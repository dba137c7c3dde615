"""Format numbers for reports."""

from collections.abc import Mapping, Sequence
from typing import Any

from marginaudit.reports.grid import brief

SIGNS = {"upper": "≤", "lower": "≥"}
"""Signs before a bound."""


def bound(row: Mapping[str, Any]) -> str:
    """The bound of a verdict with its sign; alone where it is the other side of an equality, or a limit.

    Where the run does not get to where the statement speaks, what it lacks stands in its place.

    >>> [bound({"bound": value, "side": side}) for value, side in ((7.5, "lower"), (2.0, None), (None, "upper"))]
    ['≥ 7.5', '2', '–']
    >>> bound({"bound": None, "side": None, "beyond_the_run": True, "needs": "T ≥ 8.3e+08, run has 900"})
    'needs T ≥ 8.3e+08, run has 900'
    """
    if row.get("beyond_the_run"):
        return f"needs {row['needs']}" if row["needs"] else "beyond the run"
    sign = SIGNS.get(row["side"]) if row["bound"] is not None else None
    return f"{sign} {brief(row['bound'])}" if sign else brief(row["bound"])


def powers(room: Sequence[float]) -> str:
    """Powers of ten of room in a cell of the matrix.

    >>> powers((0.04, 27.6)), powers((-0.2,)), powers(())
    ('0.0 → 28', '−0.2', '')
    """
    return " → ".join(f"{round(x, 1 if abs(x) < 9.95 else None) + 0}".replace("-", "−") for x in room)
