"""The claims of arXiv 2305.16380, in its order, one theorem a file.

The text that was read has no page numbers and does not say its version. Quotations have formulas in plain symbols.
"""

from importlib import import_module

from marginaudit.reports.claim import Ledger

THEOREMS = (
    "lemma1",
    "lemma3",
    "lemma2",
    "lemma18",
    "lemma5",
    "remark1",
    "lemma6",
    "lemma7",
    "remark2",
    "lemma8",
    "remark3",
    "eq64",
    "lemma9",
    "theorem1_b",
    "remark4",
    "lemma10",
    "lemma11",
    "lemma12",
    "theorem5",
    "corollary1",
    "lemma12_y",
    "eq71",
    "lemma13",
    "lemma14",
    "lemma15",
    "lemma16",
    "lemma17",
    "eq87_eq89",
    "eq90",
    "theorem1",
    "theorem1_a",
    "lemma4",
    "theorem2",
    "corollary2",
    "theorem3_gain",
    "theorem3_growth",
    "eq112",
    "eq13",
    "theorem4_closed_form",
    "theorem4_eq14",
    "theorem4_rates",
    "theorem4_growth",
    "theorem4_ends",
    "eq132_eq133",
    "fig6",
)
"""Modules of this package, each with its `CLAIMS`."""

CLAIMS = Ledger(claim for name in THEOREMS for claim in import_module(f"{__name__}.{name}").CLAIMS)

ALL = tuple(CLAIMS.values())
