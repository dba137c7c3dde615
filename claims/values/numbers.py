"""Numbers as text: four digits, bounds rounded to the safe side."""

from collections.abc import Mapping, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from typing import Any

NONE = "–"
"""An empty cell."""

LEAST_SHOWN = 1e-308
"""Smaller nonzero numbers are shown as below it: float64 has few of their digits, or none."""


def brief(value: float | None) -> str:
    """A number in four digits, a whole number below 10^7 in full, a dash for None.

    >>> brief(5e-324), brief(-5e-324), brief(0.0)
    ('below 1e-308', 'above -1e-308', '0')
    >>> brief(None), brief(54527), brief(10**18), brief(0.000123456), brief(2/3), brief(10**400)
    ('–', '54527', '1e+18', '0.0001235', '0.6667', '1.000e+400')
    """
    if value is None:
        return NONE
    if isinstance(value, int) and abs(value) < 10**7:
        return str(value)
    if _tiny(value):
        return f"below {LEAST_SHOWN:g}" if value > 0 else f"above -{LEAST_SHOWN:g}"
    try:
        return f"{value:.4g}"
    except OverflowError:  # of a whole number beyond all floats
        return f"{Decimal(value):.4g}"


def at_most(value: float | None, digits: int = 4) -> str:
    """An upper bound as `brief` writes it, rounded up: numbers below the bound are below the text.

    >>> brief(1.01021e-28), at_most(1.01021e-28), at_most(0.2), at_most(-1.01021), at_most(0.00123, digits=2)
    ('1.01e-28', '1.011e-28', '0.2', '-1.01', '0.0013')
    """
    return _rounded(value, ROUND_CEILING, digits)


def at_least(value: float | None) -> str:
    """A lower bound as `brief` writes it, rounded down.

    >>> brief(12.3456), at_least(12.3456), at_least(-12.3456), at_least(10**7 + 1)
    ('12.35', '12.34', '-12.35', '1e+07')
    """
    return _rounded(value, ROUND_FLOOR, 4)


def _tiny(value: float) -> bool:
    return 0 < abs(value) < LEAST_SHOWN


def _rounded(value: float | None, rounding: str, digits: int) -> str:
    """Round a number to the given digits; a float is rounded from its shortest decimal, as in JSON."""
    if value is None or (isinstance(value, int) and abs(value) < 10**7) or _tiny(value):
        return brief(value)
    whole = Decimal(value) if isinstance(value, int) else Decimal(repr(float(value)))
    found = Context(prec=digits, rounding=rounding).plus(whole)
    text = f"{float(found):.{digits}g}"
    return text if Decimal(text) == found else f"{found:.{digits}g}"  # beyond float64, or below its normal numbers


def bound(row: Mapping[str, Any]) -> str:
    """The bound of a verdict with its sign, rounded to the safe side; without a sign for an equality or a limit.

    If the run ends before the statement starts to apply, the missing step is given instead.

    >>> [bound({"bound": value, "side": side}) for value, side in ((7.49996, "lower"), (2.0, None), (None, "upper"))]
    ['≥ 7.499', '2', '–']
    >>> bound({"bound": None, "side": None, "beyond_the_run": True, "needs": "T ≥ 8.3e+08, run has 900"})
    'needs T ≥ 8.3e+08, run has 900'
    """
    if row.get("beyond_the_run"):
        return f"needs {row['needs']}" if row["needs"] else "beyond the run"
    if row["bound"] is None or row["side"] is None:
        return brief(row["bound"])
    return f"≤ {at_most(row['bound'])}" if row["side"] == "upper" else f"≥ {at_least(row['bound'])}"


def powers(headroom: Sequence[float]) -> str:
    """Powers of ten of `headroom` in a cell of the matrix.

    >>> powers((0.04, 27.6)), powers((-0.2,)), powers(())
    ('0.0 → 28', '−0.2', '')
    """
    return " → ".join(f"{round(x, 1 if abs(x) < 9.95 else None) + 0}".replace("-", "−") for x in headroom)
