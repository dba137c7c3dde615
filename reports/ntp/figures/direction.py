"""Figures of stage 2's direction error against the proven bounds: one run with its law, or recorded runs."""

import csv
import io
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from marginaudit.claims.ntp.config import PAPER_STEPS
from marginaudit.claims.ntp.run import Run
from marginaudit.claims.paper import RunRecords
from marginaudit.claims.verdict import Finding
from marginaudit.orders.arrays import Floats
from marginaudit.reports.plots.measured import ON_WHITE
from marginaudit.reports.plots.style import (
    BOUND,
    HATCH,
    LAW,
    MEASURED,
    REFERENCE,
    SHARPER,
    as_text,
    drawable,
    empty_figure,
    power_of_ten,
    powers_of_ten,
    styled,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


MOST = 2.0
"""Largest possible 1 - cos."""

BOUNDS = (
    ("ntp.theorem1.direction", "Theorem 1", BOUND),
    ("sharp.theorem1", "Theorem 1, sharper", SHARPER),
)

METHODS = {"steps": "true steps", "flow": "gradient flow"}

BAND = 5.0
"""Width of the measured line, drawn around the law's."""


@styled
def direction_figure(run: Run, findings: Mapping[str, Finding]) -> "Figure":
    """1 - cos(W_kq^(t), W*_kq) from step 1 to the last, against Theorem 1 and its sharper form.

    The vacuous part of a bound, above 2, is dashed on a hatched background.
    """
    figure, axis = _axes(run)
    stage = run.trained.stage2
    gap, law = (drawable(values) for values in (stage.one_minus_cos, stage.law))
    shown = (stage.step >= 1) & (gap > 0) & stage.known
    if not shown.any():
        axis.text(0.5, 0.5, "no direction", transform=axis.transAxes, ha="center", va="center", color=REFERENCE)
        return figure
    step, measured = stage.step[shown].astype(float), gap[shown]
    ends = [(measured[-1], "measured", MEASURED)]
    top = MOST
    for claim, label, colour in BOUNDS:
        curve = findings[claim].curve if claim in findings else None
        if curve is None or curve.upper is None:
            continue
        bound = drawable(curve.upper)
        _draw_bound(axis, np.array(curve.step, dtype=float), bound, colour)
        _mark_informative(axis, findings[claim].informative_from, step[-1], colour)
        ends.append((bound[-1], label, colour))
        top = max(top, float(np.nanmax(bound)))
    axis.plot(step, measured, color=MEASURED, alpha=0.55, lw=BAND, zorder=3, solid_capstyle="butt")
    law = np.where(law > 0, law, np.nan)[shown]  # it is 0 on W*'s line
    _draw_law(axis, step, law)
    axis.set_xlim(1, max(step[-1], 10.0))
    axis.set_ylim(min(measured.min(), np.nanmin(law, initial=np.inf)) / 30, top * 30)
    if len(ends) > 1:
        _hatch_vacuous(axis, top * 30)
    _mark_the_papers_length(axis, step[-1])
    _label_ends(axis, ends)
    _mark_methods(axis, step, stage.method[shown])
    return figure


def _axes(run: Run) -> "tuple[Figure, Axes]":
    """Empty figure with titles and scales."""
    figure = empty_figure((11, 5.4))
    axis = figure.subplots()
    figure.subplots_adjust(left=0.065, right=0.845, top=0.885, bottom=0.1)
    name = as_text(run.dataset.name)
    axis.set_title(f"{name}: how far W_kq is from W*_kq, and how far it is proved to be", pad=22)
    axis.set_xlabel("step t")
    axis.set_ylabel("1 − cos(W_kq, W*_kq)")
    powers_of_ten(axis.set_xscale, axis.xaxis)
    powers_of_ten(axis.set_yscale, axis.yaxis)
    return figure, axis


def _draw_law(axis: "Axes", step: Floats, law: Floats) -> None:
    known = np.flatnonzero(np.isfinite(law))
    if not len(known):
        return
    axis.plot(step, law, color=LAW, lw=1.0, ls=(0, (6, 4)), zorder=4)
    at = known[int(np.argmin(np.abs(np.log(step[known]) - 0.55 * np.log(step[-1]))))]
    place = (step[at], law[at])
    axis.annotate("asymptotic law", place, (10, 10), textcoords="offset points", fontsize=8, color=LAW)


def _hatch_vacuous(axis: "Axes", top: float) -> None:
    """Hatch the area above the range of 1 - cos."""
    axis.axhspan(MOST, top, facecolor="none", edgecolor=HATCH, hatch="////", lw=0, zorder=0)
    axis.axhline(MOST, color=REFERENCE, lw=0.8)
    axis.annotate(
        "vacuous: 1 − cos cannot exceed 2",
        (0.985, 0.965),
        xycoords="axes fraction",
        ha="right",
        va="top",
        fontsize=8,
        color=BOUND,
        bbox=ON_WHITE,
    )


def _draw_bound(axis: "Axes", step: Floats, bound: Floats, colour: str) -> None:
    informative = bound < MOST
    turn = int(np.argmax(informative)) if informative.any() else len(bound) - 1
    axis.plot(step[: turn + 1], bound[: turn + 1], color=colour, lw=1.3, ls=(0, (2, 2)))
    if informative.any():
        axis.plot(step[turn:], bound[turn:], color=colour, lw=1.8)


def _mark_informative(axis: "Axes", first: int | float | None, last: float, colour: str) -> None:
    if first is None or first > last:
        return
    axis.plot([first], [MOST], "o", ms=5, color=colour, zorder=5)
    near_the_end = first**2 > last  # where the lines are named; the bound comes down to the dot from above
    axis.annotate(
        f"informative from {_two_digits(first)}",
        (first, MOST),
        (-5, -11) if near_the_end else (4, 6),
        textcoords="offset points",
        fontsize=7.5,
        color=colour,
        ha="right" if near_the_end else "left",
        bbox=ON_WHITE,
    )


def _mark_the_papers_length(axis: "Axes", last: float) -> None:
    steps = PAPER_STEPS
    if steps < last:
        axis.axvline(steps, color=REFERENCE, lw=0.8, ls=(0, (1, 2)))
        axis.annotate(
            f"the paper's\nruns: {steps}",
            (steps, 0),
            (-4, 5),
            xycoords=("data", "axes fraction"),
            textcoords="offset points",
            ha="right",
            fontsize=7.5,
            color=REFERENCE,
        )


def _two_digits(value: float) -> str:
    """Format as two digits and a power of ten, omitted if it is 1.

    >>> _two_digits(4.2e14), _two_digits(1e-7), _two_digits(6.8)
    ('4.2·10¹⁴', '1.0·10⁻⁷', '6.8')
    """
    mantissa, exponent = f"{value:.1e}".split("e")
    return mantissa if not int(exponent) else f"{mantissa}·{power_of_ten(10.0 ** int(exponent))}"


def _label_ends(axis: "Axes", ends: list[tuple[float, str, str]]) -> None:
    """Label each line at its right end with its name, last value and ratio to the measured one."""
    measured = ends[0][0]
    for value, label, colour in ends:
        over = "" if label == "measured" else f"\n{power_of_ten(value / measured)} × measured"
        axis.annotate(
            f"{label}\n{_two_digits(value)}{over}",
            (1, value),
            (6, 0),
            xycoords=axis.get_yaxis_transform(),
            textcoords="offset points",
            va="center",
            color=colour,
            fontsize=8.5,
            annotation_clip=False,
        )


def _mark_methods(axis: "Axes", step: Floats, method: NDArray[np.str_]) -> None:
    """Label the method of each range of steps above the axes."""
    starts = [0, *(np.flatnonzero(method[1:] != method[:-1]) + 1).tolist()]
    for number, start in enumerate(starts):
        end = starts[number + 1] if number + 1 < len(starts) else len(step) - 1
        if number:
            axis.axvline(step[start], color=REFERENCE, lw=0.8, ls=(0, (1, 2)))
        middle = np.sqrt(step[start] * step[end])
        axis.annotate(
            METHODS[str(method[start])],
            (middle, 1),
            (0, 5),
            xycoords=("data", "axes fraction"),
            textcoords="offset points",
            ha="center",
            color=REFERENCE,
            fontsize=8,
        )


RUN_COLOURS = ("#b42318", "#b54708", "#6941c6", "#067647", "#0e7090", "#c11574", "#667085")
"""Colours of recorded runs."""

RUN_BOUNDS = tuple((column, *drawn) for column, (_, *drawn) in zip(("bound", "sharp_bound"), BOUNDS, strict=True))


@styled
def runs_figure(runs: Sequence[RunRecords]) -> "Figure":
    """1 - cos(W_kq^(t), W*_kq) of each run to the last recorded step, with the bounds; ``runs[0]`` is our own."""
    own, *others = runs
    figure = empty_figure((11, 5.4))
    above, axis = figure.subplots(2, 1, sharex=True, height_ratios=(1, 3))
    figure.subplots_adjust(left=0.065, right=0.82, top=0.92, bottom=0.1, hspace=0.06)
    above.set_title(f"{as_text(own.name)}: how far W_kq of each run is from W*_kq")
    axis.set_xlabel("step t")
    axis.set_ylabel("1 − cos(W_kq, W*_kq)")
    powers_of_ten(axis.set_xscale, axis.xaxis)
    for one in (above, axis):
        powers_of_ten(one.set_yscale, one.yaxis)
    last = max([10.0, *(float(step[-1]) for run in others if len(step := _errors(run)[0]))])
    for column, label, colour in RUN_BOUNDS:
        rows = [row for row in own.document["direction"]["stage2"] if row["step"] <= last and row[column]]
        above.plot([row["step"] for row in rows], [row[column] for row in rows], color=colour, ls="--", label=label)
    step, error = _errors(own)
    axis.plot(step[step <= last], error[step <= last], color=MEASURED, lw=4, alpha=0.5, label=as_text(own.name))
    for number, run in enumerate(others):
        marker = "" if len(_errors(run)[0]) > 1 else "o"
        axis.plot(*_errors(run), color=RUN_COLOURS[number % len(RUN_COLOURS)], marker=marker, label=as_text(run.name))
    axis.set_xlim(1, last)
    for one in (above, axis):
        one.legend(loc="center left", bbox_to_anchor=(1.01, 0.5))
    return figure


def _errors(run: RunRecords) -> tuple[Floats, Floats]:
    """Steps with a positive direction error, and the errors."""
    rows = csv.DictReader(io.StringIO(run.records.get("stage2", "")))
    found = [(float(row["step"]), float(row["one_minus_cos"] or "nan")) for row in rows]
    step, error = np.array(found).reshape(-1, 2).T
    shown = (step >= 1) & (error > 0)
    return step[shown], error[shown]
