"""Where papers are found: built in, installed, or in a file. It imports none of them."""

BUILT_IN = {"ntp": "marginaudit.reports.ntp.paper", "snap": "marginaudit.reports.snap.paper"}
"""Modules that have a `PAPER`, by its name, in the order of the reports."""

GROUP = "marginaudit.papers"
"""Entry points of this group have the value ``module:PAPER``."""

PAPER_FILE = "MARGINAUDIT_PAPER"
"""The environment's name of the file of `--paper FILE`, which worker processes need too; empty for none."""

STATEMENTS = "statements"
"""The name of the figure that is of all papers: how their statements stand, and which follow from which."""
