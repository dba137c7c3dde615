"""One test a row of the table in docs/logbook.md."""

from pathlib import Path
from typing import Any

import pytest

from marginaudit.claims.verdict import Verdict
from marginaudit.reports.logbook.mapping import Outcome, Rule, outcome_of, rule_of

CLAIM: dict[str, Any] = {
    "id": "mine.bound",
    "form": "printed",
    "control_of": None,
    "quotation": "x is at most 1",
    "statement": "x <= 1",
    "standing": "open",
    "severity": None,
    "proof": None,
    "instead": None,
    "weakest": None,
    "defence": None,
}

REFUTED = CLAIM | {
    "standing": "refuted",
    "proof": "docs/proofs.md#1",
    "severity": "the constant alone",
    "instead": "x <= 2",
    "defence": "The constant is not used",
}

ROW: dict[str, Any] = {
    "claim": "mine.bound",
    "dataset": "a",
    "verdict": "holds",
    "evidence": "float64",
    "premise": "met",
    "control_of": None,
    "scale": "paper",
    "kind": "upper bound",
    "measured": 0.5,
    "bound": 1.0,
    "measured_exact": "",
    "bound_exact": "",
    "detail": "The detail",
}

CONTROL = ROW | {"claim": "mine.control", "control_of": "mine.bound", "verdict": "violated"}

CASES: list[tuple[Rule, Outcome, dict[str, Any], dict[str, Any], dict[str, Any]]] = [
    (Rule.VIOLATED_SURELY, Outcome.FALSIFIED, CLAIM, {"verdict": "violated", "evidence": "exact"}, {}),
    (Rule.VIOLATED_SURELY, Outcome.FALSIFIED, CLAIM, {"verdict": "violated", "evidence": "certified"}, {}),
    (Rule.VIOLATED_SURELY, Outcome.FALSIFIED, CLAIM, {"verdict": "violated", "evidence": "proved"}, {}),
    (Rule.VIOLATED_FIT_REFUTED, Outcome.FALSIFIED, REFUTED, {"verdict": "violated", "kind": "limit"}, {}),
    (Rule.VIOLATED_TWICE, Outcome.FALSIFIED, CLAIM, {"verdict": "violated"}, {"second": "in 60 digits"}),
    (Rule.VIOLATED_FIT, Outcome.INCONCLUSIVE, CLAIM, {"verdict": "violated", "kind": "limit"}, {"second": "again"}),
    (Rule.VIOLATED_FIT, Outcome.INCONCLUSIVE, CLAIM, {"verdict": "violated", "kind": "rate"}, {}),
    (
        Rule.VIOLATED_FIT,
        Outcome.INCONCLUSIVE,
        CLAIM,
        {"verdict": "violated", "evidence": "certified", "kind": "upper bound with a hidden constant"},
        {},
    ),
    (Rule.VIOLATED_ONCE, Outcome.INCONCLUSIVE, CLAIM, {"verdict": "violated"}, {}),
    (Rule.VIOLATED_ONCE, Outcome.INCONCLUSIVE, CLAIM, {"verdict": "violated", "evidence": "sampled"}, {}),
    (
        Rule.CARRIED_OVER,
        Outcome.INCONCLUSIVE,
        CLAIM,
        {"verdict": "violated", "evidence": "exact", "premise": "carried over"},
        {},
    ),
    (Rule.PROVED, Outcome.VERIFIED, CLAIM, {"evidence": "proved", "scale": None}, {"controlled": False}),
    (Rule.PROVED, Outcome.VERIFIED, CLAIM, {"evidence": "exact"}, {"controlled": False, "proved": True}),
    (Rule.PROVED_HERE, Outcome.VERIFIED, REFUTED, {"evidence": "proved"}, {}),
    (Rule.VACUOUS, Outcome.TOY, CLAIM, {"verdict": "vacuous"}, {"proved": True}),
    (Rule.AT_SCALE, Outcome.VERIFIED, CLAIM, {}, {}),
    (Rule.NO_CONTROL, Outcome.TOY, CLAIM, {}, {"controlled": False}),
    (Rule.NO_CONTROL, Outcome.TOY, CLAIM, {"evidence": "proved by its author"}, {"controlled": False}),
    (Rule.REDUCED, Outcome.TOY, CLAIM, {"scale": "reduced"}, {}),
    (Rule.REDUCED, Outcome.TOY, CLAIM, {"scale": None}, {}),
    (Rule.VACUOUS, Outcome.TOY, CLAIM, {"verdict": "vacuous", "evidence": "proved"}, {}),
    (Rule.UNDECIDED, Outcome.INCONCLUSIVE, CLAIM, {"verdict": "inconclusive"}, {}),
    (Rule.BROKEN, Outcome.INCONCLUSIVE, CLAIM, {"verdict": "broken"}, {}),
    (Rule.NOT_APPLICABLE, Outcome.INCONCLUSIVE, CLAIM, {"verdict": "not-applicable"}, {}),
    (Rule.NOT_CHECKED, Outcome.INCONCLUSIVE, CLAIM, {"verdict": "not-checked"}, {}),
]


@pytest.mark.parametrize(("rule", "outcome", "claim", "row", "more"), CASES)
def test_a_row_of_the_table(
    rule: Rule, outcome: Outcome, claim: dict[str, Any], row: dict[str, Any], more: dict[str, Any]
) -> None:
    assert rule_of(claim, ROW | row, **{"controlled": True} | more) is rule
    assert rule.outcome is outcome


def test_every_rule_and_verdict_is_tested() -> None:
    assert {case[0] for case in CASES} == set(Rule)
    assert {(ROW | case[3])["verdict"] for case in CASES} == {verdict.value for verdict in Verdict}


def test_the_table_of_the_page() -> None:
    text = (Path(__file__).parents[3] / "docs" / "logbook.md").read_text(encoding="utf-8")
    for rule in Rule:
        assert f"| {rule.value} | {rule.outcome.value} |" in text


@pytest.mark.parametrize("claim", [CLAIM | {"control_of": "other"}, CLAIM | {"form": "control"}])
def test_a_control_is_no_finding(claim: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="a control"):
        rule_of(claim, ROW | {"verdict": "violated", "evidence": "exact"}, controlled=True)


def test_the_reason_of_a_refutation_names_clause_severity_repair_and_defence() -> None:
    violated = ROW | {"verdict": "violated", "evidence": "exact", "measured_exact": "3/2", "measured": 1.5}
    found = outcome_of(REFUTED, [ROW, violated], [])
    assert found.outcome is Outcome.FALSIFIED
    for part in (
        "measured 3/2, bound 1",
        "x is at most 1.",
        "the constant alone",
        "x <= 2.",
        "The constant is not used.",
    ):
        assert part in found.reason
    found = outcome_of(REFUTED | {"instead": None}, [violated], [], repaired="x <= 3")
    assert "Repaired statement: x <= 3." in found.reason


@pytest.mark.parametrize(
    ("rows", "controls", "outcome"),
    [
        ([ROW], [CONTROL], Outcome.VERIFIED),
        ([ROW], [CONTROL | {"verdict": "holds"}], Outcome.TOY),
        ([ROW], [CONTROL | {"premise": "carried over"}], Outcome.TOY),
        ([ROW, ROW | {"verdict": "violated"}], [CONTROL], Outcome.INCONCLUSIVE),
        ([ROW, ROW | {"verdict": "inconclusive"}], [CONTROL], Outcome.INCONCLUSIVE),
        ([ROW | {"evidence": "proved"}, ROW | {"verdict": "inconclusive"}], [], Outcome.VERIFIED),
        ([ROW, ROW | {"verdict": "inconclusive"}], [], Outcome.INCONCLUSIVE),
        ([ROW, ROW | {"verdict": "not-applicable"}], [], Outcome.TOY),
        ([], [CONTROL], Outcome.INCONCLUSIVE),
    ],
)
def test_several_rows(rows: list[dict[str, Any]], controls: list[dict[str, Any]], outcome: Outcome) -> None:
    assert outcome_of(CLAIM, rows, controls).outcome is outcome


def test_a_second_computation_counts_for_its_dataset() -> None:
    violated = ROW | {"verdict": "violated"}
    assert outcome_of(CLAIM, [violated], [], {"b": "in 60 digits"}).outcome is Outcome.INCONCLUSIVE
    found = outcome_of(CLAIM, [violated], [], {"a": "in 60 digits"})
    assert found.outcome is Outcome.FALSIFIED
    assert "in 60 digits." in found.reason
