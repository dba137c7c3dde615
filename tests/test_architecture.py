"""The rules of the house that `make lint` does not hold by itself; its contracts are in pyproject.toml."""

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

import grimp
import networkx as nx
import pytest

from marginaudit.reports.audit.ledger import PAPERS

ROOT = Path(__file__).parent.parent
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PACKAGES = ("claims", "margins", "orders", "reports", "training")
ROOMS = {path.parent.name for path in ROOT.glob("orders/*/__init__.py")}
"""The papers: whatever is a room of `orders`."""


def paper_free() -> Iterator[Path]:
    """The modules outside of the papers' rooms, without the one that lists the papers."""
    for package in PACKAGES:
        for path in (ROOT / package).rglob("*.py"):
            place = path.relative_to(ROOT)
            if place.parts[1] not in ROOMS and place.as_posix() != "reports/audit/ledger.py":
                yield path


def texts(module: ast.AST) -> Iterator[str]:
    """The strings of a module that are no docstrings: what stands alone as a statement is one."""
    for node in ast.walk(module):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Constant) and isinstance(child.value, str) and not isinstance(node, ast.Expr):
                yield child.value


@pytest.fixture(scope="module")
def graph() -> grimp.ImportGraph:
    """Our modules and the libraries that they import."""
    return grimp.build_graph("marginaudit", include_external_packages=True, cache_dir=None)


def test_no_module_imports_itself_by_way_of_others(graph: grimp.ImportGraph) -> None:
    imports = nx.DiGraph(
        (module, imported) for module in graph.modules for imported in graph.find_modules_directly_imported_by(module)
    )
    assert len(imports) > 100
    assert [sorted(circle) for circle in nx.strongly_connected_components(imports) if len(circle) > 1] == []


def test_a_plain_installation_has_all_that_is_imported(graph: grimp.ImportGraph) -> None:
    """Three modules need more: the pytest plugin, sweeps on a cluster, and problems of PEPit."""
    declared = {
        re.match(r"[\w-]+", dependency)[0].lower().replace("-", "_")  # type: ignore[index]
        for dependency in SETTINGS["project"]["dependencies"]
    }
    names = packages_distributions()
    plugin = "marginaudit.reports.bound_constants.plugin"
    undeclared = {
        module: graph.find_modules_that_directly_import(module)
        for module in graph.modules
        if not module.startswith("marginaudit") and module not in sys.stdlib_module_names
        if declared.isdisjoint(name.lower().replace("-", "_") for name in names.get(module, [module]))
    }
    problems = "marginaudit.margins.worst_case.from_pepit"
    assert undeclared == {"pytest": {plugin}, "dask": {"marginaudit.reports.study.cluster"}, "PEPit": {problems}}
    assert graph.find_modules_that_directly_import(plugin) == set()


def test_the_solver_and_the_compiler_are_imported_when_they_are_needed() -> None:
    code = (
        "import sys, marginaudit.training.ntp, marginaudit.reports; sys.exit(bool({'cvxpy', 'numba'} & {*sys.modules}))"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_an_audit_imports_the_claims_of_one_paper(tmp_path: Path) -> None:
    arguments = ["audit", "example-1", "--claim", "ntp.lemma2", "--steps1", "5", "--steps2", "5", "--jobs", "1"]
    code = (
        "import sys; from marginaudit.reports.command.cli import cli\n"
        f"assert cli.main({arguments}, standalone_mode=False) == 0\n"
        "found = {paper for paper in ('ntp', 'snap') if f'marginaudit.claims.{paper}.theorems' in sys.modules}\n"
        "sys.exit(found != {'ntp'})"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=tmp_path)


def test_every_paper_has_its_contract() -> None:
    contracts = SETTINGS["tool"]["importlinter"]["contracts"]
    protected = [contract for contract in contracts if contract["name"].startswith("Only ")]
    assert {name for contract in protected for name in contract["protected_modules"]} == {
        f"marginaudit.**.{room}" for room in ROOMS
    }
    lists = "marginaudit.reports.audit.ledger"
    assert all(contract["allowed_importers"] == [*contract["protected_modules"], lists] for contract in protected)
    assert {paper.name for paper in PAPERS} <= ROOMS


def test_what_knows_no_paper_names_no_module_of_one() -> None:
    modules = {f"marginaudit.{package}.{room}" for package in PACKAGES for room in ROOMS}
    naming = [
        f"{path.relative_to(ROOT)}: {text}"
        for path in paper_free()
        for text in texts(ast.parse(path.read_text(encoding="utf-8")))
        if any(text == module or text.startswith(f"{module}.") for module in modules)
    ]
    assert naming == []


def test_no_module_imports_a_private_name_of_another() -> None:
    """Nor a test; `make lint` sees only those that are reached by a dot."""
    private = [
        f"{path.relative_to(ROOT)}: {name.name}"
        for folder in (*PACKAGES, "tests", "docs", "examples", "benchmarks")
        for path in (ROOT / folder).rglob("*.py")
        if re.search(r"import .*\b_[a-zA-Z]|^    _\w+,$", text := path.read_text(encoding="utf-8"), re.MULTILINE)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.ImportFrom)
        for name in node.names
        if re.match("_[^_]", name.name)
    ]
    assert private == []


def test_nothing_is_decided_by_the_text_of_an_id() -> None:
    """A claim's paper and form are fields; only a statement's name for readers is made from its id."""
    parsing = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for package in (*PACKAGES, "docs")
        for path in (ROOT / package).rglob("*.py")
        if path != ROOT / "reports/page/theorems.py"
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and re.search(r"\b(id|claim)\.(startswith|endswith|\w*partition|r?split)$", ast.unparse(node.func))
    ]
    assert parsing == []


def test_what_is_kept_of_a_run_is_kept_by_the_run() -> None:
    """A cache of a module's own keeps runs alive, and their training with them; `once_a_run` does not."""
    kept = [
        f"{path.relative_to(ROOT)}: {function.name}"
        for package in ("claims", "reports")
        for path in (ROOT / package).rglob("*.py")
        for function in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(function, ast.FunctionDef) and [argument.arg for argument in function.args.args][:1] == ["run"]
        for decorator in function.decorator_list
        if "cache" in ast.unparse(decorator)
    ]
    assert kept == []


def test_a_relative_comparison_says_what_it_tolerates_near_zero() -> None:
    """`pytest.approx` alone takes all numbers below 1e-12 as equal: rounding bounds, late direction errors, losses."""
    silent = []
    for path in sorted((ROOT / "tests").rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)) if "rel=" in text else ():
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.approx":
                given = {keyword.arg for keyword in node.keywords}
                if "rel" in given and "abs" not in given:
                    silent.append(f"{path.name}:{node.lineno}")
    assert silent == []


def test_each_line_of_the_thorough_tests_names_some() -> None:
    for line in (ROOT / "tests" / "thorough.txt").read_text(encoding="utf-8").split():
        path, *names = line.partition("[")[0].split("::")
        assert (ROOT / path).exists(), line
        text = (ROOT / path).read_text(encoding="utf-8") if names else ""
        assert all(re.search(rf"^ *(def|class) {name}\b", text, re.MULTILINE) for name in names), line
