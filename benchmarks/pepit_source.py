"""Source of PEPit's examples, compiled with exact literals, divisions and square roots."""

import ast
import importlib.util
import pkgutil
import re
from fractions import Fraction
from math import isqrt, sqrt
from pathlib import Path
from typing import Any

import PEPit.examples

from marginaudit.margins.worst_case.scalar import RationalFloat, meant


def divided(a: Any, b: Any) -> Any:
    """a/b, rational for integers."""
    return RationalFloat(Fraction(a, b)) if isinstance(a, int) and isinstance(b, int) else a / b


def root(a: Any) -> Any:
    """The square root, rational if it is."""
    exact = meant(a) if isinstance(a, int | float) else None
    if exact is None or exact < 0:
        return sqrt(a)
    p, q = isqrt(exact.numerator), isqrt(exact.denominator)
    return RationalFloat(Fraction(p, q)) if Fraction(p * p, q * q) == exact else sqrt(a)


class ExactArithmetic(ast.NodeTransformer):
    """Literals as rationals; divisions and square roots of rationals as rationals."""

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        """Replace a float."""
        if not isinstance(node.value, float):
            return node
        return ast.Call(ast.Name("RationalFloat", ast.Load()), [ast.Constant(repr(node.value))], [])

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        """Replace a division."""
        self.generic_visit(node)
        if not isinstance(node.op, ast.Div):
            return node
        return ast.Call(ast.Name("divided", ast.Load()), [node.left, node.right], [])

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Replace a square root."""
        self.generic_visit(node)
        if "sqrt" in (getattr(node.func, "id", ""), getattr(node.func, "attr", "")):
            node.func = ast.Name("root", ast.Load())
        return node


def compiled(source: str, name: str) -> Any:
    """The source with exact arithmetic."""
    tree = ExactArithmetic().visit(ast.parse(source))
    return compile(ast.fix_missing_locations(tree), name, "exec")


def examples() -> list[str]:
    """Modules of PEPit's examples."""
    found = pkgutil.walk_packages(PEPit.examples.__path__, "PEPit.examples.")
    return [module.name for module in found if not module.ispkg and not module.name.endswith("example_template")]


def loaded(name: str) -> tuple[Any, dict[str, Any], list[Any]]:
    """An example's function, its module's names, and the compiled statements of its docstring."""
    spec = importlib.util.find_spec(name)
    path = Path(str(spec and spec.origin))
    namespace: dict[str, Any] = {
        "RationalFloat": RationalFloat, "divided": divided, "root": root, "__name__": name
    }  # fmt: skip
    exec(compiled(path.read_text(encoding="utf-8"), str(path)), namespace)
    function = next(value for key, value in namespace.items() if key.startswith("wc_"))
    lines = re.findall(r"^\s*>>> (.*)$", function.__doc__ or "", re.MULTILINE)
    source = "\n".join(lines)
    return function, namespace, [compiled(ast.unparse(node), "docstring") for node in ast.parse(source).body]
