"""Sixteen float64 numbers that compiled functions compute with as with one: a loop over them stays in registers.

`load`, `store` and `lanes_of` make and keep lanes; +, -, * and / take them, and numbers for all lanes alike. The
compiler makes of each operation as few instructions of the processor as it has.
"""

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core.cgutils import get_or_insert_function
from numba.extending import intrinsic, models, overload, register_model

LANES = np.uint64(16)
"""Without sign, as then an index computed from it cannot be negative, which numba would look into at every use."""

VECTOR = ir.VectorType(ir.DoubleType(), int(LANES))
INTEGERS = ir.VectorType(ir.IntType(64), int(LANES))
PLACES = ir.VectorType(ir.IntType(32), int(LANES))


def lowered(typing: Callable[..., Any]) -> Any:
    """`intrinsic`, for calls without the context that numba adds."""
    return intrinsic(typing)


class LanesType(types.Type):
    """What numba calls them."""

    def __init__(self) -> None:
        super().__init__("Lanes")


lanes = LanesType()


@register_model(LanesType)
class LanesModel(models.PrimitiveModel):
    """One register, or as few as hold them."""

    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, VECTOR)  # type: ignore[no-untyped-call]


def _spread(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    if kind == lanes:
        return value
    number = context.cast(builder, value, kind, types.float64)
    first = builder.insert_element(ir.Constant(VECTOR, ir.Undefined), number, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(first, first, ir.Constant(PLACES, [0] * int(LANES)))


def _of_two(instruction: Any) -> Any:
    @lowered
    def operation(_context: Any, a: Any, b: Any) -> Any:
        def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            both = zip(signature.args, arguments, strict=True)
            return instruction(builder, *(_spread(context, builder, kind, value) for kind, value in both))

        return lanes(a, b), code

    return operation


def _arithmetic(function: Any, instruction: str) -> None:
    operation = _of_two(lambda builder, x, y: getattr(builder, instruction)(x, y, flags=("contract",)))

    def compute(a: Any, b: Any) -> Any:
        return operation(a, b)

    @overload(function)
    def of_lanes(a: Any, b: Any) -> Any:
        return compute if lanes in (a, b) else None


_arithmetic(operator.add, "fadd")
_arithmetic(operator.sub, "fsub")
_arithmetic(operator.mul, "fmul")
_arithmetic(operator.truediv, "fdiv")

smaller = _of_two(lambda builder, x, y: builder.select(builder.fcmp_ordered("<", x, y), x, y))
larger = _of_two(lambda builder, x, y: builder.select(builder.fcmp_ordered(">", x, y), x, y))


@lowered
def lanes_of(_context: Any, value: Any) -> Any:
    """The number in all lanes."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _spread(context, builder, signature.args[0], arguments[0])

    return lanes(value), code


@lowered
def root(_context: Any, value: Any) -> Any:
    """The square root of each."""

    def code(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        kind = ir.FunctionType(VECTOR, [VECTOR])
        return builder.call(get_or_insert_function(builder.module, kind, f"llvm.sqrt.v{LANES}f64"), arguments)

    return lanes(value), code


def _pointer(context: Any, builder: Any, kind: Any, array: Any, at: Any) -> Any:
    data = context.make_array(kind)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [at]), VECTOR.as_pointer())


@lowered
def load(_context: Any, array: Any, at: Any) -> Any:
    """The numbers from ``array[at]`` on."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        found = builder.load(_pointer(context, builder, signature.args[0], *arguments))
        found.align = 8
        return found

    return lanes(array, at), code


@lowered
def store(_context: Any, array: Any, at: Any, value: Any) -> Any:
    """Put them into ``array[at]`` and on."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        into = _pointer(context, builder, signature.args[0], *arguments[:2])
        builder.store(arguments[2], into).align = 8
        return context.get_dummy_value()

    return types.none(array, at, value), code


@lowered
def two_to_lanes(_context: Any, shifted: Any) -> Any:
    """As `two_to`, of each."""

    def code(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        bias, place = (ir.Constant(INTEGERS, [number] * int(LANES)) for number in (1023, 52))
        exponent = builder.add(builder.bitcast(arguments[0], INTEGERS), bias)
        return builder.bitcast(builder.shl(exponent, place), VECTOR)

    return lanes(shifted), code
