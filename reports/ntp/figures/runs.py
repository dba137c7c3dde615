"""The direction error of stage 2 along our own run and runs that others recorded, against what is proved."""

import csv
import io
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from marginaudit.reports.paper import RunRecords
from marginaudit.reports.plots.style import BOUND, MEASURED, SHARPER, as_text, powers_of_ten, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]

COLOURS = ("#b42318", "#b54708", "#6941c6", "#067647", "#0e7090", "#c11574", "#667085")
"""Of recorded runs."""

BOUNDS = (("bound", "Theorem 1", BOUND), ("sharp_bound", "sharp.theorem1", SHARPER))


@styled
def runs_figure(runs: Sequence[RunRecords]) -> "Figure":
    """1 - cos(W_kq^(t), W*_kq) of each run, to the last recorded step, below the bounds; our own run first."""
    from matplotlib.figure import Figure

    own, *others = runs
    figure = Figure(figsize=(11, 5.4))
    above, axis = figure.subplots(2, 1, sharex=True, height_ratios=(1, 3))
    figure.subplots_adjust(left=0.065, right=0.82, top=0.92, bottom=0.1, hspace=0.06)
    above.set_title(rf"{as_text(own.name)}: how far $W_{{kq}}^{{(t)}}$ of each run is from $W^*_{{kq}}$")
    axis.set_xlabel("step $t$")
    axis.set_ylabel(r"$1-\cos(W_{kq}^{(t)},W^*_{kq})$")
    powers_of_ten(axis.set_xscale, axis.xaxis)
    for one in (above, axis):
        powers_of_ten(one.set_yscale, one.yaxis)
    last = max([10.0, *(float(step[-1]) for run in others if len(step := _errors(run)[0]))])
    for column, label, colour in BOUNDS:
        rows = [row for row in own.document["direction"]["stage2"] if row["step"] <= last and row[column]]
        above.plot([row["step"] for row in rows], [row[column] for row in rows], color=colour, ls="--", label=label)
    step, error = _errors(own)
    axis.plot(step[step <= last], error[step <= last], color=MEASURED, lw=4, alpha=0.5, label=as_text(own.name))
    for number, run in enumerate(others):
        marker = "" if len(_errors(run)[0]) > 1 else "o"
        axis.plot(*_errors(run), color=COLOURS[number % len(COLOURS)], marker=marker, label=as_text(run.name))
    axis.set_xlim(1, last)
    for one in (above, axis):
        one.legend(loc="center left", bbox_to_anchor=(1.01, 0.5))
    return figure


def _errors(run: RunRecords) -> tuple[Floats, Floats]:
    """Steps and direction errors, where there are any."""
    rows = csv.DictReader(io.StringIO(run.records.get("stage2", "")))
    found = [(float(row["step"]), float(row["one_minus_cos"] or "nan")) for row in rows]
    step, error = np.array(found).reshape(-1, 2).T
    shown = (step >= 1) & (error > 0)
    return step[shown], error[shown]
