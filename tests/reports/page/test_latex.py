r"""Exported LaTeX and BibTeX: what is escaped, how tables are named; `test_engines.py` has TeX set them."""

import re
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bibtexparser.entrypoint import parse_string
from pandas import DataFrame, NaT, Series, Timestamp

from marginaudit import to_latex
from marginaudit.claims.table import Captioned
from marginaudit.orders import InputError
from marginaudit.reports.audit.ledger import PAPERS
from marginaudit.reports.page.exports import references
from marginaudit.reports.page.latex import LONG_COLUMN, LONGEST_LINE, latex
from tests.papers import changed
from tests.third_paper.paper import PAPER as THIRD

ROOT = Path(__file__).parents[3]

NASTY = "a_b & 50% #1 {x} $y$ ~z^ \\w \"q\" <|> [k]* `--' ''! –≤≥ x"

ESCAPED = (
    r"a\_b \& 50\% \#1 \{x\} \$y\$ \textasciitilde{}z\textasciicircum{} \textbackslash{}w "
    r"\textquotedblright{}q\textquotedblright{} \textless{}\textbar{}\textgreater{} {[}k]{*} "
    r"\textasciigrave{}-{}-' '{}'! --$\le$$\ge$ x"
)
"""Each command is in LaTeX's default encoding OT1, which \\textquotedbl is not (LaTeX2e's ltoutenc)."""


def tables(captioned: list[Captioned]) -> list[tuple[str, str, list[str]]]:
    """Caption, label and lines of each table, its header first."""
    form = r"\\caption\{(.*)\} \\label\{tab:(.*)\} \\\\\n\\toprule\n(.*\n)(?:.*\n)*?\\endlastfoot\n((?:.*\n)*?)\\end\{"
    found = re.findall(form, latex(captioned))
    return [(caption, label, (header + body).splitlines()) for caption, label, header, body in found]


def test_text_is_escaped_wherever_it_stands() -> None:
    frame = DataFrame([[NASTY, "-1.5e-07 to 1/3"], ["[x]", "*"]], columns=[NASTY, "n"])
    [(caption, label, lines)] = tables([Captioned(frame, NASTY, (NASTY,), numbers=["n"])])
    assert caption == f"{ESCAPED}. {ESCAPED}."
    assert label == "a-b-50-1-x-y-z-w-q-k-x"
    assert lines == [
        rf"{ESCAPED} & n \\",
        ESCAPED + r" & $-1.5 \times 10^{-7}$ to $1/3$ \\",
        r"{[}x] & {*} \\",
    ]


def test_words_are_to_the_left_numbers_to_the_right_and_long_texts_broken() -> None:
    row = {"a": "x", "n": "1" * (LONGEST_LINE + 1), "b": "y" * LONGEST_LINE, "c": "y" * (LONGEST_LINE + 1), "d": 0.5}
    assert rf"\begin{{longtable}}{{lrl{LONG_COLUMN}r}}" in latex([Captioned(DataFrame([row]), "t", numbers=["n"])])


def test_a_table_without_rows_is_set() -> None:
    assert [lines for _, _, lines in tables([Captioned(DataFrame(columns=["a"]), "t")])] == [[r"a \\"]]


def test_labels_differ() -> None:
    captioned = [Captioned(DataFrame({"a": ["b"]}), name) for name in ("x_y", "x-y", "数")]
    assert [label for _, label, _ in tables(captioned)] == ["x-y", "x-y-2", ""]


def entries(text: str) -> dict[str, Any]:
    found = parse_string(text)
    assert not found.failed_blocks
    return {entry.key: entry for entry in found.entries}


def test_the_references_are_those_that_the_pages_cite() -> None:
    found = entries(references(PAPERS))
    assert set(found) == {"huang2024nonasymptotic", "tian2023scan", "marginaudit"}
    assert all(entry["title"] for entry in found.values())
    assert [entry["eprint"] for entry in found.values() if "eprint" in entry] == ["2409.17335", "2305.16380"]
    texts = [path.read_text(encoding="utf-8") for path in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]]
    cited = {key for text in texts for keys in re.findall(r"\\cite\{([^}]*)\}", text) for key in keys.split(",")}
    assert cited
    assert cited <= set(found)


def test_the_source_of_a_paper_without_an_entry_is_escaped() -> None:
    found = entries(references([changed(THIRD, source="Proofs & {Refutations} 100%")]))
    assert found["third"]["note"] == r"Proofs \& \{Refutations\} 100\%"


# rows of a DataFrame


def body(frame: DataFrame) -> list[str]:
    inside = re.search(r"\\endlastfoot\n(.*)\\end\{longtable\}", to_latex(frame, "c"), re.DOTALL)
    assert inside is not None
    return inside[1].splitlines()


def test_cells_of_any_type() -> None:
    frame = DataFrame(
        {
            "text": Series(["a_b & 50 %", None, "é"], dtype=object),
            "number": [54527.0, np.nan, 1.25e-9],
            "whole": Series([3, None, 10**12], dtype="Int64"),
            "flag": [True, False, True],
            "list": Series([[1, 2], None, {"a": 1}], dtype=object),
        }
    )
    assert body(frame) == [
        r"a\_b \& 50 \% & $54527$ & $3$ & True & {[}1, 2] \\",
        r"-- & -- & -- & False & -- \\",
        r"é & $1.25 \times 10^{-9}$ & $10^{12}$ & True & \{'a': 1\} \\",
    ]


def test_cells_that_are_odd() -> None:
    """Whole numbers beyond float64, arrays, dates, exact numbers; columns of one name; no row."""
    exact = [Decimal("0.10"), Fraction(1, 4)]
    cells = [10**400, np.array([1, 2]), (1, None), Timestamp("2024-05-01"), NaT, *exact, np.inf]
    assert [row.removesuffix(r" \\") for row in body(DataFrame({"any": Series(cells, dtype=object)}))] == [
        *(r"1.000e+400", "{[}1 2]", "(1, None)", "2024-05-01 00:00:00", "--", "0.10", "0.25", "inf")
    ]
    assert body(DataFrame([[1, 2]], columns=["a", "a"])) == [r"$1$ & $2$ \\"]
    assert body(DataFrame({"a": []})) == []


def test_a_verdicts_bound_is_rounded_to_its_safe_side() -> None:
    bounds = [1.01021e-28, 1.01021e-28, 1.01021e-28, 12.3456, 12.3416]
    rows = body(DataFrame({"bound": bounds, "side": ["upper", "lower", None, "lower", "upper"]}))
    assert [row.partition(" &")[0] for row in rows] == [
        *(rf"${digits} \times 10^{{-28}}$" for digits in ("1.011", "1.01", "1.01")),
        *("$12.34$", "$12.35$"),
    ]


def test_long_texts_are_broken_and_columns_in_words() -> None:
    found = to_latex(DataFrame({"detail": ["word " * 20, "word"], "short_text": ["a", "b"]}), "c")
    assert r"\begin{longtable}{p{6.5cm}l}" in found
    assert r"detail & short text \\" in found


@pytest.mark.parametrize("what", [None, [1], {"a": [1]}, Series([1]), DataFrame(index=[1])])
def test_what_is_no_frame_is_refused(what: Any) -> None:
    with pytest.raises(InputError, match=r"to_latex: got .*, expected a DataFrame"):
        to_latex(what, "c")
