"""Where a claim whose code fails says that it failed."""

import re

import numpy as np
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


def test_nor_is_it_located_in_functools_or_a_library(monkeypatch: pytest.MonkeyPatch) -> None:
    """The run keeps its solution by functools, and NumPy raises below a line of this package."""
    monkeypatch.setattr("marginaudit.margins.ntp.kq.confused_pairs", np.linalg.inv)
    finding = LEDGER["ntp.prop2.closed-form"].judge(Run(CASES["example-1"]()))
    assert finding.verdict is Verdict.BROKEN
    assert re.search(r"\(in solve_kq, kq\.py line \d+\)", finding.detail)
