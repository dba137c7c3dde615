"""Expressions of a map, such as ``k.weight[0:8].T @ q.weight[0:8] / sqrt(8)``, parsed and evaluated without eval.

- names of tensors, quoted where they are no names of Python joined by points
- slices ``[0:8]``, ``[8:16, :]``, ``[2]``, ``[:, None]``; the transpose ``.T``
- the matrix product ``@``; ``*`` and ``/`` with a number; ``+`` and ``-``
- numbers, ``sqrt(..)``, parentheses
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from marginaudit.orders import InputError, shown
from marginaudit.training.weight_files.operations import (
    Expression,
    Leaf,
    Value,
    added,
    divided,
    matrix_product,
    named,
    number,
    root,
    scaled,
    sliced,
    transposed,
)

TOKEN = re.compile(
    r"""\s*(?:(?P<name>[A-Za-z_]\w*(?:\.\w+)*|\d+(?:\.\w+)*\.[A-Za-z_]\w*(?:\.\w+)*)
    |(?P<number>\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+)
    |"(?P<quoted>[^"]+)"
    |(?P<symbol>\.T\b|[@*/+\-\[\]():,]))""",
    re.VERBOSE,
)

DEEPEST = 40
"""Deepest nesting of parentheses."""

LONGEST = 2000
"""Longest expression, in characters."""


@dataclass(frozen=True, eq=False)
class Parsed:
    """A parsed expression.

    Attributes
    ----------
    of_parts : callable
        From the values of the parts to that of the expression.
    parts : from a tensor or a slice of one, as written, to its name and the expression of the part in it
    plain : bool
        Whether it is a part of a tensor, possibly transposed.
    """

    of_parts: Expression
    parts: Mapping[str, tuple[str, Expression]]
    plain: bool

    @property
    def names(self) -> tuple[str, ...]:
        """The tensors in order of first use."""
        return tuple(dict.fromkeys(name for name, _ in self.parts.values()))

    def part(self, leaf: Leaf, key: str) -> Value:
        """The value of a part, from those of tensors."""
        return self.parts[key][1](leaf)

    def evaluate(self, leaf: Leaf) -> Value:
        """The value of the expression, from those of tensors."""
        return self.of_parts(lambda key: self.part(leaf, key))


def parse(where: str, text: str) -> Parsed:
    """Parse an expression.

    Raises
    ------
    InputError
        The text is no expression.
    """
    if len(text) > LONGEST:
        raise InputError(where, got=f"{len(text)} characters", expected=f"at most {LONGEST}")
    parser = _Parser(where, text)
    found = parser.sum()
    parser.end()
    return Parsed(found, parser.parts, parser.plain)


def total(where: str, terms: Sequence[Parsed]) -> Parsed:
    """The sum of expressions."""
    of_parts = terms[0].of_parts
    for one in terms[1:]:
        of_parts = added(where, of_parts, one.of_parts, 1.0)
    return Parsed(of_parts, {key: part for one in terms for key, part in one.parts.items()}, plain=False)


class _Parser:
    """Recursive descent: sum, product, factor, postfix."""

    def __init__(self, where: str, text: str) -> None:
        self.where, self.text, self.at, self.depth = where, text, 0, 0
        self.parts: dict[str, tuple[str, Expression]] = {}
        self.plain = True
        self.kind, self.token = "", ""
        self.advance()

    def advance(self) -> str:
        """Read the next token; return the current one."""
        last, rest = self.token, self.text[self.at :]
        match = TOKEN.match(rest)
        if match is None or match.lastgroup is None:
            self.kind, self.token = ("end", "") if not rest.strip() else ("unknown", rest.strip())
        else:
            self.kind, self.token = match.lastgroup, match[match.lastgroup]
            self.at += match.end()
            while self.kind == "name" and self.token.endswith(".T"):  # read again as transposes
                self.token, self.at = self.token.removesuffix(".T"), self.at - len(".T")
        return last

    def accept(self, *symbols: str) -> str:
        """Read one of the symbols if it is next; else return ""."""
        return self.advance() if self.kind == "symbol" and self.token in symbols else ""

    def expect(self, symbol: str) -> None:
        if not self.accept(symbol):
            self.fail(repr(symbol))

    def end(self) -> None:
        if self.kind != "end":
            self.fail("an operator or the end")

    def fail(self, expected: str) -> NoReturn:
        got = shown(self.token) if self.token else "the end"
        raise InputError(self.where, got=f"{got} in {shown(self.text.strip())}", expected=expected)

    def sum(self) -> Expression:
        self.depth += 1
        if self.depth > DEEPEST:
            self.fail(f"at most {DEEPEST} nested parentheses")
        found = self.product()
        while symbol := self.accept("+", "-"):
            self.plain = False
            found = added(self.where, found, self.product(), -1.0 if symbol == "-" else 1.0)
        self.depth -= 1
        return found

    def product(self) -> Expression:
        found = self.factor()
        while symbol := self.accept("@", "*", "/"):
            self.plain = False
            operation = {"@": matrix_product, "*": scaled, "/": divided}[symbol]
            found = operation(self.where, found, self.factor())
        return found

    def factor(self) -> Expression:
        sign = 1.0
        while symbol := self.accept("-", "+"):
            sign = -sign if symbol == "-" else sign
        found = self.atom()
        while symbol := self.accept(".T", "["):
            found = transposed(found) if symbol == ".T" else sliced(self.where, found, self.slices())
        self.plain &= sign > 0
        return found if sign > 0 else scaled(self.where, number(-1.0), found)

    def atom(self) -> Expression:
        if self.kind == "number":
            return number(float(self.advance()))
        if self.kind == "quoted":
            return self.tensor(self.advance())
        if self.accept("("):
            found = self.sum()
            self.expect(")")
            return found
        if self.kind != "name":
            self.fail("a tensor's name, a number or '('")
        name = self.advance()
        if name == "sqrt" and self.accept("("):
            found = self.sum()
            self.expect(")")
            return root(self.where, found)
        return self.tensor(name)

    def tensor(self, name: str) -> Expression:
        """A tensor, or a part of it if slices follow."""
        key, part = name, named(name)
        begin = self.at - len(self.token) if self.kind != "end" else self.at
        while self.accept("["):
            part = sliced(self.where, part, self.slices())
            end = self.at - len(self.token) if self.kind != "end" else self.at
            key = f"{name}{self.text[begin:end].strip()}"
        self.parts[key] = name, part
        return named(key)

    def slices(self) -> tuple[Any, ...]:
        found = [self.slice()]
        while self.accept(","):
            found.append(self.slice())
        self.expect("]")
        return tuple(found)

    def slice(self) -> Any:
        if self.kind == "name" and self.token == "None":
            self.advance()
            return None
        first = self.index()
        if not self.accept(":"):
            if first is None:
                self.fail("an index, a slice such as 0:8, or None")
            return first
        return slice(first, self.index())

    def index(self) -> int | None:
        if self.kind != "number" or not self.token.isdigit():
            return None
        return int(self.advance())
