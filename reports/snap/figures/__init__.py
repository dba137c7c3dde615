"""The figures of arXiv 2305.16380, drawn anew; each says what it is drawn with."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from marginaudit.reports.snap.figures.grid import snap_11, snap_12
from marginaudit.reports.snap.figures.limit import snap_3, snap_8, snap_9
from marginaudit.reports.snap.figures.small import snap_4, snap_5
from marginaudit.reports.snap.figures.text import snap_7, snap_10

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FIGURES: Mapping[str, "Callable[[], Figure]"] = {
    "snap-3": snap_3,
    "snap-4": snap_4,
    "snap-5": snap_5,
    "snap-7": snap_7,
    "snap-8": snap_8,
    "snap-9": snap_9,
    "snap-10": snap_10,
    "snap-11": snap_11,
    "snap-12": snap_12,
}

ON_TEXT = {"snap-7": snap_7, "snap-10": snap_10}
"""Those that can be drawn of any text."""

ILLUSTRATIONS: Mapping[str, str] = {
    "snap-3": "snap.theorem4.rates",
    "snap-4": "snap.theorem3.growth",
    "snap-5": "snap.theorem3.gain.sgd",
    "snap-7": "snap.theorem4.snap",
    "snap-8": "snap.lemma7.gap",
    "snap-9": "snap.theorem4.rates",
}
"""The claims beside which the report has them.

Figures 6, 11 and 12 it draws of a dataset's own runs; the 25 runs of figure 10 take too long for every audit.
"""
