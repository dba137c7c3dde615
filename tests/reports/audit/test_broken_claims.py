"""Where a claim whose code fails says that it failed."""

import re

import pytest

from marginaudit.orders.ntp import CASES
from marginaudit.reports import LEDGER, Verdict
from marginaudit.reports.ntp import Run
from marginaudit.reports.ntp import run as run_module


def test_a_built_in_claim_s_failure_is_located_in_this_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_module, "solve_kq", lambda _: None)
    finding = LEDGER["ntp.prop2.closed-form"].judge(Run(CASES["example-1"]()))
    assert finding.verdict is Verdict.BROKEN
    assert re.search(r"AttributeError: .* \(in \w+, proposition2\.py line \d+\)", finding.detail)
