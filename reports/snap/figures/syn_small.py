"""Figures 4 and 5 of arXiv 2305.16380: attention over training on Syn-Small."""

from dataclasses import replace
from typing import TYPE_CHECKING

from marginaudit.orders.arrays import Floats
from marginaudit.orders.snap import syn_small
from marginaudit.reports.plots.style import FIGURE, empty_figure, styled
from marginaudit.training.snap.sgd import Recipe, attention, train_sampled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BY_SGD = Recipe(updates=200, start="zero")
"""Settings of figure 4: momentum .9, batches of 128 sequences of 127 contextual tokens, zero start (section 8).

The source trains "until convergence"; the number of updates is our choice.
"""

BY_ADAM = replace(BY_SGD, optimizer="adam")
"""Settings of figure 5."""

SGD_RATES = ((1.0, 1.0), (10.0, 1.0))
"""(eta_Y, eta_Z) of figure 4."""

ADAM_RATES = (0.1, 0.5, 1.0)
"""eta_Y = eta_Z of figure 5."""

SEED = 0

COMMON, OWN = 10, 10
"""Tokens 0 to 9 are common, 10 to 19 distinct for the first class, 20 to 29 for the second."""


def attention_over_training(recipe: Recipe, rates: tuple[tuple[float, float], ...]) -> Floats:
    """c_n before the first update and after each, shape (runs, updates + 1, classes, tokens 0 to 29)."""
    data = syn_small()
    order = [data.contextual.index(str(token)) for token in range(COMMON + 2 * OWN)]
    return attention(data, train_sampled(data, recipe, rates, SEED).Z)[..., order]


def _map(axis: "Axes", shares: Floats, first: int, most: float) -> None:
    """Draw attention of shape (updates + 1, tokens): tokens from ``first`` rightwards, updates downwards."""
    updates, tokens = shares.shape
    axis.imshow(
        shares,
        aspect="auto",
        interpolation="nearest",
        cmap="Blues",
        vmin=0,
        vmax=most,
        extent=(first - 0.5, first + tokens - 0.5, updates - 0.5, -0.5),
    )
    axis.grid(visible=False)


def _described(figure: "Figure", title: str, most: float) -> None:
    """Draw the title and the colour scale."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    figure.suptitle(title, x=0.01, ha="left", fontsize=FIGURE["font.size"] + 1)
    bar = figure.colorbar(ScalarMappable(Normalize(0, most), "Blues"), ax=figure.axes, shrink=0.8)
    bar.set_label("attention c(l)")


@styled
def snap_4() -> "Figure":
    """c_n of both classes over training by SGD, at two pairs of step sizes."""
    shares = attention_over_training(BY_SGD, SGD_RATES)
    most = float(shares.max())
    figure = empty_figure((8.5, 5))
    axes = figure.subplots(2, len(SGD_RATES), sharex=True, sharey=True)
    figure.subplots_adjust(left=0.08, right=0.98, top=0.87, bottom=0.1, wspace=0.06, hspace=0.08)
    for column, (eta_Y, eta_Z) in enumerate(SGD_RATES):
        axes[0, column].set_title(f"η_Y = {eta_Y:g}, η_Z = {eta_Z:g}")
        axes[1, column].set_xlabel("token l (0–9 common)")
        for n in range(2):
            _map(axes[n, column], shares[column, :, n], 0, most)
            axes[n, 0].set_ylabel(f"class {n + 1}: update")
    _described(figure, f"Attention over SGD on Syn-Small: K = 2, M = 30, momentum .9, batch 128, seed {SEED}", most)
    return figure


@styled
def snap_5() -> "Figure":
    """c_n of the first class's distinct tokens over training by Adam, at several step sizes."""
    shares = attention_over_training(BY_ADAM, tuple((eta, eta) for eta in ADAM_RATES))[:, :, 0, COMMON : COMMON + OWN]
    most = float(shares.max())
    figure = empty_figure((8.5, 3.2))
    axes = figure.subplots(1, len(ADAM_RATES), sharey=True)
    figure.subplots_adjust(left=0.08, right=0.98, top=0.81, bottom=0.15, wspace=0.06)
    for axis, eta, of_run in zip(axes, ADAM_RATES, shares, strict=True):
        axis.set_title(f"η_Y = η_Z = {eta:g}")
        axis.set_xlabel("distinct token l")
        axis.set_xticks(range(COMMON, COMMON + OWN, 3))
        _map(axis, of_run, COMMON, most)
    axes[0].set_ylabel("update")
    _described(figure, f"Attention of class 1 over Adam on Syn-Small: K = 2, M = 30, batch 128, seed {SEED}", most)
    return figure
