"""The site that `make docs` builds: no warning, formulas without raw commands, and the anchors that claims name.

Its reference has all that a start, an example and the paper in examples/separable import.
"""

import ast
import html
import re
import subprocess
import sys
from importlib import import_module
from itertools import pairwise
from pathlib import Path

import pytest

from marginaudit.reports import LEDGER
from marginaudit.reports.audit.ledger import PAPERS
from tests.pages import ROOT

DOCS = ROOT / "docs"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    build = ["sphinx", "--quiet", "--nitpicky", "--fail-on-warning", "--keep-going", str(DOCS), str(folder)]
    done = subprocess.run([sys.executable, "-m", *build], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return folder


def test_every_figure_is_documented_as_a_function() -> None:
    page = (DOCS / "api" / "figures.md").read_text(encoding="utf-8")
    drawn = [one.draws for paper in PAPERS for one in paper.figures if one.of != "run"]
    assert len(drawn) > 10
    for draw in drawn:
        assert f".. autofunction:: {draw.__module__}.{draw.__qualname__}\n" in page


@pytest.mark.slow
def test_each_proof_is_where_its_claim_says(site: Path) -> None:
    for claim in LEDGER.values():
        if claim.standing.proof:
            page, _, anchor = claim.standing.proof.partition("#")
            text = (site / Path(page).with_suffix(".html").name).read_text(encoding="utf-8")
            assert f'id="{anchor}"' in text


@pytest.mark.slow
def test_formulas_are_mathml_and_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    proofs = (site / "proofs.html").read_text(encoding="utf-8")
    formulas = re.findall("<math.*?</math>", proofs, re.S)
    assert len(formulas) > 400
    assert [found for found in formulas if "\\" in html.unescape(re.sub("<[^>]*>", "", found))] == []
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert not re.search(r"<(?:script|img|iframe)[^>]*src=\"(?:https?:)?//", text), page
        assert not re.search(r"<link[^>]*href=\"(?:https?:)?//", text), page


@pytest.mark.slow
def test_the_reference_has_what_the_page_of_commands_imports(site: Path) -> None:
    pages = "".join(path.read_text(encoding="utf-8") for path in (site / "api").glob("*.html"))
    imports = re.findall(
        r"^from (marginaudit[\w.]*) import (.*)$", (ROOT / "docs/commands.md").read_text("utf-8"), re.M
    )
    names = [f"{module}.{name}" for module, named in imports for name in named.split(", ")]
    assert len(names) > 3
    assert [name for name in names if f'id="{name}"' not in pages] == []


# The reference

PAGES = {path.stem: path.read_text("utf-8") for path in (ROOT / "docs" / "api").glob("*.md")}

FILES = [
    *sorted((ROOT / "reports" / "starts").glob("[!_]*")),
    *sorted((ROOT / "examples").glob("*.py")),
    *sorted((ROOT / "examples" / "separable").glob("*.py")),
    *sorted((ROOT / "examples" / "separable" / "separable").rglob("*.py")),
]


def documented(module: str) -> set[str]:
    """The names that the reference has of a module: of `__all__`, else what the module defines with a docstring.

    And its own modules that have a part of a page.
    """
    pages = "".join(PAGES.values())
    modules = {*re.findall(rf"automodule:: {re.escape(module)}\.(\w+)\n", pages)}
    block = re.search(rf"automodule:: {re.escape(module)}\n((?:   :.*\n)*)", pages)
    if block is None:  # of `marginaudit` the page of the audit has all, in words
        return {*re.findall(r"`(\w+)`", PAGES["audit"])} if module == "marginaudit" else modules
    excluded = re.search(r":exclude-members: (.*)", block[1])
    found = import_module(module)
    tree = ast.parse(Path(str(found.__file__)).read_text("utf-8")).body
    of_a_line = {
        target.id
        for line, after in pairwise(tree)
        if isinstance(line, ast.Assign | ast.AnnAssign) and isinstance(after, ast.Expr)
        for target in (line.targets if isinstance(line, ast.Assign) else [line.target])
        if isinstance(target, ast.Name)
    }
    defined = {one.name for one in tree if isinstance(one, ast.ClassDef | ast.FunctionDef) and ast.get_docstring(one)}
    left_out = {*(excluded[1].split(", ") if excluded else ())}
    by_hand = {*re.findall(rf"py:data:: {re.escape(module)}\.(\w+)", pages)}
    return {*getattr(found, "__all__", defined | of_a_line)} - left_out | by_hand | modules


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_only_what_the_reference_documents_is_imported(path: Path) -> None:
    imported = {
        (node.module or "", name.name)
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("marginaudit")
        for name in node.names
    }
    assert {(module, name) for module, name in imported if name not in documented(module)} == set()


def test_what_is_undocumented_is_seen() -> None:
    assert {"Kind", "as_document"} <= documented("marginaudit.orders")
    assert "InfeasibleRows" not in documented("marginaudit.margins")
    assert documented("marginaudit.claims.values.json_data") == set()
