"""The printed floor of Theorem 2 is violated, and the true one is not."""

from dataclasses import replace

import pytest

from marginaudit.orders.ntp import CASES
from marginaudit.reports import LEDGER, Evidence, Verdict
from marginaudit.reports.judgements import Equal
from marginaudit.reports.ntp.claims.theorem2_floor import log_infimum
from tests.reports.ntp.samples import run
from tests.twins import one_entry_off


@pytest.mark.parametrize("case", CASES)
def test_the_true_floor_holds_where_the_printed_one_is_violated(case: str) -> None:
    claim, on = LEDGER["ntp.theorem2.floor"], run(case, steps2=20)
    assert claim.judge(on).verdict is Verdict.VIOLATED
    assert isinstance(claim.judgement, Equal)
    true = replace(claim.judgement, expected=log_infimum)
    found = true.judge(on)
    assert (found.verdict, found.evidence) == (Verdict.HOLDS, Evidence.CERTIFIED)
    assert one_entry_off(true).judge(on).verdict is Verdict.VIOLATED
