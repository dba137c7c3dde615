"""What the texts of a report hold, cell by cell, and how one file takes the place of another."""

import html
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from marginaudit import audit
from marginaudit.claims.paper import Figure
from marginaudit.claims.values.json_data import finite
from marginaudit.claims.values.numbers import brief
from marginaudit.orders.ntp import CASES
from marginaudit.reports import LEDGER
from marginaudit.reports.audit.auditing import distinct_names
from marginaudit.reports.audit.sources import Source
from marginaudit.reports.ntp.paper import PAPER
from marginaudit.reports.page.files import json_text
from marginaudit.reports.page.html import norm_text, prose
from marginaudit.reports.page.typeset import typeset_html
from marginaudit.reports.page.write import stems_of
from marginaudit.reports.plots.style import drawable


def test_json_has_finite_numbers_only() -> None:
    assert json_text({"é": [1, "\x80", np.nan, np.inf]}) == '{"é":[1,"\\u0080",null,null]}\n'
    assert json_text(["\x7f"]) == '["\\u007f"]\n'
    assert json_text({"a": 1}, indent=2) == '{\n  "a": 1\n}\n'
    found: Any = finite({"a": (np.inf, np.float64(2), np.array([np.nan, 1])), "b": True, "c": np.bool_(False)})
    assert found == {"a": [None, 2.0, [None, 1.0]], "b": True, "c": False}


def test_names_that_give_one_file_name_get_numbers() -> None:
    names = ("a b", "A-b", "a-b-2", "a/b", "c", "fig 1")
    audited = [SimpleNamespace(name=name) for name in names]
    audit: Any = SimpleNamespace(
        audited=audited,
        papers=[SimpleNamespace(figures_of=lambda *_: {"fig-1": Figure("fig-1", print, beside="claim")})],
    )
    assert list(stems_of(audit).values()) == ["a-b", "A-b-2", "a-b-2-2", "a-b-3", "c", "fig-1-2"]


def test_datasets_of_one_name_get_free_numbers() -> None:
    names = ["x", "x", "x-2", "x", "y"]
    told: list[str] = []
    found = distinct_names(
        [Source(replace(CASES["example-1"](), name=name), PAPER, f"file {i}") for i, name in enumerate(names)],
        told.append,
    )
    assert [source.dataset.name for source in found] == ["x", "x-3", "x-2", "x-4", "y"]
    assert [source.origin for source in found] == [f"file {i}" for i in range(5)]
    assert told == [
        f"file {i}: a dataset named x is there already; this one is reported as x-{new}" for i, new in ((1, 3), (3, 4))
    ]


def test_numbers_for_a_reader() -> None:
    assert [brief(x) for x in (None, 0, -3, 9_999_999, 10_000_000, -10_000_000, 2.0, 1 / 3)] == [
        "–",
        "0",
        "-3",
        "9999999",
        "1e+07",
        "-1e+07",
        "2",
        "0.3333",
    ]
    solution = {"status": "optimal", "norm_squared": 2.5, "norm_squared_exact": "5/2"}
    assert norm_text(None) == "–"
    assert norm_text(solution) == "5/2"
    assert norm_text(solution | {"norm_squared_exact": None}) == "2.5"
    assert norm_text(solution | {"status": "infeasible", "norm_squared": None}) == "infeasible"


def test_what_a_logarithmic_axis_shows() -> None:
    np.testing.assert_array_equal(
        drawable([1e200, 1.1e200, -1e201, 1e-200, 0.9e-200, np.inf]), [1e200, np.nan, np.nan, 1e-200, 0, np.nan]
    )


# what is said of a refuted statement, and what stands in its place


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
    claim = replace(LEDGER["ntp.theorem1.direction"], formula="f", instead="for $a$ and $b$")
    assert claim.formulas == ("f", "a", "b")
    assert replace(claim, instead="").formulas == ("f",)
    assert replace(claim, formula="").formulas == ("a", "b")


def test_a_page_says_what_is_wrong_with_a_statement_that_other_data_refute(tmp_path: Path) -> None:
    claim = LEDGER["ntp.theorem1.direction"]
    page = audit("example-1", claims=claim.id, config={"steps2": 10}).save(tmp_path / "report")
    text = page.read_text(encoding="utf-8")
    assert typeset_html(claim.standing.wrong) in text
    assert f"<b>A fair answer:</b> {typeset_html(claim.standing.defence)}" in text
