"""Measured quantities against their bounds, and figures as files."""

import io
import warnings
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from marginaudit.reports.plots.axes import between_powers, drawable, powers_of_ten
from marginaudit.reports.plots.plotting import plot_settings
from marginaudit.reports.plots.style import BOUND, HATCH, MEASURED, REFERENCE
from marginaudit.reports.verdict import Curve, Finding, Verdict

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import LayoutEngine

FORMATS = (".svg", ".pdf", ".png")

POINTS_AN_INCH = 72
"""The resolution of an SVG file, at which its text is measured."""

ON_WHITE = {"facecolor": "white", "edgecolor": "none", "pad": 1.5}

ROOM_FOR_WORDS = 1e3
"""So many times what a quantity can reach the hatched ground above it goes up at least: words stand there."""

ROUNDING_ONLY = 1e-28
"""A 1 - cos below this is the rounding of unit vectors in float64."""


def first_step(finding: Finding) -> str:
    """From which step the statement speaks, or its bound says anything, in words."""
    if finding.informative_from is None:
        return "bound vacuous to t = 1e40"
    if finding.verdict is Verdict.INCONCLUSIVE:
        return f"the statement speaks from t = {finding.informative_from:.2g}"
    return f"bound vacuous; informative from t = {finding.informative_from:.2g}"


def draw_curve(axis: "Axes", curve: Curve, since: str) -> None:
    """A measured quantity and its bounds; ``since`` says from where on the bound says anything."""
    step = np.array(curve.step, dtype=float)
    measured = drawable(curve.measured)
    upper = None if curve.upper is None else drawable(curve.upper)
    lower = None if curve.lower is None else drawable(curve.lower)
    rounding = bool(np.isfinite(measured).any()) and np.nanmax(measured, initial=0) < ROUNDING_ONLY
    shown = [values for values in (None if rounding else measured, upper, lower) if values is not None]
    positive = np.concatenate([v[np.isfinite(v) & (v > 0)] for v in shown]) if shown else np.array([])
    if not len(positive):
        axis.set_yticks([])
        axis.text(0.5, 0.5, "zero to rounding" if rounding else "no direction", **_centred(axis))
        return
    powers_of_ten(axis.set_yscale, axis.yaxis)
    if positive.max() < 10 * positive.min():  # perhaps no power of ten between them
        shows_all = positive.max() < 3 * positive.min()
        axis.yaxis.set_minor_formatter(lambda value, _: between_powers(value, shows_all))
    if positive.max() < 1.001 * positive.min():  # one value: matplotlib would zoom in on its rounding
        axis.set_ylim(positive.min() / 3, positive.max() * 3)
    marker = "o" if len(step) == 1 else None  # a line through one point shows nothing
    if rounding:
        axis.text(0.5, 0.25, "measured: zero to rounding", bbox=ON_WHITE, zorder=4, **_centred(axis))
    else:
        axis.plot(step, measured, color=MEASURED, lw=1.8, marker=marker, label="measured", zorder=3)
    if upper is not None:
        axis.plot(step, upper, color=BOUND, lw=1.4, marker=marker, label="≤ bound")
    if lower is not None:
        axis.plot(step, lower, color=BOUND, lw=1.4, ls=(0, (5, 2)), marker=marker, label="≥ bound")
    top = curve.vacuous_above
    if top is not None and upper is not None and not (upper <= top).all():
        ceiling = max(np.nanmax(upper, initial=top * 2), top * ROOM_FOR_WORDS)
        axis.axhspan(top, ceiling, facecolor="none", edgecolor=HATCH, hatch="////", lw=0, zorder=0)
        axis.axhline(top, color=REFERENCE, lw=0.8, ls=(0, (4, 3)), label="most it can reach")
        axis.annotate(
            since,
            xy=(0.03, top),
            xycoords=axis.get_yaxis_transform(),
            xytext=(0, 4),
            textcoords="offset points",
            va="bottom",
            fontsize=7.5,
            color=BOUND,
            bbox=ON_WHITE,
            zorder=4,
        )


def _centred(axis: "Axes") -> dict[str, Any]:
    return {"transform": axis.transAxes, "ha": "center", "va": "center", "color": REFERENCE}


def one_legend(figure: "Figure", axes: "Iterable[Axes]") -> None:
    """One legend below for all panels."""
    entries = {}
    for axis in axes:
        handles, labels = axis.get_legend_handles_labels()
        entries.update(dict(zip(labels, handles, strict=True)))
    figure.legend(entries.values(), entries.keys(), loc="lower center", ncols=len(entries) or 1)


def six_panels(title: str) -> "tuple[Figure, NDArray[Any]]":
    """A figure of two rows of three empty panels, and its axes."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 6.2))
    axes = figure.subplots(2, 3)
    figure.subplots_adjust(left=0.06, right=0.985, top=0.89, bottom=0.13, wspace=0.22, hspace=0.42)
    figure.suptitle(title.replace("$", r"\$"), x=0.01, ha="left", fontsize=11)
    return figure, axes.ravel()


def rendered(figure: "Figure", suffix: str) -> bytes:
    """The figure as SVG, PDF or PNG, the same bytes each time."""
    metadata: dict[str, Any] = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}.get(suffix, {})
    buffer = io.BytesIO()
    with plot_settings(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", r"Glyph .* missing from font", UserWarning)  # drawn as an empty box
        engine = figure.get_layout_engine()
        if engine is not None and suffix == ".svg":
            _place(figure, engine)
        figure.savefig(buffer, format=suffix[1:], metadata=metadata, dpi=150)
        figure.set_layout_engine(engine)
    return buffer.getvalue()


def _place(figure: "Figure", engine: "LayoutEngine") -> None:
    """Place the axes for `savefig`, which otherwise draws all of the figure once more to do so."""
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    figure.set_dpi(POINTS_AN_INCH)
    FigureCanvasSVG(figure)  # text is measured as it is drawn
    engine.execute(figure)
    figure.set_layout_engine(None)
