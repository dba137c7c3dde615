"""This project's own audit: no constant that it measured gets worse unnoticed.

What is kept lies beside this file; `pytest tests/reports/test_audit_constants.py --update-bounds` writes it.
"""

import pytest

from marginaudit.reports.bound_constants.plugin import BoundConstants
from marginaudit.reports.ntp.paper import PAPER

DATASETS = ("example-1", "section-7")
PAIRS = [(dataset, claim.id) for dataset in DATASETS for claim in PAPER.claims]
"""One dataset after the other, so that each is trained once."""


@pytest.mark.parametrize(("dataset", "claim"), PAIRS)
def test_no_constant_got_worse(bound_constants: BoundConstants, dataset: str, claim: str) -> None:
    bound_constants(claim, dataset)
