"""The source's figure 1, and the direction error to t = 1e18 and beyond."""

from typing import TYPE_CHECKING, Any

import numpy as np

from separable.descent import Floats
from separable.points import CASES
from separable.quantities import angle, direction, late, loss, margin_gap, norm, normalized_gap
from separable.run import DescentConfig, DescentRun

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MEASURED, LIMIT, OTHER = "#1f4e79", "#c05519", "#6b7280"


def figure_1() -> "Figure":
    """Data and separators, then norm, loss, angle and margin gap of descent against t: steps to 1e5, then the flow.

    As in the source eta = 1/sigma_max and w(0) = 0; its descent with momentum is left out.
    """
    from matplotlib.figure import Figure

    data = CASES["figure-1"]()
    run = DescentRun(data, DescentConfig(share=float(np.linalg.norm(data.signed, 2)) / 8, true_steps=10**5))
    found, figure = late(run), Figure(figsize=(10, 6), layout="constrained")
    axes = figure.subplots(2, 3).ravel()
    _data(axes[0], run)
    t = np.exp(found.s[found.s <= 41.5])  # 1e18
    turned = np.arccos(np.clip(1 - angle(run).value, -1, 1))
    _panel(axes[1], "norm |w(t)|", t, norm(run).value, found.steps)
    axes[1].set_yscale("linear")
    _panel(axes[2], "training loss L", t, np.exp(loss(run).value), found.steps, run.norm**2 / run.eta / t, "|ŵ|²/(ηt)")
    _panel(axes[3], "angle to the maximum margin", t, turned, found.steps)
    gap = 1 / np.log(t) / run.norm
    _panel(axes[4], "margin gap", t, margin_gap(run).value, found.steps, gap, "1/(|ŵ| log t)")
    faster = normalized_gap(run)
    t, seen = np.asarray(faster.step, dtype=float), np.where(faster.value > faster.radius, faster.value, np.nan)
    gap = np.log(t) / np.sqrt(t) / run.norm
    _panel(axes[5], "margin gap, normalised descent", t, seen, len(t), gap, "log t/(|ŵ| √t)")
    return figure


def _panel(axis: "Axes", title: str, t: Floats, value: Floats, steps: int, law: Any = None, name: str = "") -> None:
    axis.plot(t[:steps], value[:steps], color=MEASURED, label="steps")
    if steps < len(t):
        axis.plot(t[steps - 1 :], value[steps - 1 : len(t)], color=MEASURED, linestyle=":", label="flow")
    if law is not None:
        axis.plot(t, law, color=LIMIT, linestyle="--", label=name)
    axis.set(xscale="log", yscale="log", xlabel="t", title=title)
    axis.legend(fontsize=8)


def _data(axis: "Axes", run: DescentRun) -> None:
    x, y = np.array(run.dataset.x), np.array(run.dataset.y)
    for sign, marker in ((1, "+"), (-1, "o")):
        axis.scatter(x[y == sign, 0], x[y == sign, 1], marker=marker, color=MEASURED, s=30)
    support = list(run.dataset.svm.support)
    axis.scatter(x[support, 0], x[support, 1], facecolors="none", edgecolors=LIMIT, s=120, label="support vectors")
    first = run.path.rho[16] + run.what * run.path.s[16]
    for w, color, name in ((run.what, LIMIT, "maximum margin"), (first, OTHER, f"w({np.exp(run.path.s[16]):.0f})")):
        axis.axline((0, 0), (-w[1], w[0]), color=color, linestyle="-" if color == LIMIT else ":", label=name)
    reach = 1.1 * float(np.abs(x).max())
    axis.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal", title="data and separators")
    axis.legend(fontsize=7, loc="lower right")


def figure_directions() -> "Figure":
    """The direction error against 1/log t: straight to 0 for generic data, above that where duals are 0."""
    from matplotlib.figure import Figure

    figure, names = Figure(figsize=(6, 4), layout="constrained"), ("two-points", "zero-dual", "figure-1", "iris")
    axis = figure.subplots()
    for name in names:
        run = DescentRun(CASES[name](), DescentConfig(true_steps=10**5))
        found, error = late(run), direction(run)
        [line] = axis.plot(1 / found.s[: found.steps], error.value[: found.steps], label=name)
        rest = found.s >= found.s[found.steps - 1]
        axis.plot(1 / found.s[rest], error.value[rest], linestyle=":", color=line.get_color())
    axis.axvline(1 / (18 * np.log(10)), color=OTHER, linewidth=0.8)
    axis.annotate(" t = 1e18", (1 / (18 * np.log(10)), 0.85), xycoords=("data", "axes fraction"), fontsize=8, va="top")
    axis.set(xlabel="1/log t", ylabel="|w/|w| - ŵ/|ŵ||", xlim=(0, None), ylim=(0, 1.2 * axis.dataLim.y1))
    axis.legend(fontsize=8, loc="upper center", ncols=len(names))
    return figure
