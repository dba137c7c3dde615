"""Where papers are found: built in, installed, or in a file. It imports none of them."""

BUILT_IN = {"ntp": "marginaudit.reports.ntp.paper", "snap": "marginaudit.reports.snap.paper"}
"""Modules that have a `PAPER`, by its name, in the order of the reports."""

GROUP = "marginaudit.papers"
"""Entry points of this group have the value ``module:PAPER``."""

PAPER_FILE = "MARGINAUDIT_PAPER"
"""Environment variable that holds the file of `--paper FILE`, for worker processes; empty for none."""

STATEMENTS = "statements"
"""Name of the figure of the graph of all papers' statements."""
