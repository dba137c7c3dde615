"""Audits compute on one thread, so that digits do not hang on how many there are."""

from importlib import import_module
from typing import Any

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from marginaudit.orders.ntp import CASES
from marginaudit.reports import Finding
from marginaudit.reports.audit.ledger import LEDGER
from marginaudit.reports.one_thread import one_thread
from marginaudit.reports.python import audit


def threads() -> set[int]:
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


def test_an_audit_is_on_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    claim = LEDGER["ntp.theorem1.norm"]
    module = import_module("marginaudit.reports.audit.auditing")
    judged = module.judged

    def counted(*found: Any) -> Finding:
        seen.append(threads())
        finding: Finding = judged(*found)
        return finding

    monkeypatch.setattr(module, "judged", counted)
    with threadpool_limits(2):
        audit(CASES["example-1"](), claims=claim.id, config={"steps1": 5, "steps2": 5})
        assert seen == [{1}]
        assert 2 in threads()
        with one_thread():
            assert threads() == {1}
