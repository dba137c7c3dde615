"""Commands compute on one thread, so that digits do not hang on how many there are."""

from importlib import import_module
from typing import Any

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from marginaudit.claims import Claim, Finding
from marginaudit.claims.ntp import Config
from marginaudit.claims.paper import Figure
from marginaudit.orders.ntp import CASES
from marginaudit.reports.audit.ledger import LEDGER, PAPERS
from marginaudit.reports.audit.sources import Source
from marginaudit.reports.processes import one_thread
from marginaudit.reports.python import audit
from marginaudit.reports.study import audit as study
from tests.command_line import SHORT, Command


def threads() -> set[int]:
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


def test_an_audit_is_on_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    claim = LEDGER["ntp.theorem1.norm"]
    judge = Claim.judge

    def counted(own: Claim, run: Any) -> Finding:
        seen.append(threads())
        return judge(own, run)

    monkeypatch.setattr(Claim, "judge", counted)
    with threadpool_limits(2):
        audit(CASES["example-1"](), claims=claim.id, config={"steps1": 5, "steps2": 5})
        assert seen == [{1}]
        assert 2 in threads()
        with one_thread():
            assert threads() == {1}


def test_figures_are_drawn_on_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def counted(*_: Any) -> Any:
        seen.append(threads())
        return {}

    paper = next(paper for paper in PAPERS if paper.name == "ntp")
    monkeypatch.setattr(type(paper), "records", counted)
    monkeypatch.setattr(study, "rendered_as", counted)
    source = Source(CASES["example-1"](), paper, "example-1")
    with threadpool_limits(2):
        study.audit_task(source, (), Config(steps1=5, steps2=5), ()).compute()
        study.figure_task(paper, Figure("f", lambda: None, of="paper", caption=""), ()).compute()
        assert seen == [{1}, {1}]
        assert 2 in threads()


@pytest.mark.parametrize("arguments", [["solve"], ["train"], ["table", "proposition2"]])
def test_what_an_audit_has_too_is_on_one_thread(
    arguments: list[str], command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []
    module = import_module("marginaudit.margins.ntp.kq")
    solved = module.solve_exactly

    def counted(*given: Any) -> Any:
        seen.append(threads())
        return solved(*given)

    monkeypatch.setattr(module, "solve_exactly", counted)
    with threadpool_limits(2):
        steps = [] if arguments == ["solve"] else SHORT
        assert command(*arguments, "example-1", *steps).status == 0
    assert seen == [{1}]
