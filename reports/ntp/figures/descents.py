"""Plain gradient descent beside normalised: the direction error of stage 2 against steps, no claim attached."""

from typing import TYPE_CHECKING

from marginaudit.orders.ntp import CASES
from marginaudit.reports.ntp.config import Config
from marginaudit.reports.ntp.run import Run
from marginaudit.reports.plots.measured import one_legend
from marginaudit.reports.plots.style import BOUND, MEASURED, as_text, powers_of_ten, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STEPS = 100_000
"""Both are followed by true steps to here."""

OPTIMIZERS = (
    (Config(steps2=STEPS, optimizer="gd"), "plain", BOUND),
    (Config(steps2=STEPS), "normalised", MEASURED),
)


@styled
def ngd_and_gd() -> "Figure":
    """1 - cos(W_kq^(t), W*_kq) of both, same step sizes and data, on the built-in cases."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 3.8))
    axes = figure.subplots(1, len(CASES), sharey=True)
    figure.subplots_adjust(left=0.06, right=0.985, top=0.8, bottom=0.23, wspace=0.08)
    figure.suptitle("Stage 2 by normalised and by plain gradient descent, the same step size", x=0.01, ha="left")
    for axis, (name, case) in zip(axes, CASES.items(), strict=True):
        axis.set_title(as_text(name))
        axis.set_xlabel("step $t$")
        powers_of_ten(axis.set_xscale, axis.xaxis)
        powers_of_ten(axis.set_yscale, axis.yaxis)
        for config, label, colour in OPTIMIZERS:
            stage = Run(case(), config).trained.stage2
            later = stage.step >= 1
            axis.plot(stage.step[later], stage.one_minus_cos[later], color=colour, lw=1.8, label=label)
    axes[0].set_ylabel(r"$1-\cos(W_{kq}^{(t)},W^*_{kq})$")
    one_legend(figure)
    return figure
