"""Figures 3, 8 and 9 of arXiv 2305.16380: growth in the limit of long sequences."""

from typing import TYPE_CHECKING

import numpy as np

from marginaudit.reports.plots.measured import one_legend
from marginaudit.reports.plots.style import BOUND, MEASURED, REFERENCE, SHARPER, empty_figure, powers_of_ten, styled
from marginaudit.training.snap.attention.common import follow_common
from marginaudit.training.snap.growth import snap_start
from marginaudit.training.snap.limit.continuous import continuous
from marginaudit.training.snap.limit.recursion import h_star

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

K, M = 10, 1000
"""K and M of figure 3, also used for figures 8 and 9 (not printed)."""

C0 = 1.0
"""rho_0^4/K (not printed); at 1, eq. 129 starts at B = 0, as it should."""

SHARE = 0.5
"""f_nl0(0)^2 (not printed); chi is set to its lower bound exp(2 f^2 B) (eq. 12)."""

ETA_Z = 0.5

RATES = (0.5, 1.0, 2.0)
"""eta_Y of figures 3 and 8, and eta_Z of figure 9 (not printed)."""

RATIO = 2.0
"""eta_Y/eta_Z of figure 9."""

COLOURS = (MEASURED, BOUND, SHARPER)

TIMES = np.geomspace(1, 1e5, 201)


def _axes(title: str, x: str, y: str) -> "tuple[Figure, Axes]":
    figure = empty_figure((7.5, 4.2))
    axis = figure.subplots()
    figure.subplots_adjust(left=0.1, right=0.98, top=0.93, bottom=0.2)
    axis.set_title(title)
    axis.set_xlabel(x)
    axis.set_ylabel(y)
    powers_of_ten(axis.set_xscale, axis.xaxis)
    return figure, axis


def _transition(axis: "Axes", eta_Y: float, colour: str) -> float:
    """Mark t_0 by a dotted line and return it."""
    start = snap_start(K, M, eta_Y)
    axis.axvline(start, color=colour, lw=0.9, ls=":")
    return start


@styled
def snap_3() -> "Figure":
    """Growth factor over time by eq. 13, with t_0, at one eta_Z and several eta_Y."""
    figure, axis = _axes(
        f"Growth at fixed η_Z = {ETA_Z:g}: K = {K}, M = {M}, C₀ = {C0:g}, f²(0) = {SHARE:g}",
        "step t (dotted: t₀)",
        "χ ≥ exp(2 f² B)",
    )
    for eta_Y, colour in zip(RATES, COLOURS, strict=True):
        B = follow_common(TIMES, C0, K, M, eta_Y, ETA_Z).B.value
        axis.plot(TIMES, np.exp(2 * SHARE * B), color=colour, label=f"η_Y = {eta_Y:g}")
        _transition(axis, eta_Y, colour)
    one_legend(figure)
    return figure


@styled
def snap_8() -> "Figure":
    """h* in steps against h."""
    figure, axis = _axes(f"The recursion against its continuous form: M = {M}", "step s", "M h")
    for eta_Y, colour in zip(RATES, COLOURS, strict=True):
        s = np.unique(np.geomspace(1, 1000, 200).astype(np.int64))
        star = h_star(s, M, eta_Y).level.logit.value
        axis.step(s, star, where="post", color=colour, label=f"M h*, η_Y = {eta_Y:g}")
        axis.plot(s, continuous(s, M, eta_Y).logit.value, color=REFERENCE, lw=1, ls="--")
    axis.plot([], [], color=REFERENCE, lw=1, ls="--", label="M h")
    one_legend(figure)
    return figure


@styled
def snap_9() -> "Figure":
    """B by eq. 13 at a fixed ratio of the step sizes, with the common value B(t_0)."""
    figure, axis = _axes(
        f"B at fixed η_Y/η_Z = {RATIO:g}: K = {K}, M = {M}, C₀ = {C0:g}",
        "step t (dotted: t₀)",
        "B(t)",
    )
    for eta_Z, colour in zip(RATES, COLOURS, strict=True):
        eta_Y = RATIO * eta_Z
        axis.plot(TIMES, follow_common(TIMES, C0, K, M, eta_Y, eta_Z).B.value, color=colour, label=f"η_Z = {eta_Z:g}")
        start = _transition(axis, eta_Y, colour)
        axis.plot([start], follow_common([start], C0, K, M, eta_Y, eta_Z).B.value, "o", color=colour)
    one_legend(figure)
    return figure
