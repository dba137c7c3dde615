"""The claims of arXiv 2409.17335, in its order, one theorem a file, and the sharper ones of this project.

The text that was read is a scan without page numbers, which does not say its version. Many of its formulas are
illegible; they are quoted as the proofs have them, and a constant that was not legible is `reconstructed`.
"""

from importlib import import_module

from marginaudit.reports.claim import Ledger

THEOREMS = (
    "eq5_eq6",
    "proposition1",
    "lemma2",
    "lemma3",
    "corollary1",
    "lemma4",
    "lemma5",
    "lemma6",
    "lemma7",
    "theorem1",
    "theorem2",
    "theorem2_floor",
    "proposition2",
    "theorem3",
    "theorem3_prediction",
    "example1",
    "example2",
    "theorem1_rate",
    "theorem1_squared",
)
"""Modules of this package, each with its `CLAIMS`."""

CLAIMS = Ledger(
    sorted(
        (claim for name in THEOREMS for claim in import_module(f"{__name__}.{name}").CLAIMS),
        key=lambda claim: claim.id.startswith("sharp."),
    )
)

ALL = tuple(CLAIMS.values())
