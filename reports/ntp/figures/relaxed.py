"""Figure of direction error and slack for non-orthonormal tokens, against coherence and dimension."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from marginaudit.reports.plots.measured import one_legend
from marginaudit.reports.plots.style import BOUND, LAW, MEASURED, REFERENCE, SHARPER, as_text, empty_figure, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLOURS = (MEASURED, BOUND, SHARPER, REFERENCE, LAW)
"""Colours of embeddings by kind and dimension, reused cyclically."""

QUANTITIES = {"stage2_error": "1 − cos(W_kq, W*_kq)", "stage2_slack": "slack of Theorem 1's bound"}


@styled
def relaxed_figure(name: str, rows: Sequence[Mapping[str, Any]]) -> "Figure":
    """Stage 2's direction error with its error bar, and Theorem 1's slack, at the last step.

    Left: against coherence, along every arm. Right: against d, at the arms' ends. Values with error bars of 100 % or
    more are left out.
    """
    figure = empty_figure((9, 6.4))
    axes = figure.subplots(2, 2, sharey="row")
    figure.subplots_adjust(left=0.1, right=0.98, top=0.91, bottom=0.14, wspace=0.06, hspace=0.28)
    figure.suptitle(f"{as_text(name)}: without orthonormal tokens", x=0.01, ha="left")
    groups = dict.fromkeys((row["kind"], row["dimension"]) for row in rows)
    for number, (kind, dimension) in enumerate(groups):
        own = [row for row in rows if (row["kind"], row["dimension"]) == (kind, dimension)]
        look = {"color": COLOURS[number % len(COLOURS)], "fmt": "o", "ms": 3.5, "alpha": 0.8}
        for (left, right), quantity in zip(axes, QUANTITIES, strict=True):
            ends = [row for row in own if row["share"] == 1]
            for axis, x, shown in ((left, "coherence", own), (right, "dimension", ends)):
                known = [row for row in shown if row[quantity] and _known(row)]
                places, values = ([row[name] for row in known] for name in (x, quantity))
                bars = [row["stage2_bar"] for row in known] if quantity == "stage2_error" else None
                axis.errorbar(places, values, yerr=bars, label=f"{kind}, d = {dimension}", **look)
    for (left, right), label in zip(axes, QUANTITIES.values(), strict=True):
        left.set_ylabel(label)
        for axis, x in ((left, "coherence: largest |cos| of two tokens"), (right, "dimension d, random embeddings")):
            axis.set_xlabel(x)
            axis.set_yscale("log")
        left.set_xscale("symlog", linthresh=1e-3)
        left.set_xlim(left=0)
    one_legend(figure)
    return figure


def _known(row: Mapping[str, Any]) -> bool:
    return row["stage2_bar"] is not None and bool(row["stage2_bar"] < row["stage2_error"])
