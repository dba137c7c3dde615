"""Operations of a map's expressions on values with a bound on their rounding, and their gradients.

A value carries a bound on its rounding, entry by entry: of a tensor u |x|, u the unit roundoff of its precision, and of
A @ B, for errors dA and dB, |A| dB + dA |B| + dA dB. float64's own rounding of this evaluation is added.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from marginaudit.orders import InputError
from marginaudit.orders.arrays import UNIT_ROUNDOFF, Floats

TINY = float(np.finfo(np.float64).tiny)


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


def named(key: str) -> Expression:
    """The tensor, or part of one, of a name."""
    return lambda leaf: leaf(key)


def number(given: float) -> Expression:
    """A constant."""
    return lambda leaf: Value(np.array(given), np.array(0.0))


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


def added(where: str, one: Expression, other: Expression, sign: float) -> Expression:
    """The first plus ``sign`` times the second; shapes are broadcast."""

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


def matrix_product(where: str, one: Expression, other: Expression) -> Expression:
    """The matrix product."""

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


def scaled(where: str, one: Expression, other: Expression) -> Expression:
    """The product with a number on one side."""

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


def divided(where: str, one: Expression, other: Expression) -> Expression:
    """The quotient by a number."""

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


def root(where: str, one: Expression) -> Expression:
    """The square root of a number."""

    def evaluate(leaf: Leaf) -> Value:
        a = one(leaf)
        if a.value.ndim or a.value < 0:
            raise InputError(where, got=f"sqrt of {_shapes(a)}", expected="sqrt of a number from 0 on")
        found, blur = np.sqrt(a.value), np.sqrt(a.rounding)
        rounding = a.rounding / np.maximum(np.maximum(found, blur), TINY)

        def back(gradient: Gradient) -> None:
            least = found - rounding
            _passed(a, gradient, 1 / (2 * found), rounding / (2 * found * least) if least > 0 else np.inf)

        return _with_own_rounding(found, rounding, back)

    return evaluate


def transposed(one: Expression) -> Expression:
    """The transpose."""

    def evaluate(leaf: Leaf) -> Value:
        a = one(leaf)
        return Value(a.value.T, a.rounding.T, lambda of: a.back(Gradient(of.value.T, of.rounding.T, of.u)))

    return evaluate


def sliced(where: str, one: Expression, at: tuple[Any, ...]) -> Expression:
    """The entries at integers, slices and None, all inside the array."""

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
