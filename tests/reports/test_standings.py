"""What is known of each statement, and what its source says word for word."""

import html
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from marginaudit.reports import LEDGER, Claim
from marginaudit.reports.audit.ledger import PAPERS
from marginaudit.reports.counterexample import counterexample_shown
from marginaudit.reports.judgements import Bounded
from marginaudit.reports.page.typeset import typeset_html
from marginaudit.reports.source_words import MOST_WORDS, Form, SourceWords
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


def test_a_claim_of_ones_own_is_open_was_not_hunted_and_need_not_quote() -> None:
    judgement = Bounded(measure=lambda run: run, upper=lambda run, t: t)
    mine = Claim(id="mine", source="me", statement="s", formula="f", assumptions=(), judgement=judgement)
    assert (mine.standing, mine.source_words) == (Standing(status=Status.OPEN, hunted=0), SourceWords())
    for name, expected in (("standing", "a Standing"), ("source_words", "SourceWords")):
        with pytest.raises(ValueError, match=f"claim mine: got 'so' as {name}, expected {expected}"):
            replace(mine, **{name: "so"})  # type: ignore[arg-type]


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
    assert counterexample_shown(ntp, claim) is not None
    assert counterexample_shown(snap, claim) is None


def test_the_readme_says_what_the_cards_say() -> None:
    found = (ROOT / "README.md").read_text(encoding="utf-8").partition("## What it found")[2].partition("\n#")[0]
    bullets = [" ".join(bullet.split()) for bullet in re.findall(r"^- (.*(?:\n  .*)*)", found, re.M)]
    of = {claim.standing.wrong: claim for claim in LEDGER.values() if claim.source_words.form is Form.PRINTED}
    assert len(bullets) >= 5
    for paper in ("ntp", "snap"):
        told = [of[bullet].standing.gravity for bullet in bullets if of[bullet].paper == paper]
        assert told == sorted(told)


# the source's words


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (
            {"quotation": "word " * (MOST_WORDS + 1), "place": "here"},
            "of 26 words, expected at most 25",
        ),
        ({"quotation": "It is so."}, "got no place of 'It is so.', expected one"),
        ({"reading": 3}, "got 3 as reading, expected text"),
    ],
)
def test_what_no_report_can_hold_is_refused(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        SourceWords(**fields)


def test_the_command_and_the_page_tell_them(command: Command, tmp_path: Path) -> None:
    listed = {entry["id"]: entry for entry in command.json("claims")}
    for name, claim in LEDGER.items():
        words = claim.source_words
        told = tuple(listed[name][key] for key in ("quotation", "place", "reading", "corrects"))
        assert told == tuple(text or None for text in (words.quotation, words.place, words.reading, words.corrects))
    out = str(tmp_path / "report")
    assert command("audit", "example-1", "--steps1", "3", "--steps2", "3", "--out", out).status == 0
    page = html.unescape((tmp_path / "report" / "report.html").read_text(encoding="utf-8"))
    for name in ("ntp.theorem3.prediction", "ntp.lemma7", "sharp.lemma6"):
        words = LEDGER[name].source_words
        for text in (words.quotation, words.place, words.reading):
            assert html.unescape(typeset_html(text)) in page
    assert re.search(r'beside, <a class="mono" href="#ntp.lemma6">ntp\.(<wbr>)?lemma6</a>:', page)
