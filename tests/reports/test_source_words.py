"""What the source says word for word: each printed statement has it, and each of this project's names a printed one."""

import html
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from marginaudit.reports import LEDGER
from marginaudit.reports.page.typeset import typeset_html
from marginaudit.reports.source_words import MOST_WORDS, UNQUOTED, SourceWords, corrected
from tests.command_line import Command


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


def test_a_claim_of_ones_own_need_not_quote_and_says_what_its_words_have_to_be() -> None:
    claim = replace(LEDGER["ntp.lemma6"], source_words=SourceWords())
    assert claim.source_words == UNQUOTED
    assert corrected("ntp.lemma6", "so").reading == "so"
    with pytest.raises(ValueError, match=r"claim ntp.lemma6: got 'so' as source_words, expected SourceWords"):
        replace(claim, source_words="so")  # type: ignore[arg-type]


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
