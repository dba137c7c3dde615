"""The reference has all that a start, an example and the paper in examples/separable import."""

import ast
import re
from importlib import import_module
from itertools import pairwise
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[1]

PAGES = {path.stem: path.read_text("utf-8") for path in (REPOSITORY / "docs" / "api").glob("*.md")}

FILES = [
    *sorted((REPOSITORY / "reports" / "starts").glob("[!_]*")),
    *sorted((REPOSITORY / "examples").glob("*.py")),
    *sorted((REPOSITORY / "examples" / "separable").glob("*.py")),
    *sorted((REPOSITORY / "examples" / "separable" / "separable").rglob("*.py")),
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


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(REPOSITORY)))
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
    assert documented("marginaudit.reports.json_data") == set()
