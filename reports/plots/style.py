"""Colours and plot settings that the report's page and its figures share."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec

import numpy as np
from numpy.typing import ArrayLike, NDArray

from marginaudit.orders import printable
from marginaudit.reports.standing import Status
from marginaudit.reports.verdict import Verdict

if TYPE_CHECKING:
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

MEASURED = "#1f4e79"
BOUND = "#c05519"
SHARPER = "#0f766e"
LAW = "#111827"
REFERENCE = "#6b7280"
HATCH = "#f2c9ae"

VERDICTS = {
    Verdict.VIOLATED: "#b42318",
    Verdict.BROKEN: "#7a271a",
    Verdict.INCONCLUSIVE: "#b54708",
    Verdict.VACUOUS: "#6941c6",
    Verdict.NOT_APPLICABLE: "#667085",
    Verdict.HOLDS: "#067647",
}

STANDINGS = {Status.REFUTED: "#b42318", Status.OPEN: "#b54708", Status.PROVED: "#067647"}

LINES = {"proves": "#067647", "implies": "#1f4e79", "refutes": "#b42318", "printed": "#667085"}
"""Colours of arcs between statements."""

PAGE: dict[str, tuple[str, str]] = {
    "ink": ("#101828", "#f2f4f7"),
    "soft": ("#475467", "#a4acb9"),
    "line": ("#e4e7ec", "#344054"),
    "ground": ("#ffffff", "#101828"),
    "panel": ("#f9fafb", "#1d2939"),
    "measured": (MEASURED, "#84b6e8"),
    "bound": (BOUND, "#f79009"),
    "sharper": (SHARPER, "#2ed3b7"),
    "hatch": (HATCH, "#7a4a24"),
    "violated": (VERDICTS[Verdict.VIOLATED], "#f97066"),
    "broken": (VERDICTS[Verdict.BROKEN], "#fda29b"),
    "inconclusive": (VERDICTS[Verdict.INCONCLUSIVE], "#fdb022"),
    "vacuous": (VERDICTS[Verdict.VACUOUS], "#bdb4fe"),
    "not-applicable": (VERDICTS[Verdict.NOT_APPLICABLE], "#a4acb9"),
    "holds": (VERDICTS[Verdict.HOLDS], "#47cd89"),
    "refuted": (STANDINGS[Status.REFUTED], "#f97066"),
    "open": (STANDINGS[Status.OPEN], "#fdb022"),
    "proved": (STANDINGS[Status.PROVED], "#47cd89"),
}
"""Colours of the page's text and lines, in the light and in the dark."""

FIGURE: Any = {
    "font.size": 9,
    "axes.titlesize": 9.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.titley": 1.0,  # not looked for: there is nothing above the axes
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e5e7eb",
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "legend.fontsize": 8,
    "svg.fonttype": "none",  # text stays text: a third of the size, and it can be searched
    "svg.hashsalt": "marginaudit",
    "pdf.fonttype": 42,
    "text.parse_math": True,
}


SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")

MOST_TICKS = 6
"""Most ticks of a logarithmic axis, roughly: each takes as long to draw as a curve."""

LARGEST_DRAWN = 1e200
"""Values beyond this are left out of a plot, and those below its inverse are 0: log axes fail near float limits."""


def powers_of_ten(set_scale: Callable[[str], None], axis: "Axis") -> None:
    """A logarithmic axis with ticks at powers of ten alone, in plain text: mathematics and minor ticks take long."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    set_scale("log")
    axis.set_major_locator(LogLocator(numticks=MOST_TICKS))
    axis.set_major_formatter(FuncFormatter(lambda value, _: power_of_ten(value)))
    axis.set_minor_locator(NullLocator())


def label_between_powers(axis: "Axis", *, shows_all: bool) -> None:
    """Ticks also between powers of ten, labelled as there is room."""
    from matplotlib.ticker import LogLocator

    axis.set_minor_locator(LogLocator(subs="auto"))
    axis.set_minor_formatter(lambda value, _: between_powers(value, shows_all))


def power_of_ten(value: float) -> str:
    """A tick label.

    >>> power_of_ten(1e-12), power_of_ten(1), power_of_ten(1000.0)
    ('10⁻¹²', '1', '10³')
    """
    exponent = round(np.log10(value))
    return "1" if exponent == 0 else "10" + str(exponent).translate(SUPERSCRIPT)


def between_powers(value: float, shows_all: bool) -> str:
    """A tick label off the powers of ten; 2 and 5 only, where there is no room for all.

    >>> between_powers(0.02, False), between_powers(5e7, False), between_powers(0.03, False), between_powers(0.03, True)
    ('0.02', '5e+07', '', '0.03')
    """
    return f"{value:.3g}" if shows_all or f"{value:.0e}"[0] in "25" else ""


def drawable(values: ArrayLike) -> NDArray[np.float64]:
    """Values for a logarithmic axis: NaN beyond `LARGEST_DRAWN`, 0 below its inverse."""
    array = np.array(values, dtype=float)
    array[np.abs(array) < 1 / LARGEST_DRAWN] = 0
    return np.where(np.abs(array) <= LARGEST_DRAWN, array, np.nan)


P = ParamSpec("P")


def empty_figure(size: tuple[float, float] | None = None, **how: Any) -> "Figure":
    """A figure without axes, of a size in inches; matplotlib is imported when the first one is made."""
    from matplotlib.figure import Figure

    return Figure(figsize=size, **how)


def load_drawing() -> None:
    """Import matplotlib's SVG backend."""
    import matplotlib.backends.backend_svg
    import matplotlib.figure  # noqa: F401


@contextmanager
def plot_settings() -> Iterator[None]:
    """Context with matplotlib's defaults and the project's settings upon them."""
    import matplotlib as mpl

    defaults = {name: value for name, value in mpl.rcParamsDefault.items() if name != "backend"}
    with mpl.rc_context(defaults | FIGURE):
        yield


def styled(draw: "Callable[P, Figure]") -> "Callable[P, Figure]":
    """Draw with the project's plot settings."""

    @wraps(draw)
    def drawn(*args: P.args, **kwargs: P.kwargs) -> "Figure":
        with plot_settings():
            return draw(*args, **kwargs)

    return drawn


def as_text(name: str) -> str:
    r"""A name escaped for matplotlib: dollar signs start no formula.

    >>> as_text("$1 and $2")
    '\\$1 and \\$2'
    """
    return printable(name).replace("$", r"\$")
