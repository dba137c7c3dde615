"""The small mistakes that the tests are to notice, as replacements in the text of a module."""

import ast
import re
from dataclasses import dataclass

ERROR_BAR = re.compile(r"(^|_)(error|radius|rounding|tolerance|uncertainty)(_|$)", re.IGNORECASE)

BOUNDARY = {ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">"}
OPPOSITE = {
    ast.Lt: ("<", ">="),
    ast.LtE: ("<=", ">"),
    ast.Gt: (">", "<="),
    ast.GtE: (">=", "<"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
}
ARITHMETIC = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "/"),
    ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "*"),
    ast.Mod: ("%", "*"),
    ast.Pow: ("**", "*"),
    ast.BitAnd: ("&", "|"),
    ast.BitOr: ("|", "&"),
}
EXTREME = {
    one: other
    for a, b in (
        ("min", "max"),
        ("minimum", "maximum"),
        ("argmin", "argmax"),
        ("floor", "ceil"),
        ("any", "all"),
        ("lower", "upper"),
    )
    for one, other in ((a, b), (b, a))
}
UPGRADE = {"FLOAT64": ("CERTIFIED", "EXACT"), "CERTIFIED": ("EXACT",)}
CHECKS_NOTHING_SEEN = {"strict", "frozen", "slots", "eq", "order", "repr"}
"""Keywords whose booleans guard against mistakes of the programmer alone, such as ``zip(strict=True)``."""


@dataclass(frozen=True)
class Mutation:
    """One mistake in one module.

    Attributes
    ----------
    kind : str
    scope : str
        The function or class it is in, as `Class.method`; empty at the top level.
    line : int
    before, after : str
        The lines that change, without their white space: with the module and the scope, the mutation's name.
    source : str
        The whole module with the mistake in it.
    """

    kind: str
    scope: str
    line: int
    before: str
    after: str
    source: str


def mutations(source: str) -> list[Mutation]:
    """Every mutation of a module in the order of the text.

    Left alone are docstrings, type annotations, messages (f-strings, and what a `raise` holds), imports and what is
    for type checkers only.

    >>> sorted((m.kind, m.after) for m in mutations("if x < 1:\\n    raise ValueError"))  # doctest: +ELLIPSIS
    [('boundary', 'if x <= 1:'), ('comparison', 'if x >= 1:'), ('constant', 'if x < 0:'), ..., ('guard', 'if False:')]
    """
    finder = _Finder(source)
    finder.visit(ast.parse(source))
    found = {mutation.source: mutation for mutation in reversed(finder.found)}
    found.pop(source, None)
    return sorted(found.values(), key=lambda mutation: mutation.line)


class _Finder(ast.NodeVisitor):
    """Collects the mutations of a tree."""

    def __init__(self, source: str) -> None:
        self.text = source.encode()
        self.starts = [0]
        for line in self.text.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))
        self.scopes: list[ast.FunctionDef | ast.ClassDef] = []
        self.found: list[Mutation] = []

    # Places in the text

    def _span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self.starts[node.lineno - 1] + node.col_offset, self.starts[node.end_lineno - 1] + node.end_col_offset

    def _segment(self, node: ast.expr) -> str:
        start, end = self._span(node)
        return self.text[start:end].decode()

    def _replace(self, kind: str, span: tuple[int, int], replacement: str) -> None:
        start, end = span
        first = max(i for i, at in enumerate(self.starts) if at <= start)
        last = min(i for i, at in enumerate(self.starts) if at >= end)
        left, right = self.text[self.starts[first] : start], self.text[end : self.starts[last]]
        before = (left + self.text[start:end] + right).decode()
        after = left.decode() + replacement + right.decode()
        mutated = self.text[: self.starts[first]].decode() + after + self.text[self.starts[last] :].decode()
        scope = ".".join(node.name for node in self.scopes)
        self.found.append(Mutation(kind, scope, first + 1, _joined(before), _joined(after), mutated))

    def _between(self, kind: str, left: ast.expr, right: ast.expr, operator: str, other: str) -> None:
        """Another operator between two operands; of the same precedence, as nothing is put in parentheses."""
        start, end = self._span(left)[1], self._span(right)[0]
        gap = self.text[start:end].decode()
        place = re.search(rf"(?<![\w]){re.escape(operator)}(?![\w])", gap)
        if place is not None:
            at = start + len(gap[: place.start()].encode())
            self._replace(kind, (at, at + len(operator)), other)

    # What is left alone

    def visit_Import(self, node: ast.Import) -> None:
        pass

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        pass

    def visit_Raise(self, node: ast.Raise) -> None:
        pass

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        pass

    # Mistakes

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self.scopes.append(node)
        for default in (*node.args.defaults, *node.args.kw_defaults):
            if default is not None:
                self.visit(default)
        for statement in node.body:
            self.visit(statement)
        self.scopes.pop()

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self.scopes.append(node)
        for statement in node.body:
            self.visit(statement)
        self.scopes.pop()

    def visit_Assign(self, node: ast.Assign) -> None:
        for target in node.targets:
            self._halve(_name(target), node.value)
        self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None and "TypeAlias" not in ast.unparse(node.annotation):
            self._halve(_name(node.target), node.value)
            self.visit(node.value)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self._halve(_name(node.target), node.value)
        if type(node.op) in ARITHMETIC:
            operator, other = ARITHMETIC[type(node.op)]
            self._between("arithmetic", node.target, node.value, f"{operator}=", f"{other}=")
        self.generic_visit(node)

    def visit_keyword(self, node: ast.keyword) -> None:
        if node.arg not in CHECKS_NOTHING_SEEN:
            self._halve(node.arg or "", node.value)
            self.visit(node.value)

    def visit_Return(self, node: ast.Return) -> None:
        scope = self.scopes[-1]
        if node.value is not None and isinstance(scope, ast.FunctionDef):
            self._halve(scope.name, node.value)
            if isinstance(scope.returns, ast.Name) and scope.returns.id == "bool":
                for answer in ("True", "False"):
                    self._replace("answer", self._span(node.value), answer)
        self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Call):
            self._replace("dropped call", self._span(node), "pass")
        if not isinstance(node.value, ast.Constant):
            self.generic_visit(node)

    def visit_If(self, node: ast.If) -> None:
        if _name(node.test) == "TYPE_CHECKING":
            return
        if isinstance(node.body[-1], ast.Raise | ast.Return | ast.Continue | ast.Break):
            self._replace("guard", self._span(node.test), "False")
        self._negate(node.test)
        self.generic_visit(node)

    def visit_While(self, node: ast.While) -> None:
        self._negate(node.test)
        self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self._negate(node.test)
        self.generic_visit(node)

    def visit_comprehension(self, node: ast.comprehension) -> None:
        for test in node.ifs:
            self._negate(test)
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        for left, operator, right in zip((node.left, *node.comparators), node.ops, node.comparators, strict=False):
            symbol, other = OPPOSITE[type(operator)]
            if type(operator) in BOUNDARY:
                self._between("boundary", left, right, symbol, BOUNDARY[type(operator)])
            self._between("comparison", left, right, symbol, other)
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        other = " or " if isinstance(node.op, ast.And) else " and "
        self._replace("and, or", self._span(node), f"({other.join(f'({self._segment(v)})' for v in node.values)})")
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.Not):
            self._replace("negation", self._span(node), f"({self._segment(node.operand)})")
        if isinstance(node.op, ast.USub):
            self._replace("arithmetic", self._span(node), f"({self._segment(node.operand)})")
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        if isinstance(node.op, ast.Pow):
            left, right = self._segment(node.left), self._segment(node.right)
            self._replace("arithmetic", self._span(node), f"(({left}) * ({right}))")
        elif type(node.op) in ARITHMETIC:
            self._between("arithmetic", node.left, node.right, *ARITHMETIC[type(node.op)])
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        name = node.func.attr if isinstance(node.func, ast.Attribute) else _name(node.func)
        if name in EXTREME:
            end = self._span(node.func)[1]
            self._replace("extreme", (end - len(name), end), EXTREME[name])
        self.generic_visit(node)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if _name(node.value) == "Evidence":
            for stronger in UPGRADE.get(node.attr, ()):
                self._replace("evidence", self._span(node), f"Evidence.{stronger}")
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, bool):
            self._replace("boolean", self._span(node), str(not node.value))
        elif isinstance(node.value, int | float):
            for other in {2 * node.value: None, node.value + 1: None, type(node.value)(0): None}:
                if other != node.value:
                    self._replace("constant", self._span(node), repr(other))

    def _negate(self, test: ast.expr) -> None:
        """A condition negated, where no other mutation does so."""
        plain = isinstance(test, ast.Compare) and len(test.ops) == 1
        if not plain and not (isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)):
            self._replace("negation", self._span(test), f"(not ({self._segment(test)}))")

    def _halve(self, name: str, value: ast.expr) -> None:
        """An error bar of half the size, where it has one."""
        if ast.unparse(value) in ("float('inf')", "inf", "np.inf", "math.inf"):
            return
        if ERROR_BAR.search(name) and not isinstance(value, ast.Tuple | ast.List | ast.Dict | ast.Lambda):
            if isinstance(value, ast.Constant) and (not isinstance(value.value, float) or value.value == 0):
                return
            self._replace("error bar", self._span(value), f"(0.5 * ({self._segment(value)}))")


def _name(node: ast.expr) -> str:
    """Of a variable or an attribute, the name; else empty."""
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _joined(lines: str) -> str:
    return " ".join(lines.split())
