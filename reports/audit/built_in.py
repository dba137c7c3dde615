"""Where papers are: those built in, with the commands that only one of them has, and installed ones.

Nothing of theirs is imported here.
"""

BUILT_IN = {"ntp": "marginaudit.reports.ntp.paper", "snap": "marginaudit.reports.snap.paper"}
"""Modules that have a `PAPER`, by its name, in the order of the reports."""

COMMANDS = {
    "solve": ("marginaudit.reports.ntp.commands.solve", "Solve the two hard-margin problems, with certificates."),
    "verify": (
        "marginaudit.reports.ntp.commands.verify",
        "Check a CERTIFICATE that `solve --certificate` wrote.",
    ),
    "realize": (
        "marginaudit.reports.ntp.commands.realize",
        "Find the largest part of a text that meets Assumption 1, and how far the rest is from it.",
    ),
    "conform": ("marginaudit.reports.ntp.commands.conform", "Compare a run that you recorded with Algorithm 1."),
    "relax": (
        "marginaudit.reports.ntp.commands.relax",
        "Judge the statements without Assumption 2, on a dial from one-hot tokens to other embeddings.",
    ),
}
"""Modules that have a command of that name, and what it does."""

CONFORMITY = "marginaudit.reports.ntp.conformity"
"""The module that compares a recorded run with Algorithm 1, for the pytest fixture `conforms`."""

GROUP = "marginaudit.papers"
"""Entry points of this group have the value ``module:PAPER``."""

PAPER_FILE = "MARGINAUDIT_PAPER"
"""The environment's name of the file of `--paper FILE`, which worker processes need too; empty for none."""

STATEMENTS = "statements"
"""The name of the figure that is of all papers: how their statements stand, and which follow from which."""
