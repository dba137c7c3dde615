"""Figure of a sweep: mean and spread of a result over seeds, by panel and line."""

from typing import TYPE_CHECKING

import numpy as np

from marginaudit.reports.plots.style import FIGURE, as_text, drawable, empty_figure, styled
from marginaudit.reports.study.merge import Rows, mean_sd_and_count
from marginaudit.reports.study.spec import Layout, Spec

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PANEL_WIDTH, HEIGHT = 2.9, 3.4
MOST_IN_A_ROW = 4

WIDE = 1000
"""Means that differ by this factor, and are all positive, are drawn on a logarithmic scale."""


@styled
def picture(spec: Spec, layout: Layout, cells: Rows) -> "Figure":
    """Draw the mean of ``layout.y`` against ``layout.x`` with bars of plus or minus one sample standard deviation."""
    panels = list(dict.fromkeys(cell[layout.panel] for cell in cells)) if layout.panel else [None]
    columns = min(len(panels), MOST_IN_A_ROW)
    lines = -(-len(panels) // columns)
    figure = empty_figure((max(columns, 2) * PANEL_WIDTH, 0.7 + lines * HEIGHT), layout="constrained")
    axes = figure.subplots(lines, columns, squeeze=False, sharex=True, sharey=True).ravel()
    for axis in axes[len(panels) :]:
        axis.remove()
    for number, (axis, panel) in enumerate(zip(axes, panels, strict=False)):
        own = [cell for cell in cells if not layout.panel or cell[layout.panel] == panel]
        _draw(axis, spec, layout, own)
        axis.set_ylabel(layout.y if number % columns == 0 else "")
        if layout.panel:
            axis.set_title(f"{layout.panel} = {_brief(panel)}")
    means = [mean for cell in cells if (mean := cell[mean_sd_and_count(spec, layout.y)[0]]) is not None]
    if means and min(means) > 0 and max(means) >= WIDE * min(means):
        axes[0].set_yscale("log")
    handles, labels = axes[0].get_legend_handles_labels()
    if layout.line:
        figure.legend(handles, labels, loc="outside lower center", ncols=min(len(labels), 8))
    figure.suptitle(as_text(layout.title or spec.name), x=0.01, ha="left", fontsize=FIGURE["font.size"] + 2)
    return figure


def _draw(axis: "Axes", spec: Spec, layout: Layout, cells: Rows) -> None:
    mean, deviation, _ = mean_sd_and_count(spec, layout.y)
    words = not all(isinstance(cell[layout.x], int | float) for cell in cells)
    names = list(dict.fromkeys(cell[layout.x] for cell in cells))
    for line in dict.fromkeys(cell[layout.line] if layout.line else None for cell in cells):
        own = [cell for cell in cells if not layout.line or cell[layout.line] == line]
        x = [names.index(cell[layout.x]) if words else cell[layout.x] for cell in own]
        y, bars = (drawable([cell[column] for cell in own]) for column in (mean, deviation))
        label = f"{layout.line} = {_brief(line)}" if layout.line else ""
        axis.errorbar(x, y, yerr=np.nan_to_num(bars), marker="o", ms=3.5, lw=1.4, capsize=2.5, label=label)
    if words:
        axis.set_xticks(range(len(names)), [_brief(name) for name in names])
    elif min(names) > 0 and max(names) >= 8 * min(names):
        axis.set_xscale("log")
        axis.set_xticks(names, [_brief(name) for name in names])
        axis.set_xticks([], minor=True)
    axis.set_xlabel(layout.x)


def _brief(value: object) -> str:
    return f"{value:g}" if isinstance(value, int | float) else as_text(str(value))
