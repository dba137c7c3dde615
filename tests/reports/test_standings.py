"""What is known of each statement: proofs that are there, counterexamples that are, and what was hunted."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from marginaudit.reports import LEDGER, Claim
from marginaudit.reports.audit.ledger import PAPERS
from marginaudit.reports.counterexample import counterexample_shown
from marginaudit.reports.judgements import Bounded
from marginaudit.reports.paper import Paper
from marginaudit.reports.standing import Severity, Standing, Status
from tests.command_line import Command
from tests.pages import ROOT


def test_a_proved_statement_without_a_proof_is_none() -> None:
    with pytest.raises(ValueError, match="names its proof"):
        Standing(status=Status.PROVED)


def test_a_refuted_statement_says_how_badly_it_fails() -> None:
    for known in ({"status": Status.REFUTED}, {"severity": Severity.CONSTANT}):
        with pytest.raises(ValueError, match="a refuted statement, and no other, has a severity"):
            Standing(**known)


def test_a_claim_of_ones_own_is_open_and_was_not_hunted() -> None:
    judgement = Bounded(measure=lambda run: run, upper=lambda run, t: t)
    mine = Claim(id="mine", source="me", statement="s", formula="f", assumptions=(), judgement=judgement)
    assert mine.standing == Standing(status=Status.OPEN, hunted=0)
    with pytest.raises(ValueError, match=r"claim mine: got 'proved' as standing, expected a Standing"):
        replace(mine, standing="proved")  # type: ignore[arg-type]


def test_the_command_says_how_each_statement_stands(command: Command) -> None:
    listed = {entry["id"]: entry for entry in command.json("claims")}
    assert set(listed) == set(LEDGER)
    floor = listed["ntp.theorem2.floor"]
    assert floor["standing"] == "refuted"
    assert floor["hunted"] == 1
    path = Path(floor["counterexample"])
    assert path.read_text(encoding="utf-8").startswith("{")
    assert json.loads(path.read_text(encoding="utf-8"))["name"] == "ntp.theorem2.floor"
    direction = listed["ntp.theorem1.direction"]
    assert direction["counterexample"] == LEDGER["ntp.theorem1.direction"].standing.formula
    lemma = command.json("claims", "sharp.lemma6")
    assert lemma == listed["sharp.lemma6"]
    assert (lemma["standing"], lemma["proof"]) == ("proved", "docs/proofs.md#5-sharplemma6")
    assert (lemma["counterexample"], lemma["settles"]) == (None, None)
    assert listed["snap.theorem5.any-step"]["settings"] == {"lr_y": 100.0}


def test_only_a_paper_that_makes_a_claim_ships_its_counterexample() -> None:
    ntp, snap = PAPERS[:2]
    claim = LEDGER["ntp.theorem2.floor"]
    assert isinstance(ntp, Paper)
    assert counterexample_shown(ntp, claim) is not None
    assert counterexample_shown(snap, claim) is None


def test_the_readme_says_what_the_cards_say() -> None:
    found = (ROOT / "README.md").read_text(encoding="utf-8").partition("## What it found")[2].partition("\n#")[0]
    bullets = [" ".join(bullet.split()) for bullet in re.findall(r"^- (.*(?:\n  .*)*)", found, re.M)]
    assert len(bullets) == 5
    assert set(bullets) <= {claim.standing.wrong for claim in LEDGER.values()}
