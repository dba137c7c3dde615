"""What a paper refuses of its claims."""

from dataclasses import replace

import pytest

from marginaudit.reports import LEDGER
from marginaudit.reports.audit.ledger import PAPERS
from marginaudit.reports.ntp.paper import PAPER
from tests.papers import changed


def test_an_unknown_assumption_is_refused() -> None:
    assumes = replace(LEDGER["ntp.prop1.norm"], assumptions=("injective", "prefix_close"))
    with pytest.raises(ValueError, match=r"prop1\.norm: got the assumption prefix_close, expected one of colloc"):
        changed(PAPER, claims=(assumes,))


def test_a_claim_of_one_paper_is_about_its_datasets_only() -> None:
    """Also one that assumes nothing, which any dataset meets."""
    free = replace(LEDGER["ntp.prop1.norm"], assumptions=(), paper="")
    (own,) = changed(PAPER, claims=(free,), figures=()).claims
    assert own == replace(free, paper="ntp")
    with pytest.raises(ValueError, match=r"^claim ntp\.prop1\.norm: got the paper ntp, expected other$"):
        changed(PAPER, name="other", claims=(own,), figures=())
    for paper in PAPERS:
        assert all(other.judges(claim) == (other is paper) for claim in paper.claims for other in PAPERS)
