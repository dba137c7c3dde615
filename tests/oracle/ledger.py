"""All statements of the ledger's section 1 with the assumptions that it names for them."""

from tests.oracle import (
    limit_statements,
    margin_statements,
    stage1_statements,
    stage2_statements,
    theorem3_statements,
)
from tests.oracle.stage1_statements import Statement

ONE = ("collocation", "injective", "next_from_sentence", "well_defined_orders", "no_confused_tokens")
TWO = (*ONE, "orthonormal")
THREE = (*TWO, "optimal_majority")

STATEMENTS: dict[str, Statement] = (
    stage1_statements.STATEMENTS
    | stage2_statements.STATEMENTS
    | margin_statements.STATEMENTS
    | theorem3_statements.STATEMENTS
    | limit_statements.STATEMENTS
)

_NEEDS = {
    "ntp.gradient.kq": (),
    "ntp.example1": (),
    "ntp.example2": ("orthonormal",),
    "ntp.prop2.prefix-closed": (*TWO, "prefix_closed"),
    "sharp.single-optimum": (*ONE, "prefix_closed"),
    "sharp.stage1": ("collocation", "orthonormal"),
}

_STAGE1_OR_MARGINS = (
    "ntp.gradient",
    "ntp.prop",
    "ntp.lemma2",
    "ntp.lemma3",
    "ntp.lemma4",
    "ntp.corollary",
    "ntp.theorem3",
    "sharp.prop2",
)

ASSUMPTIONS: dict[str, tuple[str, ...]] = {
    name: _NEEDS.get(name, TWO if name.startswith(_STAGE1_OR_MARGINS) else THREE) for name in STATEMENTS
}

STAGE1 = tuple(
    name for name in STATEMENTS if name.startswith(("ntp.prop1", "ntp.lemma2", "ntp.lemma3", "sharp.stage1"))
)
"""Statements about steps of stage 1; the others, where about steps, are about stage 2."""

CONTINUED = tuple(name for name in STAGE1 if name.startswith("ntp.prop1"))
"""Those of every t, whatever T is."""
