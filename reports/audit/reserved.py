"""Reserved names, and the places of external papers."""

GROUP = "marginaudit.papers"
"""Entry points of this group have the value ``module:PAPER``."""

PAPER_FILE = "MARGINAUDIT_PAPER"
"""Environment variable that holds the file of `--paper FILE`, for worker processes; empty for none."""

STATEMENTS = "statements"
"""Name of the figure of the graph of all papers' statements."""

COMMANDS = {
    "audit": "Audit every claim on every DATASET and write a report.",
    "classify": "Classify a DATASET and check its paper's assumptions.",
    "solve": "Solve the hard-margin problems of a DATASET, with certificates.",
    "verify": "Check a CERTIFICATE written by `solve --certificate`.",
    "train": "Train on a DATASET with its paper's algorithm.",
    "conform": "Compare a recorded run with the algorithm of the DATASET's paper.",
    "table": "Print the table NAME of every DATASET.",
    "hunt": "Search for a small dataset that violates a claim.",
    "tighten": "Measure how loose a bound is, overall and in each factor.",
    "sweep": "Run a grid of settings and seeds.",
    "figure": "Draw a figure of the papers, or `statements`: the graph of implications.",
    "claims": "List the claims of the ledger, or show one.",
    "compare": "List the differences between the audits OLD and NEW.",
    "recheck": "Recompute every number of the audit REPORT, by another way where there is one.",
    "realize": "Find the largest part of a text that meets Assumption 1, and measure how far the text is from it.",
    "relax": "Judge the statements without Assumption 2, from one-hot to non-orthonormal embeddings.",
}
"""Descriptions of the commands: those for every paper, then those for arXiv 2409.17335 only."""
