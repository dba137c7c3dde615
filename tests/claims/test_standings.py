"""What is known of each statement, and what its source says word for word."""

import html
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from marginaudit.claims import Claim
from marginaudit.claims.judgements import Bounded, Decided
from marginaudit.claims.ntp import Config, Run
from marginaudit.claims.quotation import MOST_WORDS, Form, SourceWords
from marginaudit.claims.row import row_from_document
from marginaudit.claims.standing import OPEN, Severity, Standing, Status, proved
from marginaudit.claims.verdict import Evidence, Finding, Verdict
from marginaudit.orders import InputError
from marginaudit.orders.ntp import CASES
from marginaudit.reports import LEDGER
from marginaudit.reports.audit.ledger import PAPERS
from marginaudit.reports.counterexample import counterexample_shown
from marginaudit.reports.page.typeset import typeset_html
from tests.command_line import Command
from tests.pages import ROOT
from tests.papers import changed
from tests.third_paper.paper import PAPER as THIRD
from tests.third_paper.paper import ThirdPaper


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
    found = (ROOT / "README.md").read_text(encoding="utf-8").partition("## Results")[2].partition("\n#")[0]
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


@pytest.fixture
def outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A package with a page of proofs."""
    (tmp_path / "elsewhere/proofs").mkdir(parents=True)
    (tmp_path / "elsewhere/__init__.py").touch()
    page = tmp_path / "elsewhere/proofs/proofs-third.md"
    page.write_text("# Proofs\n\n## 1. `third.below-largest`\n\n## Twice\n\n## Twice\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    return "elsewhere"


def of_third(package: str, place: str) -> ThirdPaper:
    claim = replace(THIRD.claims[0], paper="", standing=proved(place))
    found: ThirdPaper = type("Mine", (ThirdPaper,), {"claims": (claim,), "package": package})()
    return found


@pytest.mark.parametrize("anchor", ["1-thirdbelow-largest", "twice-1"])
def test_what_a_paper_from_elsewhere_proves_is_proved_by_its_author(outside: str, anchor: str) -> None:
    mine = of_third(outside, f"docs/proofs-third.md#{anchor}")
    run = THIRD.run(THIRD.kind.cases["three-numbers"]())
    row = mine.claims[0].judge(run)
    assert (row.verdict.value, row.evidence.value, row.standing) == ("holds", "proved by its author", "proved")
    assert row.detail.startswith("Proved by its author ")
    assert row_from_document(row.as_document(), "row").evidence is Evidence.PROVED_BY_AUTHOR
    assert LEDGER["sharp.lemma6"].judge(Run(CASES["example-1"](), Config(steps2=9))).evidence is Evidence.PROVED


@pytest.mark.parametrize(
    ("package", "place", "said"),
    [
        ("elsewhere", "docs/no-such-page.md#nowhere", "no page proofs/no-such-page.md in its package elsewhere"),
        ("elsewhere", "docs/proofs-third.md#nowhere", "no section nowhere on proofs/proofs-third.md"),
        ("elsewhere", "docs/proofs-third.md", "expected a place such as"),
        ("no_such_package", "docs/proofs-third.md#twice", "no page proofs/proofs-third.md in its package no_such"),
        ("", "docs/proofs-third.md#twice", "in its paper, which names no package"),
    ],
)
def test_a_proof_that_is_not_there_is_an_error(outside: str, package: str, place: str, said: str) -> None:
    with pytest.raises(InputError, match=re.escape(said)) as error:
        of_third(package, place)
    assert str(error.value).startswith(f"claim third.below-largest: got the proof '{place}'")
    built_in = replace(LEDGER["sharp.lemma6"], standing=proved("docs/proofs.md#nowhere"))
    [lemma, *_] = changed(PAPERS[0], claims=(built_in,), figures=()).claims
    with pytest.raises(InputError, match=r"claim sharp\.lemma6: .* no section nowhere on proofs/proofs\.md"):
        lemma.judge(Run(CASES["example-1"](), Config(steps2=9)))


def test_another_statement_inherits_no_standing() -> None:
    lemma, other = LEDGER["ntp.lemma7"], LEDGER["sharp.lemma6"].judgement
    changes: tuple[dict[str, Any], ...] = (
        {"id": "mine"},
        {"statement": "s"},
        {"assumptions": ()},
        {"judgement": other},
    )
    for change in changes:
        twin = replace(lemma, **change)
        assert (twin.standing, twin.implications) == (OPEN, ())
        assert replace(twin, instead="i").standing is OPEN
        given = replace(lemma, **change, standing=replace(lemma.standing), implications=(*lemma.implications,))
        assert (given.standing, given.implications) == (lemma.standing, lemma.implications)
    for same in ({}, {"instead": "i"}, {"source": "s"}):
        assert replace(lemma, **same).standing is lemma.standing  # type: ignore[arg-type]


def test_no_judgement_gives_a_proof() -> None:
    claimed = Decided(lambda _: Finding(Verdict.HOLDS, Evidence.PROVED), "test")
    claim = Claim(id="mine", source="", statement="s", formula="x", assumptions=(), judgement=claimed)
    row = claim.judge(THIRD.run(THIRD.kind.cases["three-numbers"]()))
    assert row.verdict is Verdict.BROKEN
    assert "evidence proved" in row.detail
