"""Figure of the realizable share of a text, against vocabulary, sample length and number of sentences."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from marginaudit.reports.plots.measured import one_legend
from marginaudit.reports.plots.style import BOUND, MEASURED, REFERENCE, SHARPER, as_text, empty_figure, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LABELS = {"vocabulary": "vocabulary", "length": "longest sample", "sentences": "sentences"}


@styled
def realizable_figure(name: str, rows: Sequence[Mapping[str, Any]]) -> "Figure":
    """Shares of samples and of queries, with one panel per varied parameter."""
    figure = empty_figure((11, 3.8))
    axes = figure.subplots(1, len(LABELS), sharey=True)
    figure.subplots_adjust(left=0.06, right=0.985, top=0.84, bottom=0.25, wspace=0.08)
    figure.suptitle(f"{as_text(name)}: how much of it meets Assumption 1", x=0.01, ha="left")
    for axis, (varied, what) in zip(axes, LABELS.items(), strict=True):
        shown = sorted((row for row in rows if row["varied"] == varied), key=lambda row: row["value"])
        value = [row["value"] for row in shown]
        lower, upper = ([row[end] / row["samples"] for row in shown] for end in ("lower", "upper"))
        ordered = [row["well_ordered"] / row["queries"] if row["queries"] else 1.0 for row in shown]
        axis.fill_between(value, lower, upper, color=BOUND, alpha=0.15, lw=0)
        for share, colour, label in (
            ([row["collocation_share"] for row in shown], REFERENCE, "samples that fit one collocation"),
            (upper, BOUND, "samples in any part, at most"),
            (lower, MEASURED, "samples in the largest part found"),
            (ordered, SHARPER, "queries with well-ordered relations"),
        ):
            axis.plot(value, share, color=colour, marker="o", ms=3, label=label)
        axis.set_xscale("log", base=2)
        axis.xaxis.set_major_formatter(lambda tick, _: f"{tick:g}")
        axis.set_xlabel(what)
        axis.set_ylim(0, 1.03)
    axes[0].set_ylabel("share")
    one_legend(figure)
    return figure
