"""Several parts are judged as one: the worst decides, and what holds is as sure as its least sure part."""

from typing import Any

import pytest

from marginaudit.claims.claim import BeyondTheRun
from marginaudit.claims.judgements import Decided
from marginaudit.claims.judgements.parts import Parts
from marginaudit.claims.verdict import Curve, Evidence, Finding, Verdict


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


@pytest.mark.parametrize(("other", "expected"), [(Verdict.VIOLATED, "violated"), (Verdict.HOLDS, "inconclusive")])
def test_a_part_beyond_the_run_leaves_the_others_their_verdict(other: Verdict, expected: str) -> None:
    def beyond(_: Any) -> Finding:
        raise BeyondTheRun("no step was recorded")

    parts = Parts({"late": Decided(beyond, "x"), "early": Decided(lambda _: Finding(other), "x")})
    found = parts.judge(None)
    assert (found.verdict, found.detail[:19]) == (expected, "late: inconclusive.")


def test_numbers_are_the_worst_parts_and_the_detail_is_of_all() -> None:
    parts = {"one": part(Verdict.HOLDS, measured=1.0), "two": part(Verdict.VIOLATED, measured=2.0)}
    found = Parts(parts, note=lambda run: f"Of {run}.").judge("this")
    assert found.measured == 2.0
    assert found.detail == "one: holds. said holds. two: violated. said violated. Of this."


def test_what_no_part_measured_is_left_out_once() -> None:
    parts = {"one": part(Verdict.HOLDS, left_out="a"), "two": part(Verdict.VIOLATED, left_out="b")}
    unsaid = part(Verdict.NOT_APPLICABLE, left_out="c")
    assert Parts(parts | {"three": part(Verdict.HOLDS, left_out="a"), "no": unsaid}).judge(None).left_out == "a, b"


def test_what_holds_is_as_sure_as_its_least_sure_part_and_a_violation_as_its_own() -> None:
    sure, less = part(Verdict.HOLDS), part(Verdict.HOLDS, Evidence.FLOAT64)
    unsaid = part(Verdict.NOT_APPLICABLE, Evidence.FLOAT64)
    assert Parts({"a": sure, "b": less}).judge(None).evidence is Evidence.FLOAT64
    assert Parts({"a": sure, "b": unsaid}).judge(None).evidence is Evidence.EXACT
    assert Parts({"a": less, "b": part(Verdict.VIOLATED)}).judge(None).evidence is Evidence.EXACT


def test_a_part_that_fails_shows_its_curve_under_its_name() -> None:
    holds, fails = (
        part(verdict, curve=Curve([1], [at])) for verdict, at in ((Verdict.HOLDS, 1.0), (Verdict.VIOLATED, 2))
    )
    two = Parts({"one": holds, "two": fails, "three": part(Verdict.VIOLATED, curve=Curve([1], [3.0]))})
    assert two.judge(None).curve == Curve([1], [2.0], part="two")
    assert Parts({"all": two}).judge(None).curve == Curve([1], [2.0], part="all, two")
    assert Parts({"one": holds, "two": holds}).judge(None).curve is None
