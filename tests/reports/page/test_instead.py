"""What stands in place of a refuted statement: every formula in it is MathML, and none is left in plain letters."""

import html
from dataclasses import replace

import pytest

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
