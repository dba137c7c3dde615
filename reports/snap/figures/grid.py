"""Figures 6, 11 and 12 of arXiv 2305.16380: sparsity of attention on Syn-Medium, by step sizes."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from marginaudit.claims.snap.run import ClassRun
from marginaudit.claims.snap.section8.fig6 import (
    CELLS,
    FIRST_SEEDS,
    LR_Z,
    NUM_LAST,
    RATIOS,
    SEEDS,
    Cell,
    last_scores,
    scores,
)
from marginaudit.orders import counted
from marginaudit.orders.arrays import Floats
from marginaudit.orders.snap import SequenceClasses, syn_medium
from marginaudit.reports.plots.measured import one_legend
from marginaudit.reports.plots.style import BOUND, FIGURE, LAW, MEASURED, SHARPER, empty_figure, styled
from marginaudit.training.snap.sgd import attention, entropy_of_distinct

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

AT_LR_Z = 1.0
"""eta_Z of figure 11; not printed in the source."""

AT_RATIO = 5.0
"""eta_Y/eta_Z of figure 12; not printed in the source."""

THRESHOLDS = np.geomspace(1 / 8, 64, 73)
"""Thresholds in units of 1/M, the scale of the source's."""

ERROR_BARS: Any = {"marker": "o", "ms": 3.5, "lw": 1.4, "capsize": 2.5}

UNDER_IT: Any = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.2), "ncols": 4, "fontsize": 7}
UNDER_IT |= {"handlelength": 1.2, "columnspacing": 1.2}
"""Position of the legend in a panel, free of curves."""

COLOURS = (MEASURED, BOUND, SHARPER, LAW)

RATIO_NAMES = [f"η_Y/η_Z = {ratio:g}" for ratio in RATIOS]
LR_Z_NAMES = [f"η_Z = {lr_z:g}" for lr_z in LR_Z]

BY_RATIO: tuple[Cell, ...] = tuple((AT_LR_Z, ratio) for ratio in RATIOS)
BY_LR_Z: tuple[Cell, ...] = tuple((lr_z, AT_RATIO) for lr_z in LR_Z)


def recall(data: SequenceClasses, Z: Floats) -> Floats:
    """Share of a class's distinct tokens l with c_n(l) >= `THRESHOLDS`/M, shape (cells, thresholds).

    The mean over classes and seeds. The source takes the attention's "softmax value for every query token"; here it is
    c_n, as in figure 6.

    Parameters
    ----------
    Z : (seeds, cells, queries, contextual) array
    """
    own = (data.P > 0) & ((data.P > 0).sum(axis=0) == 1)
    shares = attention(data, Z)[..., own]
    at_least = np.sort(shares.transpose(1, 0, 2).reshape(Z.shape[1], -1), axis=1)
    below = [np.searchsorted(of_cell, THRESHOLDS / data.M) for of_cell in at_least]
    return np.asarray(1 - np.array(below) / at_least.shape[1], dtype=np.float64)


def draw_recall(axis: "Axes", found: Floats, labels: Sequence[str]) -> None:
    """Draw one line per cell."""
    for values, label, colour in zip(found, labels, COLOURS, strict=True):
        axis.plot(THRESHOLDS, values, color=colour, lw=1.5, label=label)
    axis.set_xscale("log", base=2)
    axis.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axis.set_xlabel("threshold times M")


def _of_all_sizes(cells: tuple[Cell, ...], labels: Sequence[str], fixed: str) -> "Figure":
    """One panel per number of queries."""
    figure = empty_figure((11, 3.4))
    axes = figure.subplots(1, len(NUM_LAST), sharey=True)
    figure.subplots_adjust(left=0.05, right=0.99, top=0.83, bottom=0.24, wspace=0.06)
    for axis, num_last in zip(axes, NUM_LAST, strict=True):
        data = syn_medium(num_last)
        draw_recall(axis, recall(data, last_scores(data, cells, range(SEEDS))), labels)
        axis.set_title(f"num_last = {num_last}, K = {data.K}, M = {data.M}")
    axes[0].set_ylabel("share of distinct tokens")
    one_legend(figure)
    title = "Distinct tokens with attention above a threshold: Syn-Medium after 100 updates"
    title += f", {fixed}, mean over {SEEDS} seeds"
    figure.suptitle(title, x=0.01, ha="left", fontsize=FIGURE["font.size"] + 1)
    return figure


@styled
def snap_11() -> "Figure":
    """Share of distinct tokens with attention above a threshold, by eta_Y/eta_Z."""
    return _of_all_sizes(BY_RATIO, RATIO_NAMES, f"η_Z = {AT_LR_Z:g}")


@styled
def snap_12() -> "Figure":
    """Share of distinct tokens with attention above a threshold, by eta_Z."""
    return _of_all_sizes(BY_LR_Z, LR_Z_NAMES, f"η_Y/η_Z = {AT_RATIO:g}")


@styled
def of_a_run(run: ClassRun) -> "Figure":
    """The dataset's panels of figures 6, 11 and 12, from the runs behind its verdict."""
    seeds = min(run.config.seeds, FIRST_SEEDS)
    Z = scores(run, CELLS, 0, seeds)
    figure = empty_figure((11, 3.4))
    by_entropy, by_ratio, by_lr_z = figure.subplots(1, 3)
    figure.subplots_adjust(left=0.04, right=0.99, top=0.83, bottom=0.24, wspace=0.2)
    entropy = entropy_of_distinct(run.dataset, Z).reshape(seeds, len(LR_Z), len(RATIOS))
    for i, (label, colour) in enumerate(zip(LR_Z_NAMES, COLOURS, strict=True)):
        bars = entropy[:, i].std(axis=0, ddof=1) if seeds > 1 else np.zeros(len(RATIOS))
        by_entropy.errorbar(RATIOS, entropy[:, i].mean(axis=0), yerr=bars, color=colour, label=label, **ERROR_BARS)
    by_entropy.set_title("Figure 6: entropy, nats")
    by_entropy.set_xscale("log")
    by_entropy.set_xticks(RATIOS, [f"{ratio:g}" for ratio in RATIOS])
    by_entropy.set_xticks([], minor=True)
    by_entropy.set_xlabel("η_Y/η_Z")
    for axis, cells, labels, title in (
        (by_ratio, BY_RATIO, RATIO_NAMES, f"Figure 11: η_Z = {AT_LR_Z:g}"),
        (by_lr_z, BY_LR_Z, LR_Z_NAMES, f"Figure 12: η_Y/η_Z = {AT_RATIO:g}"),
    ):
        draw_recall(axis, recall(run.dataset, Z[:, [CELLS.index(cell) for cell in cells]]), labels)
        axis.set_title(title)
        axis.set_ylabel("share of distinct tokens")
    for axis in (by_entropy, by_ratio, by_lr_z):
        axis.legend(**UNDER_IT)
    figure.suptitle(
        f"Syn-Medium with num_last = {len(run.dataset.queries)} after 100 updates, "
        f"{counted(seeds, 'seed')} (bars: 1 sd)",
        x=0.01,
        ha="left",
        fontsize=FIGURE["font.size"] + 1,
    )
    return figure
