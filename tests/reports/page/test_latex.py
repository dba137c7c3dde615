r"""Exported LaTeX and BibTeX, read by parsers of their own: what a TeX engine would refuse or print otherwise.

A table is an environment with a caption, a label that no other has, and rows of as many cells as its columns. Commands
are those of LaTeX's kernel in its default encoding OT1 and of booktabs, and text between them says what was to be said.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from bibtexparser.entrypoint import parse_string
from hypothesis import given
from hypothesis import strategies as st
from pylatexenc.latexwalker import (
    LatexCharsNode,
    LatexCommentNode,
    LatexEnvironmentNode,
    LatexGroupNode,
    LatexMacroNode,
    LatexMathNode,
    LatexSpecialsNode,
    LatexWalker,
    LatexWalkerParseError,
    get_default_latex_context_db,
)
from pylatexenc.macrospec import EnvironmentSpec, MacroSpec

from marginaudit.orders import printable
from marginaudit.reports.audit.ledger import PAPERS
from marginaudit.reports.command.cli import main
from marginaudit.reports.grid import Grid
from marginaudit.reports.page.exports import references
from marginaudit.reports.page.latex import LINES_A_PAGE, LONG_COLUMN, LONGEST_LINE, TABLES_WAITING, latex
from tests.command_line import SVOP, dataset_file
from tests.papers import changed
from tests.third_paper.paper import PAPER as THIRD

ROOT = Path(__file__).parents[3]

NASTY = "a_b & 50% #1 {x} $y$ ~z^ \\w \"q\" <|> [k]* `--' ''!` ??"

CHARACTERS = {character: character for character in "&%$#_{}"} | {
    "textbackslash": "\\",
    "textasciitilde": "~",
    "textasciicircum": "^",
    "textasciigrave": "`",
    "textquotedblright": '"',
    "textless": "<",
    "textgreater": ">",
    "textbar": "|",
}
"""Commands of text, with what they print. Each is in OT1, which \\textquotedbl is not (LaTeX2e's ltoutenc)."""

RULES = {"toprule", "midrule", "bottomrule"}

SETTINGS = ["centering", "footnotesize", "caption", "label", "resizebox"]

ARGUMENTS = {"caption": "{", "resizebox": "{{{"}

IN_MATHEMATICS = {"le", "ge", "times", "top"}

FORBIDDEN = '\\{}$&#^_~%"`'
"""Characters that are not themselves in text, or not everywhere."""


def said(nodes: Iterable[Any]) -> str:
    """What a piece of text prints; mathematics as it is written."""
    return "".join(map(_said, nodes))


def _said(node: Any) -> str:
    match node:
        case LatexCharsNode():
            assert not set(node.chars) & set(FORBIDDEN), node.chars
            return str(node.chars)
        case LatexMacroNode():
            return CHARACTERS[node.macroname] + (node.macro_post_space or "")
        case LatexGroupNode():
            assert node.delimiters == ("{", "}")
            return said(node.nodelist)
        case LatexMathNode():
            assert {part.macroname for part in node.nodelist if isinstance(part, LatexMacroNode)} <= IN_MATHEMATICS
            return str(node.latex_verbatim())
        case LatexSpecialsNode() if node.specials_chars == "--":
            return "–"  # of a cell without a value; "--" of a text is two hyphens
    raise AssertionError(f"{type(node).__name__}: {node.latex_verbatim()}")


def read(tex: str) -> list[Any]:
    known = get_default_latex_context_db()
    macros = [MacroSpec(name, spec) for name, spec in ARGUMENTS.items()]
    known.add_context_category("a table's", macros, [EnvironmentSpec("tabular", "[{")], prepend=True)
    nodes, _, _ = LatexWalker(tex, latex_context=known, tolerant_parsing=False).get_latex_nodes()
    return [node for node in nodes if not (isinstance(node, LatexCommentNode) or _empty(node))]


def _empty(node: Any) -> bool:
    return isinstance(node, LatexCharsNode) and not node.chars.strip()


def tables(tex: str) -> Iterator[tuple[str, str, list[list[str]]]]:
    """Caption, label and rows of each table, its header first; an AssertionError where TeX would stumble."""
    for node in read(tex):
        if isinstance(node, LatexMacroNode) and node.macroname == "clearpage":
            continue
        assert isinstance(node, LatexEnvironmentNode)
        assert node.environmentname == "table"
        parts = [part for part in node.nodelist if not _empty(part)]
        assert [part.macroname for part in parts] == SETTINGS
        _, _, caption, label, fitted = parts
        inner = [part for part in fitted.nodeargd.argnlist[-1].nodelist if not isinstance(part, LatexCommentNode)]
        [tabular] = [part for part in inner if not _empty(part)]
        assert tabular.environmentname == "tabular"
        yield said(caption.nodeargd.argnlist), label.nodeargd.argnlist[0].nodelist[0].chars, rows_of(tabular)


def rows_of(tabular: Any) -> list[list[str]]:
    spec = tabular.nodeargd.argnlist[-1].latex_verbatim()[1:-1].replace(LONG_COLUMN, "l")
    assert set(spec) <= {"l", "r"}
    rows: list[list[list[Any]]] = [[[]]]
    rules = []
    for node in tabular.nodelist:
        if isinstance(node, LatexMacroNode) and node.macroname in RULES:
            rules.append((node.macroname, len(rows) - 1))
        elif isinstance(node, LatexMacroNode) and node.macroname == "\\":
            rows.append([[]])
        elif isinstance(node, LatexSpecialsNode) and node.specials_chars == "&":
            rows[-1].append([])
        else:
            rows[-1][-1].append(node)
    for row in rows:
        first = next((node for node in row[0] if node.latex_verbatim().strip()), None)
        assert first is None or not first.latex_verbatim().lstrip().startswith(("[", "*")), (
            "an argument of \\\\ or a rule"
        )
    *whole, rest = [[said(cell).strip() for cell in row] for row in rows]
    assert rest == [""]
    assert rules == [("toprule", 0), ("midrule", 1), ("bottomrule", len(whole))]
    assert {len(row) for row in whole} == {len(spec)}
    return whole


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("latex")
    names = [dataset_file(found, SVOP | {"name": NASTY}), "snap-single"]
    short = ["--steps1", "9", "--steps2", "9", "--steps", "9", "--seeds", "2", "--export", "latex"]
    claims = ["--claim", "ntp.prop*", "--claim", "snap.lemma1"]
    with pytest.raises(SystemExit) as ended:
        main(["audit", *map(str, names), *short, *claims, "--out", str(found / "out")])
    assert ended.value.code == 0
    return found / "out"


def test_every_exported_table_can_be_set(folder: Path) -> None:
    files = sorted((folder / "tables").glob("*.tex"))
    assert {path.stem for path in files} >= {"verdicts", "direction", "proposition2"}
    labels = []
    for path in files:
        text = path.read_text(encoding="utf-8")
        found = list(tables(text))
        assert found
        labels += [label for _, label, _ in found]
    assert len(labels) == len(set(labels))
    assert all(re.fullmatch("tab:[a-z0-9-]+", label) for label in labels)


@given(
    st.lists(st.text(st.characters(codec="utf-8", exclude_characters="–≤≥"), max_size=8), min_size=2, max_size=2),
    st.booleans(),
)
def test_any_text_says_in_latex_what_it_says(texts: list[str], word: bool) -> None:
    one, other = texts
    grid = Grid("t", ("one", "other"), ((one, "x"), (other, "y")), (), words=frozenset({0, 1} if word else {1}))
    [(_, _, (_, *rows))] = tables(latex([grid]))
    for given_text, (shown, _) in zip(texts, rows, strict=True):
        expected = " ".join(printable(given_text).split())
        assert " ".join((shown if word else shown.replace("$", "")).split()) == expected or (not word and "$" in shown)


def test_a_long_table_is_cut_into_pages() -> None:
    rows = tuple((f"r{number}", str(number)) for number in range(2 * LINES_A_PAGE + 1))
    found = list(tables(latex([Grid("long", ("a", "n"), rows, ("a note.",), words=frozenset({0}))])))
    assert [caption for caption, _, _ in found] == [f"long (part {number} of 3). a note." for number in (1, 2, 3)]
    assert [label for _, label, _ in found] == ["tab:long", "tab:long-2", "tab:long-3"]
    assert [len(lines) - 1 for _, _, lines in found] == [LINES_A_PAGE, LINES_A_PAGE, 1]
    assert [line[0] for _, _, lines in found for line in lines[1:]] == [name for name, _ in rows]
    [(caption, _, _)] = tables(latex([Grid("long", ("a", "n"), rows[:LINES_A_PAGE], (), words=frozenset({0}))]))
    assert caption == "long."


def test_the_lines_of_long_cells_fill_a_page() -> None:
    grid = Grid("t", ("a",), (("a" * (4 * LONGEST_LINE - 1),),) * 20, (), frozenset({0}), long=frozenset({0}))
    assert [len(lines) - 1 for _, _, lines in tables(latex([grid]))] == [11, 9]


def test_a_table_without_rows_is_set() -> None:
    assert [rows for _, _, rows in tables(latex([Grid("t", ("a",), (), ())]))] == [[["a"]]]
    assert "\n\n" not in latex([Grid("t", ("a",), (), ())])


def test_labels_differ() -> None:
    grids = [Grid(name, ("a",), (("b",),), ()) for name in ("x_y", "x-y", "数")]
    assert [label for _, label, _ in tables(latex(grids))] == ["tab:x-y", "tab:x-y-2", "tab:"]


def test_tables_that_wait_for_a_page_are_few() -> None:
    written = latex([Grid(f"t{number}", ("a",), (("b",),), ()) for number in range(2 * TABLES_WAITING)])
    between = written.split("\\clearpage\n")
    assert [text.count(r"\begin{table}") for text in between] == [TABLES_WAITING, TABLES_WAITING, 0]


@pytest.mark.parametrize(
    "broken",
    [
        latex([Grid("t", ("a",), (("b",),), ())]).replace(r"\end{tabular}", ""),
        latex([Grid("t", ("a", "b"), (("c", "d"),), (), words=frozenset({0, 1}))]).replace("c & d", "c"),
        latex([Grid("t", ("a",), (("b",),), ())]).replace("b ", "b_c "),
        latex([Grid("t", ("a",), (("b",),), ())]).replace("b ", r"\unknown "),
        latex([Grid("t", ("a",), (("b",),), ())]).replace("b ", "[1em] "),
    ],
    ids=["environment", "cells", "special", "command", "argument"],
)
def test_the_reader_sees_what_tex_would_stumble_over(broken: str) -> None:
    with pytest.raises((LatexWalkerParseError, AssertionError, KeyError, ValueError)):
        list(tables(broken))


def entries(text: str) -> dict[str, Any]:
    found = parse_string(text)
    assert not found.failed_blocks
    return {entry.key: entry for entry in found.entries}


def test_references_can_be_read(folder: Path) -> None:
    found = entries((folder / "tables" / "references.bib").read_text(encoding="utf-8"))
    assert set(found) == {"huang2024nonasymptotic", "tian2023scan", "marginaudit"}
    assert all(entry["title"] for entry in found.values())
    assert [entry["eprint"] for entry in found.values() if "eprint" in entry] == ["2409.17335", "2305.16380"]


def test_the_source_of_a_paper_without_an_entry_is_escaped() -> None:
    found = entries(references([changed(THIRD, source="Proofs & {Refutations} 100%")]))
    nodes, _, _ = LatexWalker(found["third"]["note"], tolerant_parsing=False).get_latex_nodes()
    assert said(nodes) == "Proofs & {Refutations} 100%"


def test_every_citation_of_the_pages_has_its_entry() -> None:
    known = entries(references(PAPERS))
    texts = [path.read_text(encoding="utf-8") for path in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]]
    cited = {key for text in texts for keys in re.findall(r"\\cite\{([^}]*)\}", text) for key in keys.split(",")}
    assert cited
    assert cited <= set(known)
