"""Colours and plot settings shared by the report's page and figures; fitting of titles, and fallback fonts."""

import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, wraps
from typing import TYPE_CHECKING, Any, ParamSpec

import numpy as np
from numpy.typing import ArrayLike, NDArray

from marginaudit.claims.standing import Status
from marginaudit.claims.verdict import Verdict
from marginaudit.orders import printable, shortened

if TYPE_CHECKING:
    from logging import LogRecord

    from matplotlib.axis import Axis
    from matplotlib.figure import Figure
    from matplotlib.legend import Legend
    from matplotlib.text import Text

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
    Verdict.NOT_CHECKED: "#475467",
    Verdict.VACUOUS: "#6941c6",
    Verdict.NOT_APPLICABLE: "#667085",
    Verdict.HOLDS: "#067647",
}

STANDINGS = {Status.REFUTED: "#b42318", Status.OPEN: "#b54708", Status.PROVED: "#067647"}

LINES = {"proves": "#067647", "implies": "#1f4e79", "refutes": "#b42318", "printed": "#667085"}
"""Colours of arcs by the kind of link."""

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
    "not-checked": (VERDICTS[Verdict.NOT_CHECKED], "#98a2b3"),
    "vacuous": (VERDICTS[Verdict.VACUOUS], "#bdb4fe"),
    "not-applicable": (VERDICTS[Verdict.NOT_APPLICABLE], "#a4acb9"),
    "holds": (VERDICTS[Verdict.HOLDS], "#47cd89"),
    "refuted": (STANDINGS[Status.REFUTED], "#f97066"),
    "open": (STANDINGS[Status.OPEN], "#fdb022"),
    "proved": (STANDINGS[Status.PROVED], "#47cd89"),
}
"""Colours of the page, in light and dark mode."""

FIGURE: Any = {
    "font.size": 9,
    "axes.titlesize": 9.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.titley": 1.0,  # fixed: else matplotlib searches above the axes
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e5e7eb",
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "legend.fontsize": 8,
    "svg.fonttype": "none",  # text, not paths: a third of the size, and searchable
    "svg.hashsalt": "marginaudit",
    "pdf.fonttype": 42,
    "text.parse_math": True,
}


SMALLEST = 0.75
"""Smallest relative size of a title; longer titles lose their middle."""

EDGE = 0.05
"""Least distance of a title from the edge of the figure or the next panel, in inches."""

NOT_DRAWN = ("Cc", "Cf", "Zl", "Zp", "Zs")
"""Unicode categories without glyphs."""

SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")

MOST_TICKS = 6
"""Approximate largest number of ticks of a logarithmic axis: drawing a tick takes as long as a curve."""

LARGEST_DRAWN = 1e200
"""Largest value in plots; values below its inverse are drawn as 0. Logarithmic axes fail near float64's limits."""


def powers_of_ten(set_scale: Callable[[str], None], axis: "Axis") -> None:
    """Set a logarithmic axis with plain-text ticks at powers of ten only; mathtext and minor ticks are slow."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    set_scale("log")
    axis.set_major_locator(LogLocator(numticks=MOST_TICKS))
    axis.set_major_formatter(FuncFormatter(lambda value, _: power_of_ten(value)))
    axis.set_minor_locator(NullLocator())


def label_between_powers(axis: "Axis", *, shows_all: bool) -> None:
    """Add ticks between powers of ten, labelled as far as there is room."""
    from matplotlib.ticker import LogLocator

    axis.set_minor_locator(LogLocator(subs="auto"))
    axis.set_minor_formatter(lambda value, _: between_powers(value, shows_all))


def power_of_ten(value: float) -> str:
    """Tick label of a power of ten.

    >>> power_of_ten(1e-12), power_of_ten(1), power_of_ten(1000.0)
    ('10⁻¹²', '1', '10³')
    """
    exponent = round(np.log10(value))
    return "1" if exponent == 0 else "10" + str(exponent).translate(SUPERSCRIPT)


def between_powers(value: float, shows_all: bool) -> str:
    """Tick label between powers of ten; only 2 and 5 unless ``shows_all``.

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
    """Figure without axes, with a size in inches; imports matplotlib on demand."""
    from matplotlib.figure import Figure

    return Figure(figsize=size, **how)


def load_drawing() -> None:
    """Import matplotlib's SVG backend."""
    import matplotlib.backends.backend_svg
    import matplotlib.figure  # noqa: F401


@contextmanager
def plot_settings() -> Iterator[None]:
    """Context with matplotlib's defaults, overridden by the project's settings."""
    import matplotlib as mpl

    defaults = {name: value for name, value in mpl.rcParamsDefault.items() if name != "backend"}
    with mpl.rc_context(defaults | FIGURE):
        yield


def styled(draw: "Callable[P, Figure]") -> "Callable[P, Figure]":
    """Decorator: draw with the project's plot settings."""

    @wraps(draw)
    def drawn(*args: P.args, **kwargs: P.kwargs) -> "Figure":
        with plot_settings():
            return draw(*args, **kwargs)

    return drawn


def as_text(name: str) -> str:
    r"""Escape a name for matplotlib: dollar signs do not start formulas.

    >>> as_text("$1 and $2")
    '\\$1 and \\$2'
    """
    return printable(name).replace("$", r"\$")


def fit_titles(figure: "Figure") -> None:
    """Shrink titles that leave the figure or overlap the next panel; very long titles lose their middle.

    Titles with formulas are only shrunk. Long labels are cut if their legend leaves the figure.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    canvas: Any = FigureCanvasAgg(figure)
    renderer, edge = canvas.get_renderer(), EDGE * figure.dpi
    for title, right in _titles(figure):

        def too_wide(title: "Text" = title, right: float = right) -> float:
            x = title.get_transform().transform(title.get_position())[0]
            before, behind = x - edge, right - edge - x
            room = {"left": behind, "right": before}.get(title.get_horizontalalignment(), 2 * min(before, behind))
            return float(title.get_window_extent(renderer).width / max(1, room))

        if title.get_text() and (times := too_wide()) > 1:
            title.set_fontsize(float(title.get_fontsize()) * max(1 / times, 0 if _formula(title) else SMALLEST))
            _cut([title], too_wide)
    for legend in (*figure.legends, *(legend for axis in figure.axes if (legend := axis.get_legend()))):
        labels = legend.get_texts()

        def too_long(legend: "Legend" = legend, labels: "list[Text]" = labels) -> float:
            box = legend.get_window_extent(renderer)
            width = max(label.get_window_extent(renderer).width for label in labels)
            return float(width / max(1, width - max(box.x1 + edge - figure.bbox.x1, edge - box.x0)))

        _cut(labels, too_long)


def _formula(text: "Text") -> bool:
    return "$" in text.get_text().replace(r"\$", "")


def _cut(texts: "list[Text]", too_wide: Callable[[], float]) -> None:
    """Cut out the middle of the longest texts until ``too_wide``, the relative width, is at most 1."""
    if not texts or any(map(_formula, texts)):
        return
    letters = [text.get_text().replace(r"\$", "\0") for text in texts]
    most = max(map(len, letters))
    while most > 2 and (times := too_wide()) > 1:
        most = max(2, min(most - 1, int(most / times)))
        for text, whole in zip(texts, letters, strict=True):
            text.set_text(shortened(whole, most).replace("\0", r"\$"))


def _titles(figure: "Figure") -> "Iterator[tuple[Text, float]]":
    """Titles of the figure and its panels, each with its right limit in pixels."""
    from matplotlib.text import Text

    for part in (figure, *figure.subfigs):
        yield from ((text, figure.bbox.x1) for text in part.texts)
    boxes = [axis.bbox for axis in figure.axes]
    for axis in figure.axes:
        own = axis.bbox
        beside = [box.x0 for box in boxes if box.x0 >= own.x1 and box.y0 < own.y1 and box.y1 > own.y0]
        titles = [child for child in axis.get_children() if isinstance(child, Text) and child not in axis.texts]
        yield from ((title, min(beside, default=figure.bbox.x1)) for title in titles)


def cover_letters(figure: "Figure") -> frozenset[str]:
    """Set fallback fonts for letters missing in a text's font; return letters missing in all installed fonts.

    Call within `plot_settings`: PDF output switches to type 3 fonts, because matplotlib loses some glyphs in type 42.
    """
    import matplotlib as mpl
    from matplotlib.text import Text

    lacking = {text: missing for text in figure.findobj(Text) if (missing := _missing(text))}
    if not lacking:
        return frozenset()
    fonts, uncovered = _fonts_with(frozenset().union(*lacking.values()))
    for text in lacking:
        text.set_fontfamily([*dict.fromkeys([*text.get_fontfamily(), *fonts])])
    if fonts:
        mpl.rcParams["pdf.fonttype"] = 3
    return uncovered


def _missing(text: "Text") -> frozenset[str]:
    """Letters of a text missing in its font."""
    from matplotlib.font_manager import findfont, get_font

    if text.get_text().isascii():
        return frozenset()
    font = get_font(findfont(text.get_fontproperties()))
    drawn = {letter for letter in text.get_text() if unicodedata.category(letter) not in NOT_DRAWN}
    return frozenset(letter for letter in drawn if not font.get_char_index(ord(letter)))


@cache
def _fonts_with(letters: frozenset[str]) -> tuple[list[str], frozenset[str]]:
    """Greedy cover of the letters by installed fonts: font families, and letters missing in all of them."""
    import logging

    from matplotlib.font_manager import findSystemFonts, fontManager
    from matplotlib.ft2font import FT2Font

    logging.getLogger("matplotlib.font_manager").addFilter(_of_another_matter)
    known = []
    for path in sorted({*findSystemFonts(), *(entry.fname for entry in fontManager.ttflist)}):
        try:
            font = FT2Font(path)
        except (OSError, RuntimeError):  # not a font, or damaged
            continue
        last_resort = "LastResort" in font.family_name.replace(" ", "")  # a box for every letter
        has = frozenset(letter for letter in letters if font.get_char_index(ord(letter)))
        if has and font.scalable and not last_resort:
            plain = font.style_name in ("Regular", "Book", "Normal", "Medium")
            known.append((has, ("Sans" in font.family_name, plain), font.family_name, path))
    families = []
    while known:
        has, _, family, path = max(known, key=lambda one: (len(one[0] & letters), one[1]))
        if not has & letters:
            break
        fontManager.addfont(path)
        families.append(family)
        letters -= has
    return families, letters


def _of_another_matter(record: "LogRecord") -> bool:
    """Filter for matplotlib's messages about missing bold faces."""
    return "font weight" not in record.getMessage()
