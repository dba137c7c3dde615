"""Figure of measured / bound along the clock, and of the powers of both in each factor."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from marginaudit.claims.judgements.slack import Side
from marginaudit.orders import counted
from marginaudit.reports.plots.style import (
    BOUND,
    LARGEST_DRAWN,
    MEASURED,
    REFERENCE,
    as_text,
    empty_figure,
    label_between_powers,
    powers_of_ten,
    styled,
)
from marginaudit.reports.tighten.fit import Tightened
from marginaudit.reports.tighten.measure import Measured

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@styled
def picture(claim: str, found: Mapping[Side, Tightened], runs: Sequence[Measured]) -> "Figure":
    """Two panels per side of the bound: measured / bound of every run, and powers with intervals."""
    figure = empty_figure((9.5, 0.5 + 4 * len(found)), layout="constrained")
    axes = figure.subplots(len(found), 2, squeeze=False, width_ratios=(1.2, 1))
    figure.suptitle(as_text(claim), x=0.01, ha="left", fontsize=11)
    for row, (side, one) in zip(axes, found.items(), strict=True):
        _ratios(row[0], side, one, runs)
        _powers(row[1], one)
    return figure


def _ratios(axis: "Axes", side: Side, found: Tightened, runs: Sequence[Measured]) -> None:
    for run in runs:
        entries = run.sides[side]
        nearest = run.case.dataset.name == found.nearest.dataset and run.case.settings == found.nearest.settings
        style: dict[str, Any] = {"color": MEASURED if nearest else REFERENCE, "zorder": 3 if nearest else 2}
        name = as_text(f"nearest: {found.nearest.dataset}") if nearest else None
        exponent = entries.ratio / np.log(10)
        shown = np.abs(exponent) < np.log10(LARGEST_DRAWN)
        place = (
            entries.step if run.clock_known(side) else np.full(len(entries.step), next(iter(run.factors.values()), 1.0))
        )
        shown &= place > 0
        line: dict[str, Any] = (
            {"lw": 1.6 if nearest else 0.6, "alpha": 1 if nearest else 0.6} if shown.sum() > 1 else {"marker": "."}
        )
        axis.plot(place[shown], 10 ** exponent[shown], label=name, **style, **line)
    axis.axhline(1, color=BOUND, lw=1.2, label="the bound as stated")
    if 1 / LARGEST_DRAWN < found.constant < LARGEST_DRAWN:
        axis.axhline(found.constant, color=BOUND, lw=1, ls="--", label=f"the bound times {found.constant:.3g}")
    powers_of_ten(axis.set_yscale, axis.yaxis)
    low, high = axis.get_ylim()
    if high < 30 * low:
        label_between_powers(axis.yaxis, shows_all=bool(high < 5 * low))
    known = any(run.clock_known(side) for run in runs)
    if known:
        powers_of_ten(axis.set_xscale, axis.xaxis)
    axis.set_xlabel(found.clock if known else next(iter(runs[0].factors), ""))
    axis.set_title(f"measured / {side} bound, {counted(len(runs), 'run')}")
    axis.legend(loc="upper center", bbox_to_anchor=(0.5, -0.15))


def _powers(axis: "Axes", found: Tightened) -> None:
    shown = [one for one in found.exponents if one.interval is not None]
    for place, one in enumerate(shown):
        power, stated, (low, high) = one.measured or 0.0, one.bound or 0.0, one.interval or (0.0, 0.0)
        color = REFERENCE if one.no_support else MEASURED
        axis.plot([low, high], [place, place], color=color, lw=1.4)
        axis.plot([power], [place], "o", color=color, ms=4)
        axis.plot([stated], [place], "D", color=BOUND, ms=5, mfc="none")
    axis.plot([], [], "o-", color=MEASURED, ms=4, label="measured, 95 %")
    axis.plot([], [], "o-", color=REFERENCE, ms=4, label="not supported")
    axis.plot([], [], "D", color=BOUND, ms=5, mfc="none", ls="", label="bound")
    axis.axvline(0, color=REFERENCE, lw=0.8)
    axis.set_yticks(range(len(shown)), [as_text(one.factor) for one in shown])
    axis.set_ylim(max(len(shown), 1) - 0.5, -0.5)
    axis.set_xlabel("power")
    axis.set_title("powers of the factors")
    axis.legend(loc="upper center", bbox_to_anchor=(0.5, -0.15))
