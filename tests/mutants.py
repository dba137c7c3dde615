"""Make small mistakes in the code and say which of them the tests miss.

Each mistake is made in a copy of the tree, on which the test files nearest to the module run: those that bear its
name, then those that import it most often. A survivor is a mistake that they missed: write the test, or see that
nothing can depend on it. The score is a lower bound, as farther files might notice.
"""

import argparse
import ast
import copy
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("orders", "margins", "training", "claims", "reports")
LEFT_OUT = shutil.ignore_patterns(".*", "__pycache__", "build", "dist", "*.egg-info", "audit-report", "_build")
LONGEST = 900
"""Seconds for the tests of one mistake; beyond it they count as red."""

OTHER_OPERATORS: dict[type[ast.AST], tuple[type[ast.AST], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Add: (ast.Sub,),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Div,),
    ast.Div: (ast.Mult,),
    ast.FloorDiv: (ast.Mult,),
    ast.Mod: (ast.Mult,),
    ast.Pow: (ast.Mult,),
    ast.BitAnd: (ast.BitOr,),
    ast.BitOr: (ast.BitAnd,),
    ast.And: (ast.Or,),
    ast.Or: (ast.And,),
}
SWAPPED = dict(
    pair
    for a, b in (("min", "max"), ("minimum", "maximum"), ("floor", "ceil"), ("any", "all"), ("lower", "upper"))
    for pair in ((a, b), (b, a))
)
STRONGER = {"FLOAT64": "CERTIFIED", "CERTIFIED": "EXACT"}
ERROR_BAR = re.compile(r"(^|_)(error|radius|rounding|tolerance)(_|$)", re.IGNORECASE)
GUARDS_OF_THE_PROGRAMMER = {"strict", "frozen", "slots", "eq", "order", "repr", "kw_only"}


@dataclass(frozen=True)
class Mutant:
    """A mistake in a module: what stood there, what stands there now, and the module's whole text with it."""

    module: str
    line: int
    before: str
    after: str
    text: str


def mutants(module: str, text: str) -> Iterator[Mutant]:
    """Every mistake in a module; docstrings, annotations, messages and imports are left alone."""
    starts = [0]
    encoded = text.encode()
    for line in encoded.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    for node, other in _mistakes(ast.parse(text)):
        first = starts[node.lineno - 1] + node.col_offset
        last = starts[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0)
        before = encoded[first:last].decode()
        after = "pass" if other is None else f"({ast.unparse(other)})"
        mutated = encoded[:first].decode() + after + encoded[last:].decode()
        yield Mutant(module, node.lineno, " ".join(before.split()), after, mutated)


def _mistakes(tree: ast.AST) -> Iterator[tuple[ast.expr | ast.stmt, ast.expr | None]]:
    """Pairs of a node and what replaces it; None drops a statement."""
    for node in _code(tree):
        if isinstance(node, ast.Compare):
            for i, operator in enumerate(node.ops):
                for other in OTHER_OPERATORS[type(operator)]:
                    yield node, _with(node, "ops", [*node.ops[:i], other(), *node.ops[i + 1 :]])
        elif isinstance(node, ast.BinOp | ast.BoolOp):
            for other in OTHER_OPERATORS.get(type(node.op), ()):
                yield node, _with(node, "op", other())
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub):
            yield node, node.operand
        elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
            yield node, ast.Constant(not node.value)
        elif isinstance(node, ast.Constant) and isinstance(node.value, int | float):
            for value in {2 * node.value, node.value + 1, type(node.value)(0)} - {node.value}:
                yield node, ast.Constant(value)
        elif isinstance(node, ast.Attribute) and getattr(node.value, "id", "") == "Evidence" and node.attr in STRONGER:
            yield node, _with(node, "attr", STRONGER[node.attr])
        elif isinstance(node, ast.Call):
            name = "attr" if isinstance(node.func, ast.Attribute) else "id"
            if (called := getattr(node.func, name, "")) in SWAPPED:
                yield node, _with(node, "func", _with(node.func, name, SWAPPED[called]))
        elif isinstance(node, ast.If | ast.IfExp | ast.While) and getattr(node.test, "id", "") != "TYPE_CHECKING":
            yield node.test, ast.UnaryOp(ast.Not(), node.test)
            if isinstance(node, ast.If) and isinstance(node.body[-1], ast.Raise | ast.Return | ast.Continue):
                yield node.test, ast.Constant(False)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            yield node, None
        for name, bar in _named(node):
            if ERROR_BAR.search(name) and not isinstance(bar, ast.Constant | ast.Tuple):
                yield bar, ast.BinOp(ast.Constant(0.5), ast.Mult(), bar)


def _named(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """What a node gives a name to: the targets of an assignment, the keywords of a call."""
    if isinstance(node, ast.Assign):
        for target in node.targets:
            yield getattr(target, "id", getattr(target, "attr", "")), node.value
    elif isinstance(node, ast.Call):
        for keyword in node.keywords:
            yield keyword.arg or "", keyword.value


def _code(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes of code that does something."""
    if isinstance(node, ast.Import | ast.ImportFrom | ast.Raise | ast.JoinedStr | ast.arg):
        return
    if isinstance(node, ast.keyword) and node.arg in GUARDS_OF_THE_PROGRAMMER:
        return
    yield node
    for name, value in ast.iter_fields(node):
        if name not in ("annotation", "returns"):
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    yield from _code(child)


def _with(node: ast.expr, field: str, value: object) -> ast.expr:
    changed = copy.copy(node)
    setattr(changed, field, value)
    return changed


def nearest(tree: Path, module: str, most: int) -> list[str]:
    """The module's doctests, and the files of tests that bear its name or import it, most mentions first."""
    dotted = "marginaudit." + module.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    parent, _, name = dotted.rpartition(".")
    imports = re.compile(
        rf"(from {re.escape(dotted)} import|import {re.escape(dotted)}\b"
        rf"|from {re.escape(parent)} import (\([^)]*|.*)\b{name}\b)"
    )
    room = tree / "tests" / Path(module).parent
    scores = []
    for path in sorted((tree / "tests").rglob("test_*.py")):
        text = path.read_text(encoding="utf-8")
        own = path.name == f"test_{Path(module).stem}.py"
        if own or imports.search(text):
            near = len(os.path.commonpath([path, room]))
            scores.append((not own, -near, -len(re.findall(rf"\b{name}\b", text)), str(path.relative_to(tree))))
    beside = [str(path.relative_to(tree)) for path in sorted(room.glob("test_*.py"))] if room.is_dir() else []
    files = list(dict.fromkeys([*(score[-1] for score in sorted(scores)), *beside]))
    return [dotted, *files[:most]]


class Tree:
    """A copy of the working tree that is imported in its stead, by links of the packages' names on PYTHONPATH."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "tree"
        shutil.copytree(ROOT, self.folder, ignore=LEFT_OUT)
        names = folder / "names" / "marginaudit"
        names.mkdir(parents=True)
        for path in (*(self.folder / name for name in PACKAGES), *(self.folder / "package").glob("*.py")):
            (names / path.name).symlink_to(path)
        self.environment = os.environ | {"PYTHONPATH": str(names.parent), "PYTHONDONTWRITEBYTECODE": "1"}

    def red(self, tests: list[str], kernels: Path) -> str | None:
        """The first red test, or None; kernels are compiled into that folder."""
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-n", "0", "-p", "no:cacheprovider", *tests]
        environment = self.environment | {"NUMBA_CACHE_DIR": str(kernels)}
        try:
            run = subprocess.run(
                command, cwd=self.folder, env=environment, capture_output=True, text=True, timeout=LONGEST, check=False
            )
        except subprocess.TimeoutExpired:
            return "timeout"
        if run.returncode in (0, pytest.ExitCode.NO_TESTS_COLLECTED):  # a file of slow tests alone
            return None
        found = re.search(r"^(?:FAILED|ERROR) (\S+)", run.stdout, re.MULTILINE)
        return found[1] if found else (run.stdout + run.stderr).strip().rpartition("\n")[2]

    def try_one(self, mutant: Mutant, tests: list[str]) -> str | None:
        """The test that notices the mutant, or None; a mistake in training meets no kernel compiled without it."""
        path = self.folder / mutant.module
        text = path.read_bytes()
        try:
            path.write_text(mutant.text, encoding="utf-8")
            with tempfile.TemporaryDirectory() as fresh:
                kept = self.folder.parent / "kernels"
                return self.red(tests, Path(fresh) if mutant.module.startswith("training/") else kept)
        finally:
            path.write_bytes(text)


def modules(targets: list[str]) -> list[str]:
    """The modules that the targets name; all of them where there is no target."""
    paths = [ROOT / target for target in targets or PACKAGES]
    if wrong := [path for path in paths if not path.exists()]:
        raise SystemExit(f"got {wrong[0]}, expected a module or folder of {', '.join(PACKAGES)}")
    files = [file for path in paths for file in (sorted(path.rglob("*.py")) if path.is_dir() else [path])]
    return [str(file.relative_to(ROOT)) for file in dict.fromkeys(files)]


def main() -> None:
    """Draw a sample, try each mistake, print the survivors and the score."""
    parser = argparse.ArgumentParser(prog="make mutants", description=__doc__.partition("\n")[0])
    parser.add_argument("target", nargs="*", help="a module or folder, such as margins or margins/exact.py")
    parser.add_argument("--sample", type=int, default=40, help="how many mistakes; default 40")
    parser.add_argument("--seed", type=int, default=0, help="of the sample; default 0")
    parser.add_argument("--nearest", type=int, default=6, help="files of tests that a mistake meets; default 6")
    chosen = parser.parse_args()
    every = [m for name in modules(chosen.target) for m in mutants(name, (ROOT / name).read_text(encoding="utf-8"))]
    sample = random.Random(chosen.seed).sample(every, min(chosen.sample, len(every)))
    survived, green = 0, set()
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        tree = Tree(Path(folder))
        for number, mutant in enumerate(sample, start=1):
            tests = nearest(tree.folder, mutant.module, chosen.nearest)
            if mutant.module not in green and (red := tree.red(tests, Path(folder) / "kernels")):
                raise SystemExit(f"{red} is red on the unchanged tree")
            green.add(mutant.module)
            by = tree.try_one(mutant, tests)
            survived += by is None
            print(f"[{number}/{len(sample)}] {mutant.module}:{mutant.line} {by or 'SURVIVED'}", flush=True)
            if by is None:
                print(f"    - {mutant.before}\n    + {mutant.after}", flush=True)
    print(f"{len(sample) - survived} of {len(sample)} noticed by the nearest {chosen.nearest} files of tests")


if __name__ == "__main__":
    main()
