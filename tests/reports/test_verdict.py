"""What a finding says where a claim says nothing."""

from dataclasses import asdict

from marginaudit.reports.verdict import Evidence, Finding, Verdict, not_applicable


def test_a_claim_that_says_nothing_of_its_evidence_has_the_weakest() -> None:
    said = asdict(Finding(Verdict.HOLDS))
    assert said.pop("verdict") is Verdict.HOLDS
    assert said.pop("evidence") is list(Evidence)[-1] is Evidence.FLOAT64
    assert said.pop("detail") == said.pop("needs") == ""
    assert said.pop("left_out") == ""
    assert said.pop("beyond_the_run") is False
    assert set(said.values()) == {None}


def test_what_the_tokens_show_by_themselves_is_exact() -> None:
    witness = {"token": "a"}
    found = not_applicable("It fails.", witness)
    assert found == Finding(Verdict.NOT_APPLICABLE, Evidence.EXACT, detail="It fails.", witness=witness)
    assert not_applicable("It fails.").witness is None


def test_the_worst_verdict_is_first() -> None:
    assert list(Verdict) == ["violated", "broken", "inconclusive", "vacuous", "not-applicable", "holds"]
