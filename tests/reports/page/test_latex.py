r"""Exported LaTeX and BibTeX: what is escaped, how tables are cut and named; `test_engines.py` has TeX set them."""

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
from marginaudit.claims.values.grid import Grid
from marginaudit.orders import InputError
from marginaudit.reports.audit.ledger import PAPERS
from marginaudit.reports.page.exports import references
from marginaudit.reports.page.latex import LINES_A_PAGE, LONG_COLUMN, LONGEST_LINE, TABLES_WAITING, latex
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


def tables(grids: list[Grid]) -> list[tuple[str, str, list[str]]]:
    """Caption, label and lines of each table, its header first."""
    form = r"\\caption\{(.*)\}\n\\label\{tab:(.*)\}\n.*\n.*\n\\toprule\n(.*\n)\\midrule\n((?:.*\n)*?)\\bottomrule"
    found = re.findall(form, latex(grids))
    return [(caption, label, (header + body).splitlines()) for caption, label, header, body in found]


def test_text_is_escaped_wherever_it_stands() -> None:
    grid = Grid(NASTY, (NASTY, "n"), ((NASTY, "-1.5e-07 to 1/3"), ("[x]", "*")), (NASTY,), words=frozenset({0}))
    [(caption, label, lines)] = tables([grid])
    assert caption == f"{ESCAPED}. {ESCAPED}."
    assert label == "a-b-50-1-x-y-z-w-q-k-x"
    assert lines == [
        rf"{ESCAPED} & n \\",
        ESCAPED + r" & $-1.5 \times 10^{-7}$ to $1/3$ \\",
        r"{[}x] & {*} \\",
    ]


def test_words_are_to_the_left_numbers_to_the_right_and_long_texts_broken() -> None:
    rows = (("x", "1", "y", "y" * (LONGEST_LINE + 1)),)
    grid = Grid("t", ("a", "b", "c", "d"), rows, (), words=frozenset({0, 2, 3}), long=frozenset({2, 3}))
    assert rf"\begin{{tabular}}{{lrl{LONG_COLUMN}}}" in latex([grid])


def test_a_long_table_is_cut_into_pages() -> None:
    rows = tuple((f"r{number}", str(number)) for number in range(2 * LINES_A_PAGE + 1))
    found = tables([Grid("long", ("a", "n"), rows, ("a note.",), words=frozenset({0}))])
    assert [caption for caption, _, _ in found] == [f"long (part {number} of 3). a note." for number in (1, 2, 3)]
    assert [label for _, label, _ in found] == ["long", "long-2", "long-3"]
    assert [len(lines) - 1 for _, _, lines in found] == [LINES_A_PAGE, LINES_A_PAGE, 1]
    assert [line.split(" & ")[0] for _, _, lines in found for line in lines[1:]] == [name for name, _ in rows]
    [(caption, _, _)] = tables([Grid("long", ("a", "n"), rows[:LINES_A_PAGE], (), words=frozenset({0}))])
    assert caption == "long."


def test_the_lines_of_long_cells_fill_a_page() -> None:
    grid = Grid("t", ("a",), (("a" * (4 * LONGEST_LINE - 1),),) * 20, (), frozenset({0}), long=frozenset({0}))
    assert [len(lines) - 1 for _, _, lines in tables([grid])] == [11, 9]


def test_a_table_without_rows_is_set() -> None:
    assert [lines for _, _, lines in tables([Grid("t", ("a",), (), ())])] == [[r"a \\"]]


def test_labels_differ() -> None:
    grids = [Grid(name, ("a",), (("b",),), ()) for name in ("x_y", "x-y", "数")]
    assert [label for _, label, _ in tables(grids)] == ["x-y", "x-y-2", ""]


def test_tables_that_wait_for_a_page_are_few() -> None:
    written = latex([Grid(f"t{number}", ("a",), (("b",),), ()) for number in range(2 * TABLES_WAITING)])
    between = written.split("\\clearpage\n")
    assert [text.count(r"\begin{table}") for text in between] == [TABLES_WAITING, TABLES_WAITING, 0]


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
    inside = re.search(r"\\midrule\n(.*)\\bottomrule", to_latex(frame, "c"), re.DOTALL)
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
    assert r"\begin{tabular}{p{6.5cm}l}" in found
    assert r"detail & short text \\" in found


@pytest.mark.parametrize("what", [None, [1], {"a": [1]}, Series([1]), DataFrame(index=[1])])
def test_what_is_no_frame_is_refused(what: Any) -> None:
    with pytest.raises(InputError, match=r"to_latex: got .*, expected a DataFrame"):
        to_latex(what, "c")
