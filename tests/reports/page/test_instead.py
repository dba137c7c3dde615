"""What stands in place of a refuted statement: every formula in it is MathML, and none is left in plain letters."""

import html
import re
from dataclasses import replace

import pytest

from marginaudit.reports import LEDGER
from marginaudit.reports.claim import IN_DOLLARS, Claim
from marginaudit.reports.page.html import prose

WITH_INSTEAD = [claim for claim in LEDGER.values() if claim.instead]

PLAIN = re.compile(r"[\^|<>=*\\$]|\w_\w|\b(exp|ln|log|sqrt|eta|theta|gamma|delta|rho)\b|\b[B-Z]\b")
"""What a formula in plain letters has."""


@pytest.mark.parametrize("claim", WITH_INSTEAD, ids=lambda claim: claim.id)
def test_every_formula_is_rendered(claim: Claim) -> None:
    shown = prose(claim.instead)
    assert shown.count("<math ") == len(IN_DOLLARS.findall(claim.instead)) == len(claim.formulas) - 1
    said = re.sub(r'<math [^>]*display="inline"[^>]*>(.*?)</math>', lambda found: found[1], shown)
    assert "\\" not in html.unescape(re.sub("<[^>]*>", "", said))
    between = re.sub("<math .*?</math>", "", shown)
    words = re.sub(r"\b(ntp|snap|sharp)\.[\w.-]+|docs/[\w.-]+", "", html.unescape(between))
    assert PLAIN.search(words) is None, words


def test_refuted_statements_of_both_papers_have_one() -> None:
    assert {claim.id.split(".")[0] for claim in WITH_INSTEAD} == {"ntp", "sharp", "snap"}
    assert len(WITH_INSTEAD) > 20


def test_a_formula_says_what_its_latex_says() -> None:
    shown = prose(r"fewer than $\frac{a}{b}$ & more")
    assert "<mfrac><mi>a</mi><mi>b</mi></mfrac>" in shown
    assert shown.startswith("fewer than <math ")
    assert shown.endswith("</math> &amp; more")
    assert r'alttext="\frac{a}{b}"' in shown


@pytest.mark.parametrize("text", ["costs $5", "<b>x</b>", "a\x1b[31mb", ""])
def test_a_text_without_a_formula_is_a_text(text: str) -> None:
    assert prose(text) == html.escape(text.replace("\x1b", r"\x1b"), quote=False)


def test_formulas_of_a_claim() -> None:
    claim = replace(WITH_INSTEAD[0], formula="f", instead="for $a$ and $b$")
    assert claim.formulas == ("f", "a", "b")
    assert replace(claim, instead="").formulas == ("f",)
