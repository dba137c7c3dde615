"""`audit --controls`: a planted twin of each claim, a control; the datasets that a condition excludes."""

import json
from fractions import Fraction
from pathlib import Path

import pytest

from marginaudit.claims import Claim, Verdict
from marginaudit.claims.judgements import Bounded
from marginaudit.claims.ntp import Config, Run
from marginaudit.claims.paper import Paper
from marginaudit.orders.ntp import CASES
from marginaudit.reports.audit.ledger import LEDGER, PAPERS
from marginaudit.reports.audit.planted import SUFFIX, planted_twin, with_controls
from marginaudit.reports.counterexample import broken_without
from tests.command_line import SHORT, Command
from tests.reports.logbook.test_logbook import CLAIMS, texts


def test_a_twin_is_another_statement_without_a_proof() -> None:
    claim = LEDGER["ntp.prop2.closed-form"]
    twin = planted_twin(claim)
    assert twin is not None
    assert (twin.id, twin.control_of, twin.form.value) == (f"{claim.id}{SUFFIX}", claim.id, "control")
    assert (twin.standing.status.value, twin.decided_by, twin.implications) == ("open", None, ())
    run = Run(CASES["example-1"](), Config(steps1=30, steps2=30))
    assert (claim.judge(run).verdict, twin.judge(run).verdict) == (Verdict.HOLDS, Verdict.VIOLATED)


@pytest.mark.parametrize("name", ["ntp.prop1.direction", "ntp.theorem3.order"])
def test_twins_of_a_quantity_of_zero_and_of_a_last_decade(name: str) -> None:
    twin = planted_twin(LEDGER[name])
    assert twin is not None
    assert twin.judge(Run(CASES["example-1"](), Config())).verdict is Verdict.VIOLATED


def test_a_twin_on_an_instance_that_has_no_hash() -> None:
    bounded = Bounded(lambda x: Fraction(x["a"]), upper=lambda *_: 2)
    twin = planted_twin(Claim(id="mine", source="", statement="", judgement=bounded))
    assert twin is not None
    assert [twin.judgement.judge({"a": value}).verdict for value in (1, 1.5)] == [Verdict.VIOLATED] * 2


def test_no_twin_of_a_variant_or_of_a_controlled_claim() -> None:
    known = with_controls(LEDGER.values())
    planted = [claim for claim in known if claim.id.endswith(SUFFIX)]
    assert len(planted) > 60
    assert all(LEDGER[claim.control_of].form.value in ("printed", "own") for claim in planted)
    assert with_controls(known) == known


def test_controls_on_the_pages_of_a_logbook(command: Command) -> None:
    chosen = ("--claim", "ntp.prop2.closed-form", "--claim", "ntp.prop1.norm")
    assert (
        command("audit", "example-1", *SHORT, *chosen, "--controls", "--export", "logbook", "--out", "out").status == 0
    )
    document = json.loads(Path("out/report.json").read_text(encoding="utf-8"))
    rows = {row["claim"]: row for row in document["verdicts"]}
    assert [rows[f"{name}{SUFFIX}"]["verdict"] for name in chosen[1::2]] == ["violated"] * 2
    found = texts(Path("out/logbook"))
    assert [name for name in found if SUFFIX[1:] in name] == []
    pages = [text for name, text in found.items() if name.startswith("claim")]
    assert len(pages) == 2
    assert all("false on purpose: violated, as it should be" in text for text in pages)
    assert command("audit", "example-1", *SHORT, *chosen, "--controls", "--fail-on", "violated").status == 0


def test_ones_own_claims_get_controls_too(command: Command) -> None:
    Path("mine.py").write_text(CLAIMS, encoding="utf-8")
    answer = command("audit", "--claims", "mine.py", "--controls", "--json")
    found = {claim["id"]: claim["control_of"] for claim in json.loads(answer.out)["claims"]}
    assert found == {
        "mine.false": None,
        "mine.true": None,
        "mine.twin": "mine.true",
        "mine.false.planted": "mine.false",
    }


@pytest.mark.parametrize("paper", PAPERS)
def test_datasets_without_an_assumption_break_it(paper: Paper) -> None:
    found = [(claim, broken_without(paper, claim)) for claim in paper.claims]
    broken = [(claim, name, data) for claim, of_claim in found for name, data in of_claim.items()]
    assert len(broken) > 20
    kind = paper.kind
    for claim, name, data in broken:
        assert name in claim.asked
        if name in kind.assumptions:
            dataset = kind.from_document(data, "here", "here")
            assert not kind.check(dataset, name).holds
