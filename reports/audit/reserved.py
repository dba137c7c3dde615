"""Names that no paper from outside may take, and where these papers are found."""

GROUP = "marginaudit.papers"
"""Entry points of this group have the value ``module:PAPER``."""

PAPER_FILE = "MARGINAUDIT_PAPER"
"""Environment variable that holds the file of `--paper FILE`, for worker processes; empty for none."""

STATEMENTS = "statements"
"""Name of the figure of the graph of all papers' statements."""

COMMANDS = {
    "audit": "Audit every claim on every DATASET and write a report.",
    "classify": "Show what the papers say of a DATASET.",
    "solve": "Solve the hard-margin problems of a DATASET, with certificates.",
    "verify": "Check a CERTIFICATE that `solve --certificate` wrote.",
    "train": "Run the training of which the DATASET's paper speaks.",
    "conform": "Compare a run that you recorded with the algorithm of the DATASET's paper.",
    "table": "Print the table NAME of every DATASET.",
    "hunt": "Look for a small dataset that violates a claim.",
    "tighten": "Say how loose a bound is, and in which of its factors.",
    "sweep": "Run a grid of settings and seeds.",
    "figure": "Draw one of the papers' figures, or `statements`, which follow from which; `list` names them.",
    "claims": "List the claims of the ledger, or show one.",
    "compare": "Say what changed from the audit OLD to the audit NEW.",
    "realize": "Find the largest part of a text that meets Assumption 1, and how far the rest is from it.",
    "relax": "Judge the statements without Assumption 2, on a dial from one-hot tokens to other embeddings.",
}
"""The commands and what they do: those of every paper, then those of arXiv 2409.17335 alone."""
