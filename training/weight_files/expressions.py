"""Expressions of a map, such as ``k.weight[0:8].T @ q.weight[0:8] / sqrt(8)``, parsed and evaluated without eval.

- names of tensors, quoted where they are no names of Python joined by points
- slices ``[0:8]``, ``[8:16, :]``, ``[2]``, ``[:, None]``; the transpose ``.T``
- the matrix product ``@``; ``*`` and ``/`` with a number; ``+`` and ``-``
- numbers, ``sqrt(..)``, parentheses

A value carries a bound on its rounding, entry by entry: of a tensor u |x|, u the unit roundoff of its precision, and of
A @ B, for errors dA and dB, |A| dB + dA |B| + dA dB. float64's own rounding of this evaluation is added.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, NoReturn, TypeAlias

import numpy as np

from marginaudit.orders import InputError, shown
from marginaudit.orders.arrays import UNIT_ROUNDOFF, Floats

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


class Gradient(NamedTuple):
    """The gradient of a loss in a value, a bound on its rounding, and the unit roundoff of its computation."""

    value: Floats
    rounding: Floats
    u: float


Back: TypeAlias = Callable[[Gradient], None]
"""Passes the gradient of a loss on to the tensors of a value."""


def _stop(gradient: Gradient) -> None:
    """Ignore the gradient in a number."""


class Value(NamedTuple):
    """An array or a number, a bound on its rounding, entry by entry, and the way back to its tensors."""

    value: Floats
    rounding: Floats
    back: Back = _stop


Leaf: TypeAlias = Callable[[str], Value]
"""From a tensor's name to its value."""

Expression: TypeAlias = Callable[[Leaf], Value]


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
        of_parts = _added(where, of_parts, one.of_parts, 1.0)
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
            found = _added(self.where, found, self.product(), -1.0 if symbol == "-" else 1.0)
        self.depth -= 1
        return found

    def product(self) -> Expression:
        found = self.factor()
        while symbol := self.accept("@", "*", "/"):
            self.plain = False
            operation = {"@": _matrix_product, "*": _scaled, "/": _divided}[symbol]
            found = operation(self.where, found, self.factor())
        return found

    def factor(self) -> Expression:
        sign = 1.0
        while symbol := self.accept("-", "+"):
            sign = -sign if symbol == "-" else sign
        found = self.atom()
        while symbol := self.accept(".T", "["):
            found = _transposed(found) if symbol == ".T" else _sliced(self.where, found, self.slices())
        self.plain &= sign > 0
        return found if sign > 0 else _scaled(self.where, _number(-1.0), found)

    def atom(self) -> Expression:
        if self.kind == "number":
            return _number(float(self.advance()))
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
            return _root(self.where, found)
        turns = 0
        while name.endswith(".T"):
            name, turns = name.removesuffix(".T"), turns + 1
        found = self.tensor(name)
        return _transposed(found) if turns % 2 else found

    def tensor(self, name: str) -> Expression:
        """A tensor, or a part of it if slices follow."""
        key, part = name, _named(name)
        begin = self.at - len(self.token) if self.kind != "end" else self.at
        while self.accept("["):
            part = _sliced(self.where, part, self.slices())
            end = self.at - len(self.token) if self.kind != "end" else self.at
            key = f"{name}{self.text[begin:end].strip()}"
        self.parts[key] = name, part
        return _named(key)

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


def _named(key: str) -> Expression:
    return lambda leaf: leaf(key)


def _number(number: float) -> Expression:
    return lambda leaf: Value(np.array(number), np.array(0.0))


def _with_own_rounding(value: Floats, rounding: Floats, back: Back) -> Value:
    return Value(value, rounding + UNIT_ROUNDOFF * np.abs(value), back)


def _shapes(*values: Value) -> str:
    return " and ".join("x".join(map(str, one.value.shape)) or "a number" for one in values)


def _summed(array: Floats, shape: tuple[int, ...]) -> Floats:
    """The sum over the axes along which an array of a shape was broadcast."""
    array = array.sum(axis=tuple(range(array.ndim - len(shape))))
    return np.asarray(array.sum(axis=tuple(i for i, n in enumerate(shape) if n == 1), keepdims=True).reshape(shape))


def _passed(to: Value, gradient: Gradient, factor: Floats | float = 1.0, off: Floats | float = 0.0) -> None:
    """Pass ``factor`` times the gradient to a value that may have been broadcast; ``off`` bounds the factor's error."""
    value, rounding, u = gradient
    found, shape = value * factor, to.value.shape
    many = max(1, value.size // max(1, to.value.size)) + 2
    bound = rounding * np.abs(factor) + np.abs(value) * off + many * u * np.abs(found)
    to.back(Gradient(_summed(found, shape), _summed(bound, shape), u))


def _added(where: str, one: Expression, other: Expression, sign: float) -> Expression:
    def evaluate(leaf: Leaf) -> Value:
        a, b = one(leaf), other(leaf)

        def back(gradient: Gradient) -> None:
            _passed(a, gradient)
            _passed(b, gradient, sign)

        try:
            return _with_own_rounding(a.value + sign * b.value, a.rounding + b.rounding, back)
        except ValueError:
            raise InputError(where, got=f"a sum of {_shapes(a, b)}", expected="equal shapes") from None

    return evaluate


def _matrix_product(where: str, one: Expression, other: Expression) -> Expression:
    def evaluate(leaf: Leaf) -> Value:
        a, b = one(leaf), other(leaf)
        if not (a.value.ndim == b.value.ndim == 2 and a.value.shape[1] == b.value.shape[0]):
            raise InputError(where, got=f"a product of {_shapes(a, b)}", expected="matrices of equal inner size")
        size, of_b = np.abs(a.value), np.abs(b.value)

        def back(gradient: Gradient) -> None:
            value, off, u = gradient
            rows, columns = value.shape
            off_a = off @ of_b.T + np.abs(value) @ (b.rounding + (columns + 1) * u * of_b).T
            off_b = size.T @ off + (a.rounding + (rows + 1) * u * size).T @ np.abs(value)
            a.back(Gradient(value @ b.value.T, off_a, u))
            b.back(Gradient(a.value.T @ value, off_b, u))

        rounding = size @ b.rounding + a.rounding @ (of_b + b.rounding)
        return Value(a.value @ b.value, rounding + len(b.value) * UNIT_ROUNDOFF * (size @ of_b), back)

    return evaluate


def _scaled(where: str, one: Expression, other: Expression) -> Expression:
    def evaluate(leaf: Leaf) -> Value:
        a, b = one(leaf), other(leaf)
        if a.value.ndim and b.value.ndim:
            raise InputError(where, got=f"* of {_shapes(a, b)}", expected="a number on one side, or @")

        def back(gradient: Gradient) -> None:
            _passed(a, gradient, b.value, b.rounding)
            _passed(b, gradient, a.value, a.rounding)

        rounding = np.abs(a.value) * b.rounding + a.rounding * (np.abs(b.value) + b.rounding)
        return _with_own_rounding(a.value * b.value, rounding, back)

    return evaluate


def _divided(where: str, one: Expression, other: Expression) -> Expression:
    def evaluate(leaf: Leaf) -> Value:
        a, b = one(leaf), other(leaf)
        least = np.abs(b.value) - b.rounding
        if b.value.ndim or least <= 0:
            got = _shapes(b) if b.value.ndim else "0"
            raise InputError(where, got=f"a division by {got}", expected="a number other than 0")
        found = a.value / b.value
        rounding = (a.rounding + np.abs(found) * b.rounding) / least

        def back(gradient: Gradient) -> None:
            _passed(a, gradient, 1 / b.value, b.rounding / least**2)
            _passed(b, gradient, -found / b.value, (rounding + np.abs(found) * b.rounding / least) / least)

        return _with_own_rounding(found, rounding, back)

    return evaluate


def _root(where: str, one: Expression) -> Expression:
    def evaluate(leaf: Leaf) -> Value:
        a = one(leaf)
        if a.value.ndim or a.value < 0:
            raise InputError(where, got=f"sqrt of {_shapes(a)}", expected="sqrt of a number from 0 on")
        return Value(np.array(math.sqrt(a.value)), np.array(0.0))

    return evaluate


def _transposed(one: Expression) -> Expression:
    def evaluate(leaf: Leaf) -> Value:
        a = one(leaf)
        return Value(a.value.T, a.rounding.T, lambda of: a.back(Gradient(of.value.T, of.rounding.T, of.u)))

    return evaluate


def _sliced(where: str, one: Expression, at: tuple[Any, ...]) -> Expression:
    def evaluate(leaf: Leaf) -> Value:
        a = one(leaf)
        sizes, axes = iter(a.value.shape), [index for index in at if index is not None]
        for index, size in zip(axes, [next(sizes, 0) for _ in axes], strict=True):
            last = index + 1 if isinstance(index, int) else size if index.stop is None else index.stop
            first = (index.start or 0) if isinstance(index, slice) else index
            if not 0 <= first < last <= size:
                raise InputError(where, got=f"a slice to {last} of {_shapes(a)}", expected=f"one inside its {size}")

        def back(gradient: Gradient) -> None:
            value, rounding = np.zeros_like(a.value), np.zeros_like(a.value)
            value[at], rounding[at] = gradient.value, gradient.rounding
            a.back(Gradient(value, rounding, gradient.u))

        return Value(a.value[at], a.rounding[at], back)

    return evaluate
