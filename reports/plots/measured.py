"""Plots of measured quantities against their bounds, and rendering of figures to files."""

import io
import warnings
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from marginaudit.claims.verdict import Curve, Finding, Verdict
from marginaudit.orders import counted, printable, shortened
from marginaudit.reports.plots.style import (
    BOUND,
    HATCH,
    LARGEST_DRAWN,
    MEASURED,
    REFERENCE,
    VERDICTS,
    as_text,
    cover_letters,
    drawable,
    empty_figure,
    fit_titles,
    label_between_powers,
    plot_settings,
    powers_of_ten,
    styled,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import LayoutEngine

FORMATS = (".svg", ".pdf", ".png")

POINTS_AN_INCH = 72
"""Resolution for measuring text of SVG and PDF."""

DOTS_AN_INCH = 150
"""Resolution of PNG."""

ON_WHITE = {"facecolor": "white", "edgecolor": "none", "pad": 1.5}

LEAST_HATCHED = 10
"""The hatched area extends at least to this multiple of the quantity's largest possible value."""

ROUNDING_ONLY = 1e-28
"""Rounding error of 1 - cos of unit vectors in float64."""


MOST_DRAWN = 3000
"""Most points per curve; longer curves are thinned to the min and max of MOST_DRAWN/3 bins."""

LOOKS: Mapping[str, dict[str, Any]] = {
    "measured": {"color": MEASURED, "lw": 1.8, "zorder": 3},
    "≤ bound": {"color": BOUND, "lw": 1.4},
    "≥ bound": {"color": BOUND, "lw": 1.4, "ls": (0, (5, 2))},
    "predicted limit": {"color": BOUND, "lw": 1.4, "ls": (0, (1, 2))},
}
"""Line styles by legend label."""

FIRST_VIOLATED: Mapping[str, Any] = {"color": VERDICTS[Verdict.VIOLATED], "lw": 1.0, "ls": (0, (5, 1))}

ONE_LINE, TWO_COLUMNS = 40, 56
"""Largest widths of a legend in characters: in one line, and in two columns."""

LEGEND_LINE = 0.18
"""Height of a line of a legend, in inches."""

MOST_NAMED = 20
"""Most letters without a font to list."""

LONGEST_NAME = 22
"""Longest name in a title, in characters."""


@styled
def measured_figure(
    title: str, curve: Curve, finding: Finding | None, rounding: float = 0.0, cleared: "Figure | None" = None
) -> "Figure":
    """Figure of a curve, as in `draw_curve`, with the first violation; the title may contain formulas.

    Reusing ``cleared``, a discarded figure of this function, takes two thirds of the time because ticks are kept.
    """
    figure = _one_panel() if cleared is None else _clear(cleared)
    axis = figure.axes[0]
    axis.set_title(title)
    axis.set_xlabel("step t" if curve.clock == "t" else as_text(curve.clock))
    step = drawable(curve.step)
    if len(step) and (step > 0).all():
        _logarithmic(axis.set_xscale, axis.xaxis, axis.set_xlim, step)
    draw_curve(axis, curve, "" if finding is None else first_step(finding, curve), rounding)
    first = None if finding is None else finding.first_violation
    if first is not None and len(step) and step.min() <= first <= step.max():
        axis.axvline(first, label="first violated", **FIRST_VIOLATED)
    _legend_below(figure, axis)
    return figure


def _one_panel() -> "Figure":
    figure = empty_figure()
    axis = figure.subplots()
    axis.xaxis.set_label_coords(0.5, -0.14)  # else matplotlib searches for a position
    axis.yaxis.set_label_coords(0, 0.5)
    return figure


def _clear(figure: "Figure") -> "Figure":
    axis = figure.axes[0]
    for drawn in (*figure.legends, *axis.lines, *axis.patches, *axis.texts):
        drawn.remove()
    axis.set(xscale="linear", yscale="linear", xlim=(0, 1), ylim=(0, 1))
    axis.relim()
    axis.autoscale()
    return figure


def _legend_below(figure: "Figure", axis: "Axes") -> None:
    """Draw the legend below the axes; the figure grows with its lines."""
    handles, labels = axis.get_legend_handles_labels()
    widths, half = list(map(len, labels)), -(-len(labels) // 2)
    in_two = max(widths[:half], default=0) + max(widths[half:], default=0)
    columns = len(labels) if sum(widths) <= ONE_LINE else 2 if in_two <= TWO_COLUMNS else 1
    lines = -(-len(labels) // columns) if labels else 0
    height = 2.76 + LEGEND_LINE * lines
    figure.set_size_inches(4.2, height)
    below = 0.53 + LEGEND_LINE * lines
    figure.subplots_adjust(left=0.16, right=0.985, top=1 - 0.25 / height, bottom=below / height)  # for 1.23e-05
    if labels:
        figure.legend(handles, labels, loc="lower center", ncols=columns, borderaxespad=0.2, columnspacing=1.5)


def curve_title(dataset: str, claim: str) -> str:
    """Title of a claim's curve on a dataset, shortened to fit."""
    return as_text(f"{shortened(printable(dataset), LONGEST_NAME)}, {shortened(claim, LONGEST_NAME)}")


def first_step(finding: Finding, curve: Curve) -> str:
    """Message with the first step at which the statement applies or its bound is informative."""
    if finding.informative_from is None:
        top, upper = curve.vacuous_above, curve.upper
        nowhere = curve.clock == "t" and top is not None and all(bound >= top for bound in upper or ())
        return "bound vacuous to t = 1e300" if nowhere else "bound vacuous"
    if finding.beyond_the_run:
        return f"the statement applies from t = {finding.informative_from:.2g}"
    return f"bound vacuous; informative from t = {finding.informative_from:.2g}"


def draw_curve(axis: "Axes", curve: Curve, since: str, rounding: float = 0.0) -> None:
    """Draw a measured quantity with its bounds or its predicted limit.

    The scale is logarithmic unless the quantity has negative values or another line has no positive ones. Values are
    not drawn if all are within ``rounding``. The vacuous part of a bound, above the quantity's largest possible value,
    is hatched and labelled ``since``.
    """
    at = _drawn_entries(curve)
    lines = {name: values[at] for name, values in _lines(curve).items()}
    known = {name: values[np.isfinite(values)] for name, values in lines.items()}
    upper = lines.get("≤ bound")
    zero = bool(len(known["measured"])) and np.abs(known["measured"]).max() <= rounding
    zeros = "zero to rounding" if rounding else f"0, or below {1 / LARGEST_DRAWN:g}"
    if zero:
        del lines["measured"], known["measured"]
    signed = any((values < 0).any() and (name == "measured" or values.max() <= 0) for name, values in known.items())
    seen = np.concatenate([*known.values(), []])
    if not signed:
        seen = seen[seen > 0]
        lines = {name: np.where(values < 0, np.nan, values) for name, values in lines.items()}
    if not len(seen):
        axis.set_yticks([])
        message = zeros if zero else "no finite value"
        axis.text(0.5, 0.5, message, transform=axis.transAxes, ha="center", va="center", color=REFERENCE)
        return
    most = np.nan if curve.vacuous_above is None else drawable([curve.vacuous_above])[0]
    hatched = upper is not None and most > (-np.inf if signed else 0) and not (upper <= most).all()
    room = most + np.ptp(seen) / 3 if signed else most * LEAST_HATCHED
    ceiling = max(np.nanmax(upper, initial=most), room) if upper is not None and hatched else most
    if not signed:
        drawn = np.append(seen, [most, ceiling]) if hatched else seen
        _logarithmic(axis.set_yscale, axis.yaxis, axis.set_ylim, drawn)
    if zero:
        axis.plot([], [], label=f"measured: {zeros}", **LOOKS["measured"])
    step = drawable(curve.step)[at]
    for name, values in lines.items():
        if len(known[name]):
            part = curve.part if name == "measured" else ""
            label = f"{name}: {as_text(shortened(part, TWO_COLUMNS))}" if part else name
            axis.plot(step, values, label=label, **LOOKS[name] | _marks(step))
    if hatched:
        _hatch(axis, most, ceiling, since)


def _lines(curve: Curve) -> dict[str, NDArray[np.float64]]:
    limit = None if curve.predicted is None else [curve.predicted] * len(curve.step)
    columns = (curve.measured, curve.upper, curve.lower, limit)
    return {name: drawable(values) for name, values in zip(LOOKS, columns, strict=True) if values is not None}


def _drawn_entries(curve: Curve) -> NDArray[np.intp]:
    entries = np.arange(len(curve.step))
    if len(entries) <= MOST_DRAWN:
        return entries
    measured = np.nan_to_num(drawable(curve.measured))
    first = np.unique(np.geomspace(1, len(entries), MOST_DRAWN // 3).astype(int))  # most steps stand on the right
    stretches = np.split(entries, first[:-1])
    bounds = [(curve.upper, 1), (curve.lower, -1)]
    rooms = [np.nan_to_num(side * (drawable(bound) - measured)) for bound, side in bounds if bound is not None]
    ends = [end for some in stretches for end in (some[measured[some].argmin()], some[measured[some].argmax()])]
    return np.unique([*ends, *(some[room[some].argmin()] for room in rooms for some in stretches)])


def _logarithmic(
    set_scale: Callable[[str], None],
    axis: "Axis",
    set_limits: Callable[[float, float], Any],
    values: NDArray[np.float64],
) -> None:
    """A logarithmic axis with tick labels for any range of values."""
    powers_of_ten(set_scale, axis)
    low, high = values.min(), values.max()
    if high < 100 * low:  # at most one power of ten between them
        alike = high < 1.001 * low
        label_between_powers(axis, shows_all=high < 3 * low and not alike)
        if alike:  # matplotlib would zoom in on rounding
            set_limits(low / 3, high * 3)


def _marks(step: NDArray[np.float64]) -> dict[str, Any]:
    """Marker style of curves that would zigzag or have a single entry."""
    if not (np.diff(step) > 0).all():
        return {"marker": ".", "ls": ""}
    return {"marker": "o"} if len(step) == 1 else {}


def _hatch(axis: "Axes", top: float, ceiling: float, since: str) -> None:
    """Hatch the area above the quantity's largest possible value."""
    axis.axhline(top, color=REFERENCE, lw=0.8, ls=(0, (4, 3)), label="most it can reach")
    axis.axhspan(top, ceiling, facecolor="none", edgecolor=HATCH, hatch="////", lw=0, zorder=0, label=since)


def one_legend(figure: "Figure") -> None:
    """Draw one legend for all panels, below them; needs a constrained layout or a margin."""
    entries = {}
    for axis in figure.axes:
        handles, labels = axis.get_legend_handles_labels()
        entries.update(dict(zip(labels, handles, strict=True)))
    figure.legend(entries.values(), entries.keys(), loc="outside lower center", ncols=len(entries) or 1)


def six_panels(title: str) -> "tuple[Figure, NDArray[Any]]":
    """Figure with 2 x 3 empty panels, and its axes."""
    figure = empty_figure((11, 6.2))
    axes = figure.subplots(2, 3)
    figure.subplots_adjust(left=0.06, right=0.985, top=0.89, bottom=0.13, wspace=0.22, hspace=0.42)
    figure.suptitle(as_text(title), x=0.01, ha="left", fontsize=11)
    return figure, axes.ravel()


def rendered(figure: "Figure", suffix: str, notice: Callable[[str], object] = warnings.warn) -> bytes:
    """Render a figure as SVG, PDF or PNG; the bytes are reproducible on one machine.

    SVG uses the reader's fonts. For PDF and PNG, ``notice`` is called with the letters missing in all installed fonts.
    """
    metadata: dict[str, Any] = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}.get(suffix, {})
    buffer = io.BytesIO()
    with plot_settings(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", r"Glyph .* missing from font", UserWarning)  # reported in one line below
        missing = frozenset() if suffix == ".svg" else cover_letters(figure)
        figure.set_dpi(DOTS_AN_INCH if suffix == ".png" else POINTS_AN_INCH)
        engine = figure.get_layout_engine()
        if engine is not None and suffix == ".svg":
            _place(figure, engine)
        elif engine is not None:
            engine.execute(figure)
        fit_titles(figure)
        figure.savefig(buffer, format=suffix[1:], metadata=metadata, dpi=DOTS_AN_INCH)
        figure.set_layout_engine(engine)
    if missing:
        named = " ".join(sorted(missing)[:MOST_NAMED]) + (" .." if len(missing) > MOST_NAMED else "")
        notice(f"no installed font has {counted(len(missing), 'letter')} of the figure, drawn as boxes: {named}")
    return buffer.getvalue()


def _place(figure: "Figure", engine: "LayoutEngine") -> None:
    """Run the layout before `savefig`, which would otherwise draw the figure twice."""
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    FigureCanvasSVG(figure)  # measure text with the renderer of the output
    engine.execute(figure)
    figure.set_layout_engine(None)
