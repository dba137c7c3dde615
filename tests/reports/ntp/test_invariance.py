"""What must not change a verdict: the tokens' names, repeating everything, rotating the embedding."""

import pytest

from marginaudit.orders.ntp import ASSUMPTIONS, CASES, broken
from marginaudit.reports import Verdict
from marginaudit.reports.ntp import Config, Run
from marginaudit.reports.ntp.paper import PAPER
from tests.measured import measured

CONFIG = Config(steps1=200, steps2=200)


@pytest.mark.parametrize("assumption", ASSUMPTIONS)
def test_breaking_an_assumption_makes_exactly_its_claims_not_applicable(assumption: str) -> None:
    whole = CASES["section-7"]()
    run = Run(broken(whole, assumption), CONFIG)
    before = Run(whole, CONFIG)
    for claim in PAPER.claims:
        found = measured(claim).judge(run)
        if assumption in claim.assumptions:
            assert found.verdict is Verdict.NOT_APPLICABLE
            assert found.detail.startswith(("Assumption", "The statement is about"))
            assert found.witness is not None
        else:
            implied = [name for name in claim.assumptions if not run.assumption(name).holds]
            if not implied:
                assert found.verdict == measured(claim).judge(before).verdict, claim.id
