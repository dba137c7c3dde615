"""verify, hunt, and audit with --claim through the command line: answers and exit statuses."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from marginaudit.claims import Finding, Verdict
from marginaudit.margins.ntp.verify import verify
from marginaudit.orders import InputError
from marginaudit.orders.ntp import check_assumption, read_dataset
from marginaudit.orders.ntp.assumptions import ASSUMPTION_1, ASSUMPTION_3
from marginaudit.reports.audit.ledger import PAPERS
from marginaudit.reports.hunt import Hunt
from marginaudit.reports.ntp.paper import PAPER
from tests.command_line import Command, dataset_file, strict_json

PLANTED = """
from dataclasses import replace
from marginaudit.reports import LEDGER
from marginaudit.claims import exact_series
from marginaudit.orders.ntp.assumptions import ASSUMPTION_1, ASSUMPTION_3
from marginaudit.claims.judgements import Equal

CLAIMS = [
    replace(
        LEDGER["ntp.prop2.closed-form"],
        id="planted",
        assumptions=(*ASSUMPTION_1, *ASSUMPTION_3),
        judgement=Equal(
            measure=lambda run: exact_series([int(len(run.dataset.relations) > 1)]),
            expected=lambda _: exact_series([0]),
        ),
    )
]
"""

# verify


def test_a_certificate_is_confirmed_and_refused(command: Command, svop: Path) -> None:
    found = command.json("solve", svop, "--certificate", "proof.json")
    answer = command("verify", svop, "proof.json")
    assert (answer.status, answer.err) == (0, "")
    kq = f"kq: optimal, ||W*||^2 = {found['kq']['norm_squared_exact']}"
    assert [line.partition(":")[0] for line in answer.out.splitlines()] == ["confirmed", "confirmed"]
    assert f"confirmed: {kq}, " in answer.out
    confirmed = command.json("verify", svop, "proof.json")
    assert confirmed == {"confirmed": True, "reason": None, "statements": verify(svop, "proof.json")}

    document = strict_json(Path("proof.json").read_text(encoding="utf-8"))
    document["ov"]["norm_squared"] = "7/1"
    dataset_file(svop.parent, document, "lie.json")
    answer = command("verify", svop, "lie.json")
    assert (answer.status, answer.out) == (1, "")
    assert answer.err == "refused: ov: ||W||^2 is 3, stated 7\n"
    answer = command("verify", svop, "lie.json", "--json")
    told = strict_json(answer.out)
    assert (answer.status, told["confirmed"], told["statements"]) == (1, False, [])
    assert answer.err == f"refused: {told['reason']}\n"


def test_a_certificate_of_a_built_in_case_and_of_another_dataset(command: Command, svop: Path) -> None:
    answer = command("solve", "example-1", "--certificate", "proof.json")
    assert (answer.status, answer.err) == (0, "certificate of ov and kq: proof.json; `marginaudit verify` checks it\n")
    assert command("verify", "example-1", "proof.json").status == 0
    other = dataset_file(svop.parent, {"sentences": [list("abcb"), list("bca"), list("cab")]}, "other.json")
    answer = command("verify", other, "proof.json")
    assert (answer.status, answer.out) == (1, "")
    assert answer.err.startswith("refused: ")


# hunt


def test_a_hunt_confirms_what_it_found(command: Command) -> None:
    Path("claims.py").write_text(PLANTED)
    found = command.json("hunt", "planted", "--claims", "claims.py", "--seconds", "60")
    assert (found["claim"], found["without"], found["found"]) == ("planted", None, True)
    assert found["dataset"] == "planted.json"
    assert found["tried"] == sum(found["verdicts"].values()) > 0
    assert found["verdicts"]["violated"] >= 1
    dataset = read_dataset("planted.json")
    assert dataset.name == "planted"
    assert len(dataset.relations) == 2
    assert (dataset.V <= 3, dataset.N <= 2) == (True, True)
    assert all(check_assumption(dataset, name).holds for name in (*ASSUMPTION_1, *ASSUMPTION_3))
    audited = command.json(
        "audit", "planted.json", "--claims", "claims.py", "--only-mine", "--steps1", 3, "--steps2", 3
    )
    assert [(row["claim"], row["verdict"]) for row in audited["verdicts"]] == [("planted", "violated")]
    assert found["certificate"] == "planted.certificate.json"
    assert command("verify", "planted.json", "planted.certificate.json").status == 0
    assert not Path(".hypothesis").exists()


def test_the_seed_of_the_command_line_is_that_of_the_hunt(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    seeds: list[int] = []

    def refuse(*_: object, seed: int, **__: object) -> None:
        seeds.append(seed)
        raise InputError("a hunt", got="a seed", expected="none")

    monkeypatch.setattr("marginaudit.reports.command.hunt.run_hunt", refuse)
    command.refused("hunt", "ntp.theorem2.floor", "--seed", "7")
    assert seeds == [7]


@pytest.mark.parametrize(
    ("claim", "case", "settings", "said"),
    [
        ("snap.theorem5", "snap-single", {}, ""),
        ("snap.theorem5", "snap-single", {"lr_y": 100.0}, ", audited with --lr-y 100.0"),
        ("ntp.lemma4", "example-1", {"certify": 2}, ", audited with --certify 2"),
    ],
)
def test_a_hunt_says_with_which_settings_its_dataset_is_to_be_audited(
    claim: str, case: str, settings: dict[str, Any], said: str, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    [paper] = [paper for paper in PAPERS if claim.startswith(paper.name)]
    dataset = paper.kind.cases[case]()
    found = Hunt(claim, None, paper, None, dataset, Finding(Verdict.VIOLATED), settings)
    monkeypatch.setattr("marginaudit.reports.command.hunt.run_hunt", lambda *_, **__: found)
    assert command("hunt", claim).out.splitlines()[-1] == f"dataset: {claim}.json{said}"
    assert command.json("hunt", claim)["settings"] == settings


@pytest.mark.parametrize(("verdict", "decides"), [("holds", True), ("vacuous", True), ("inconclusive", False)])
def test_a_hunt_says_where_nothing_that_it_tried_could_decide(
    verdict: str, decides: bool, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = Hunt("ntp.theorem2.floor", None, PAPER, verdicts=Counter({verdict: 2}))
    monkeypatch.setattr("marginaudit.reports.command.hunt.run_hunt", lambda *_, **__: found)
    assert ("inconclusive" in command("hunt", "ntp.theorem2.floor").out) != decides


LOOKED = "40 generated datasets, including all enumerated small ones"


@pytest.mark.parametrize(
    ("without", "met", "verdicts", "said"),
    [
        ("injective", 0, {}, f"{LOOKED}: none breaks injective and meets its other assumptions"),
        (None, 0, {}, f"{LOOKED}: none meets its assumptions"),
        (None, 3, {}, f"{LOOKED}: 3 meet its assumptions, but the claim does not apply there"),
        (
            *("injective", 1, {"broken": 1}),
            f"{LOOKED}: 1 breaks injective and meets its other assumptions, but the claim could not be "
            "evaluated there (1 broken)",
        ),
        (None, 5, {"holds": 2}, f"2 datasets of up to V 8 (2 holds), of {LOOKED}"),
    ],
)
def test_a_hunt_says_why_it_tried_nothing(
    without: str | None,
    met: int,
    verdicts: dict[str, int],
    said: str,
    command: Command,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = Hunt(
        *("ntp.lemma4", without, PAPER),
        verdicts=Counter(verdicts),
        largest={"V": 8},
        looked_at=40,
        met=met,
        exhausted=True,
    )
    monkeypatch.setattr("marginaudit.reports.command.hunt.run_hunt", lambda *_, **__: found)
    assert command("hunt", "ntp.lemma4").out == f"no counterexample to ntp.lemma4 in {said}.\n"


def test_an_audit_of_one_papers_claims_takes_its_cases_alone(command: Command) -> None:
    document = command.json("audit", "--claim", "snap.lemma13", "--steps", 10, "--seeds", 2)
    assert {data["paper"] for data in document["datasets"]} == {"snap"}
    assert {row["claim"] for row in document["verdicts"]} == {"snap.lemma13"}
