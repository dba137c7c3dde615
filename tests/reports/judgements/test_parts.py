"""Several parts are judged as one: the worst decides, and what holds is as sure as its least sure part."""

from typing import Any

import pytest

from marginaudit.reports.judgements import Decided
from marginaudit.reports.judgements.parts import Parts
from marginaudit.reports.verdict import Evidence, Finding, Verdict


def part(verdict: Verdict, evidence: Evidence = Evidence.EXACT, **more: Any) -> Decided:
    return Decided(lambda _: Finding(verdict, evidence, detail=f"said {verdict}.", **more), kind="fixed")


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        ("holds violated inconclusive", "violated"),
        ("holds inconclusive vacuous", "inconclusive"),
        ("broken inconclusive", "broken"),
        ("vacuous holds not-applicable", "vacuous"),
        ("not-applicable vacuous", "vacuous"),
        ("not-applicable not-applicable", "not-applicable"),
    ],
)
def test_the_worst_part_that_says_something_decides(verdicts: str, expected: str) -> None:
    found = Parts({name: part(Verdict(name)) for name in verdicts.split()}).judge(None)
    assert found.verdict == expected


def test_numbers_are_the_worst_parts_and_the_detail_is_of_all() -> None:
    found = Parts({"one": part(Verdict.HOLDS, measured=1.0), "two": part(Verdict.VIOLATED, measured=2.0)}).judge(None)
    assert found.measured == 2.0
    assert found.detail == "one: holds. said holds. two: violated. said violated."


def test_what_holds_is_as_sure_as_its_least_sure_part_and_a_violation_as_its_own() -> None:
    sure, less = part(Verdict.HOLDS), part(Verdict.HOLDS, Evidence.FLOAT64)
    unsaid = part(Verdict.NOT_APPLICABLE, Evidence.FLOAT64)
    assert Parts({"a": sure, "b": less}).judge(None).evidence is Evidence.FLOAT64
    assert Parts({"a": sure, "b": unsaid}).judge(None).evidence is Evidence.EXACT
    assert Parts({"a": less, "b": part(Verdict.VIOLATED)}).judge(None).evidence is Evidence.EXACT
