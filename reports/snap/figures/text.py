"""Figures 7 and 10 of arXiv 2305.16380: attention of a one-layer transformer on text.

The source trains on WikiText; here the text is any file, by default the beginning of a built-in book.
"""

from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from marginaudit.orders import InputError, counted, printable, shortened, shown_path
from marginaudit.orders.running_text import RunningText, alice, read_running_text
from marginaudit.reports.plots.measured import one_legend
from marginaudit.reports.plots.style import FIGURE, MEASURED, REFERENCE, as_text, empty_figure, styled
from marginaudit.training.snap.text import TextRecipe, attention, train_on_text
from marginaudit.training.snap.text.train import halves, windows_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

RECIPE = TextRecipe()

ETA = 5.0
"""Step size of figure 7."""

ETAS = (0.5, 1.0, 2.0, 5.0, 10.0)
"""Step sizes of figure 10 (not printed)."""

SEEDS = 5
"""Seeds of figure 10, as in the source."""

EVERY = 10
"""Updates between records of attention in figure 7."""

SHOWN = (0, 100, 200, 400)
"""Updates with attention patterns in figure 7."""

WINDOWS = 24
"""Held-out windows in figure 7."""

LONGEST_NAME = 40
"""Longest name of a text in a title, in characters."""

Reach = Callable[[float], None]
"""Callback with the fraction of the work done."""


def text_of(path: Path | None) -> RunningText:
    """Read a text file, or the built-in text.

    Raises
    ------
    InputError
        The file cannot be read, or the text is too short.
    """
    if path is None:
        return alice()
    found = read_running_text(path)
    if len(found.tokens) < RECIPE.least:
        raise InputError(shown_path(path), got=counted(len(found.tokens), "word"), expected=f"at least {RECIPE.least}")
    return found


def _entitle(figure: "Figure", text: RunningText, more: str) -> None:
    words, dropped = counted(len(text.tokens), "word"), counted(text.dropped, "character")
    title = (
        f"{as_text(shortened(printable(text.name), LONGEST_NAME))}: {words} ({dropped} in none), "
        f"M = {len(text.vocabulary)}; d = {RECIPE.d}, T = {RECIPE.T}, batch {RECIPE.batch}, {more}"
    )
    figure.suptitle(title, x=0.01, ha="left", fontsize=FIGURE["font.size"] + 1)


def _uniform(axis: "Axes") -> None:
    """Draw the entropy of uniform attention, the largest possible."""
    axis.axhline(np.log(RECIPE.T - 1), color=REFERENCE, lw=0.9, ls=(0, (4, 3)), label="equal attention")
    axis.set_ylabel("entropy of attention, nats")
    axis.set_ylim(bottom=0)


@styled
def snap_7(path: Path | None = None, reach: Reach = lambda _: None) -> "Figure":
    """Attention over training: patterns on held-out windows, and their mean entropy."""
    text, done = text_of(path), count(1)
    at = range(0, RECIPE.updates + 1, EVERY)
    found = train_on_text(
        text.tokens, len(text.vocabulary), RECIPE, ETA, 0, at, lambda: reach(next(done) / RECIPE.updates)
    )
    windows = windows_of(halves(text.tokens, RECIPE)[1], RECIPE.T)[0][:WINDOWS]
    figure = empty_figure((9, 5.4))
    parts: Any = figure.subfigures(2, 1, height_ratios=(1.25, 1))
    upper, lower = parts
    for number, (axis, update) in enumerate(zip(upper.subplots(1, len(SHOWN), sharey=True), SHOWN, strict=True)):
        pattern = attention(found.parameters[update // EVERY], windows)
        back = RECIPE.T - 1
        edges = (-back - 0.5, -0.5, len(windows) + 0.5, 0.5)
        axis.imshow(pattern, aspect="auto", interpolation="nearest", cmap="Blues", vmin=0, vmax=1, extent=edges)
        axis.grid(visible=False)
        axis.set_title(f"{update} updates")
        axis.set_xticks([-back, -back // 2, -1])
        axis.set_xlabel("token before the query")
        axis.set_ylabel("" if number else "held-out window")
    axis = lower.subplots()
    upper.subplots_adjust(left=0.08, right=0.98, top=0.8, bottom=0.2, wspace=0.08)
    lower.subplots_adjust(left=0.08, right=0.98, top=0.98, bottom=0.3)
    axis.plot(found.update, found.entropy, color=MEASURED, label="held-out windows")
    axis.set_xlabel("update")
    _uniform(axis)
    one_legend(figure)
    _entitle(figure, text, f"SGD, η = {ETA:g}, seed 0")
    return figure


@styled
def snap_10(path: Path | None = None, reach: Reach = lambda _: None) -> "Figure":
    """Entropy of attention after training against the step size."""
    text = text_of(path)
    total, done = RECIPE.updates * SEEDS * len(ETAS), count(1)
    entropy = np.array(
        [
            [
                train_on_text(
                    text.tokens,
                    len(text.vocabulary),
                    RECIPE,
                    eta,
                    seed,
                    (RECIPE.updates,),
                    lambda: reach(next(done) / total),
                ).entropy[-1]
                for seed in range(SEEDS)
            ]
            for eta in ETAS
        ]
    )
    figure = empty_figure((9, 4.2))
    axis = figure.subplots()
    figure.subplots_adjust(left=0.1, right=0.98, top=0.9, bottom=0.2)
    spread = entropy.std(axis=1, ddof=1)
    axis.errorbar(
        ETAS, entropy.mean(axis=1), yerr=spread, color=MEASURED, marker="o", ms=4, capsize=3, label="mean, 1 sd"
    )
    axis.set_xscale("log")
    axis.set_xticks(ETAS, [f"{eta:g}" for eta in ETAS])
    axis.set_xticks([], minor=True)
    axis.set_xlabel("step size η")
    _uniform(axis)
    one_legend(figure)
    _entitle(figure, text, f"SGD, {RECIPE.updates} updates, {SEEDS} seeds")
    return figure
