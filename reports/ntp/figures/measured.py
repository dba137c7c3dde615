"""Figure 2 of arXiv 2409.17335, its panels with bounds, and plain against normalised gradient descent."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from marginaudit.claims.ntp.config import PAPER_STEPS, Config
from marginaudit.claims.ntp.run import Run
from marginaudit.claims.verdict import Curve, Finding
from marginaudit.orders.ntp import CASES
from marginaudit.reports.plots.measured import ROUNDING_ONLY, measured_figure, one_legend, six_panels
from marginaudit.reports.plots.style import BOUND, MEASURED, REFERENCE, as_text, empty_figure, powers_of_ten, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure


# panel: title, claim with the curve, stage, recorded column if the claim has no curve
PANELS = (
    ("Stage 1: loss L₀", "ntp.prop1.loss", "stage1", "loss"),
    ("Stage 1: 1 − cos(W_ov, W*_ov)", "ntp.prop1.direction", "stage1", "one_minus_cos"),
    ("Stage 1: ‖W_ov‖", "ntp.prop1.norm", "stage1", "norm"),
    ("Stage 2: loss ℒ", "ntp.theorem2.loss", "stage2", "loss"),
    ("Stage 2: 1 − cos(W_kq, W*_kq)", "ntp.theorem1.direction", "stage2", "one_minus_cos"),
    ("Stage 2: ‖W_kq‖", "ntp.theorem1.norm", "stage2", "norm"),
)


def panel(number: int) -> "Callable[[Run, Mapping[str, Finding]], Figure]":
    """Drawing function of a panel: the measured quantity against its bound."""
    title, claim, stage, column = PANELS[number]

    def draw(run: Run, findings: Mapping[str, Finding]) -> "Figure":
        finding = findings.get(claim)
        curve = finding.curve if finding is not None else None
        if curve is None:
            record = getattr(run.trained, stage)
            later = record.step >= 1
            curve = Curve(record.step[later].tolist(), record.columns()[column][later].tolist())
        heading = f"{as_text(run.dataset.name)}, {title[0].lower()}{title[1:]}"
        return measured_figure(heading, curve, finding, ROUNDING_ONLY)

    return draw


@styled
def ntp_2() -> "Figure":
    """Figure 2 of arXiv 2409.17335: training on section 7's setting, on its own linear axes."""
    run = Run(CASES["section-7"](), Config(steps2=PAPER_STEPS))
    figure, axes = six_panels("Figure 2 of arXiv 2409.17335, on the dataset section-7")
    for number, (axis, (title, _, stage, column)) in enumerate(zip(axes, PANELS, strict=True)):
        record = getattr(run.trained, stage)
        axis.set_title(title)
        axis.set_xlabel("step t")
        axis.plot(record.step, getattr(record, column), color=MEASURED, lw=1.8, label="measured")
        if np.nanmax(getattr(record, column)) < ROUNDING_ONLY:  # matplotlib would zoom in on it
            axis.set_ylim(-0.05, 1.0)
            axis.text(
                0.5, 0.25, "zero to rounding", transform=axis.transAxes, ha="center", va="center", color=REFERENCE
            )
        if number == 0:
            axis.axhline(0, color=REFERENCE, lw=0.9, ls=(0, (4, 3)), label="infimum")
        if number == 3:
            floor = float(record.loss[-1] - np.exp(record.log_excess[-1]))
            axis.axhline(floor, color=REFERENCE, lw=0.9, ls=(0, (4, 3)), label="infimum")
    one_legend(figure)
    return figure


STEPS = 100_000
"""Number of true steps of both runs."""

OPTIMIZERS = (
    (Config(steps2=STEPS, optimizer="gd"), "plain", BOUND),
    (Config(steps2=STEPS), "normalised", MEASURED),
)


@styled
def ngd_and_gd() -> "Figure":
    """1 - cos(W_kq^(t), W*_kq) by plain and normalised descent with the same step sizes, on the built-in cases."""
    figure = empty_figure((11, 3.8))
    axes = figure.subplots(1, len(CASES), sharey=True)
    figure.subplots_adjust(left=0.06, right=0.985, top=0.8, bottom=0.23, wspace=0.08)
    figure.suptitle("Stage 2 by normalised and by plain gradient descent, the same step size", x=0.01, ha="left")
    for axis, (name, case) in zip(axes, CASES.items(), strict=True):
        axis.set_title(as_text(name))
        axis.set_xlabel("step t")
        powers_of_ten(axis.set_xscale, axis.xaxis)
        powers_of_ten(axis.set_yscale, axis.yaxis)
        for config, label, colour in OPTIMIZERS:
            stage = Run(case(), config).trained.stage2
            later = stage.step >= 1
            axis.plot(stage.step[later], stage.one_minus_cos[later], color=colour, lw=1.8, label=label)
    axes[0].set_ylabel("1 − cos(W_kq, W*_kq)")
    one_legend(figure)
    return figure
