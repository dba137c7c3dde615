"""Colours and plot settings that the report's page and its figures share."""

from typing import Any

from marginaudit.reports.standing import Status
from marginaudit.reports.verdict import Verdict

MEASURED = "#1f4e79"
BOUND = "#c05519"
SHARPER = "#0f766e"
LAW = "#111827"
REFERENCE = "#6b7280"
HATCH = "#f2c9ae"

VERDICTS = {
    Verdict.VIOLATED: "#b42318",
    Verdict.BROKEN: "#7a271a",
    Verdict.INCONCLUSIVE: "#b54708",
    Verdict.VACUOUS: "#6941c6",
    Verdict.NOT_APPLICABLE: "#667085",
    Verdict.HOLDS: "#067647",
}

STANDINGS = {Status.REFUTED: "#b42318", Status.OPEN: "#b54708", Status.PROVED: "#067647"}

LINES = {"proves": "#067647", "implies": "#1f4e79", "refutes": "#b42318", "printed": "#667085"}
"""Of arcs between statements."""

PAGE: dict[str, tuple[str, str]] = {
    "ink": ("#101828", "#f2f4f7"),
    "soft": ("#475467", "#a4acb9"),
    "line": ("#e4e7ec", "#344054"),
    "ground": ("#ffffff", "#101828"),
    "panel": ("#f9fafb", "#1d2939"),
    "measured": (MEASURED, "#84b6e8"),
    "bound": (BOUND, "#f79009"),
    "sharper": (SHARPER, "#2ed3b7"),
    "hatch": (HATCH, "#7a4a24"),
    "violated": (VERDICTS[Verdict.VIOLATED], "#f97066"),
    "broken": (VERDICTS[Verdict.BROKEN], "#fda29b"),
    "inconclusive": (VERDICTS[Verdict.INCONCLUSIVE], "#fdb022"),
    "vacuous": (VERDICTS[Verdict.VACUOUS], "#bdb4fe"),
    "not-applicable": (VERDICTS[Verdict.NOT_APPLICABLE], "#a4acb9"),
    "holds": (VERDICTS[Verdict.HOLDS], "#47cd89"),
    "refuted": (STANDINGS[Status.REFUTED], "#f97066"),
    "open": (STANDINGS[Status.OPEN], "#fdb022"),
    "proved": (STANDINGS[Status.PROVED], "#47cd89"),
    "proves": (LINES["proves"], "#47cd89"),
    "implies": (LINES["implies"], "#84b6e8"),
    "refutes": (LINES["refutes"], "#f97066"),
    "printed": (LINES["printed"], "#a4acb9"),
}
"""Colours of the page's text and lines, in the light and in the dark."""

FIGURE: Any = {
    "font.size": 9,
    "axes.titlesize": 9.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.titley": 1.0,  # not looked for: there is nothing above the axes
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e5e7eb",
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "legend.fontsize": 8,
    "svg.fonttype": "none",  # text stays text: a third of the size, and it can be searched
    "svg.hashsalt": "marginaudit",
    "pdf.fonttype": 42,
    "text.parse_math": True,
}
