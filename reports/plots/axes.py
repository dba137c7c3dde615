"""Logarithmic axes, labelled in plain text."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from matplotlib.axis import Axis

SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")

LARGEST_DRAWN = 1e200
"""Values beyond this are left out of a plot, and those below its inverse are 0: log axes fail near float limits."""


def powers_of_ten(set_scale: Callable[[str], None], axis: "Axis") -> None:
    """A logarithmic axis labelled in plain text, which is drawn much faster than mathematics."""
    from matplotlib.ticker import FuncFormatter, NullFormatter

    set_scale("log")
    axis.set_major_formatter(FuncFormatter(lambda value, _: power_of_ten(value)))
    axis.set_minor_formatter(NullFormatter())


def power_of_ten(value: float) -> str:
    """A tick label.

    >>> power_of_ten(1e-12), power_of_ten(1), power_of_ten(1000.0)
    ('10⁻¹²', '1', '10³')
    """
    exponent = round(np.log10(value))
    return "1" if exponent == 0 else "10" + str(exponent).translate(SUPERSCRIPT)


def between_powers(value: float, shows_all: bool) -> str:
    """A tick label off the powers of ten; 2 and 5 only, where there is no room for all.

    >>> between_powers(0.02, False), between_powers(0.03, False), between_powers(0.03, True)
    ('0.02', '', '0.03')
    """
    return f"{value:.3g}" if shows_all or f"{value:.0e}"[0] in "25" else ""


def drawable(values: list[float]) -> NDArray[np.float64]:
    """What a logarithmic axis can show: NaN beyond `LARGEST_DRAWN`, 0 below its inverse."""
    array = np.array(values, dtype=float)
    array[np.abs(array) < 1 / LARGEST_DRAWN] = 0
    return np.where(np.abs(array) <= LARGEST_DRAWN, array, np.nan)
