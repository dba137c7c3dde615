"""What is said of a refuted statement, and what stands in its place: every formula in it is MathML."""

import html
from dataclasses import replace
from pathlib import Path

import pytest

from marginaudit import audit
from marginaudit.reports import LEDGER
from marginaudit.reports.page.html import prose

WITH_INSTEAD = [claim for claim in LEDGER.values() if claim.instead]


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


def test_a_page_says_what_is_wrong_with_a_statement_that_other_data_refute(tmp_path: Path) -> None:
    claim = LEDGER["ntp.theorem1.direction"]
    page = audit("example-1", claims=claim.id, config={"steps2": 10}).save(tmp_path / "report")
    assert f"<p>{claim.standing.wrong}</p>" in page.read_text(encoding="utf-8")
