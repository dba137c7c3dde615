"""SIMD lanes of sixteen float64 numbers for compiled functions, and the blocks of classes that they read.

A step of stage 2 computes the same formulas for each class: sums over its few edges, arithmetic worth two exponentials
per edge, divisions and a root. Loops over classes with inner loops over their 1 to L_max - 1 edges are not vectorised:
the inner loops are short, and outer loops stay scalar. At V = 1000 such a step takes 5 to 6 times as long
(docs/scale.md).

So classes with equally many edges lie in *blocks* of sixteen, the first edges of all, then the second ones, and so on
(`Blocks`). A value of all sixteen is one `lanes`, LLVM's <16 x double>, kept in as few registers as the processor
needs. On lanes

* +, -, * and / work elementwise and broadcast a plain number; a * b + c may be rounded once;
* `larger`, `smaller`, `root` and `two_to` work elementwise;
* `load` and `store` copy from and to consecutive places of an array, without bounds checks;
* `largest_of` is the maximum.

All of these take float64 as well, and `width_of` is the number of lanes of a value. So one kernel serves lanes and
plain loops: its argument ``one`` is ``lanes_of(1.0)`` or ``1.0``, its sums start from ``0.0 * one``, and its strides
are ``width_of(one)``. `CompiledSteps(loss, lanes=False)` selects plain loops: blocks of one class, and automatic
vectorisation only. `tests/training/ntp/steps/test_lanes.py` compares both, `benchmarks/training.py` times both.

Neighbours in a block have different queries if possible: otherwise their sums, written to the same places, would wait
for each other. The order of summation depends on the width alone, not on the machine.

Indices are unsigned, as numba tests every signed one for counting from the end.
"""

import operator
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.core.cgutils import get_or_insert_function
from numba.extending import intrinsic, models, overload, register_model

from marginaudit.orders.jit import compiled
from marginaudit.training.ntp.model.edges import Edges
from marginaudit.training.ntp.steps.iterate import Floats

LANES = 16
NONE = np.uint64(0)


class LanesType(types.Type):
    """The type of lanes in compiled functions."""

    def __init__(self) -> None:
        super().__init__("Lanes")


lanes = LanesType()


@register_model(LanesType)
class LanesModel(models.PrimitiveModel):
    """LLVM representation of lanes: a vector."""

    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _llvm(lanes, ir.DoubleType()))  # type: ignore[no-untyped-call]


def _llvm(kind: Any, number: Any) -> Any:
    return ir.VectorType(number, LANES) if kind == lanes else number


def _constant(kind: Any, number: Any, value: int) -> Any:
    return ir.Constant(_llvm(kind, number), [value] * LANES if kind == lanes else value)


def lowered(typing: Callable[..., Any]) -> Any:
    """`intrinsic`, typed for calls without numba's context argument."""
    return intrinsic(typing)


def _as(context: Any, builder: Any, value: Any, given: Any, kind: Any) -> Any:
    """The value, broadcast to all lanes if ``kind`` is lanes."""
    if given == kind:
        return value
    number = context.cast(builder, value, given, types.float64)
    first = builder.insert_element(ir.Constant(_llvm(lanes, number.type), ir.Undefined), number, ir.IntType(32)(0))
    return builder.shuffle_vector(first, first, _constant(lanes, ir.IntType(32), 0))


def _of_two(instruction: Any) -> Any:
    @lowered
    def operation(_context: Any, a: Any, b: Any) -> Any:
        kind = lanes if lanes in (a, b) else types.float64

        def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            both = zip(arguments, signature.args, strict=True)
            return instruction(builder, *(_as(context, builder, value, given, kind) for value, given in both))

        return kind(a, b), code

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
        return _as(context, builder, arguments[0], signature.args[0], lanes)

    return lanes(value), code


@lowered
def width_of(_context: Any, value: Any) -> Any:
    """Number of lanes of a value."""

    def code(_context: Any, _builder: Any, signature: Any, _arguments: Any) -> Any:
        return ir.IntType(64)(LANES if signature.args[0] == lanes else 1)

    return types.uint64(value), code


@lowered
def root(_context: Any, value: Any) -> Any:
    """The square root."""

    def code(_context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = arguments[0].type
        name = f"llvm.sqrt.{f'v{LANES}' if signature.args[0] == lanes else ''}f64"
        return builder.call(get_or_insert_function(builder.module, ir.FunctionType(kind, [kind]), name), arguments)

    return value(value), code


@lowered
def two_to(_context: Any, shifted: Any) -> Any:
    """2^n of a number whose last bits are those of the integer n, -1023 < n < 1024."""

    def code(_context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind, integer = signature.args[0], ir.IntType(64)
        exponent = builder.add(builder.bitcast(arguments[0], _llvm(kind, integer)), _constant(kind, integer, 1023))
        return builder.bitcast(builder.shl(exponent, _constant(kind, integer, 52)), arguments[0].type)

    return shifted(shifted), code


def _pointer(context: Any, builder: Any, kind: Any, array: Any, at: Any, value: Any) -> Any:
    data = context.make_array(kind)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [at]), _llvm(value, ir.DoubleType()).as_pointer())


@lowered
def load(_context: Any, array: Any, at: Any, like: Any) -> Any:
    """As many numbers as ``like`` has, from ``array[at]`` on."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        found = builder.load(
            _pointer(context, builder, signature.args[0], arguments[0], arguments[1], signature.args[2])
        )
        found.align = 8
        return found

    return like(array, at, like), code


@lowered
def store(_context: Any, array: Any, at: Any, value: Any) -> Any:
    """Write the numbers to ``array[at]`` and on."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        into = _pointer(context, builder, signature.args[0], arguments[0], arguments[1], signature.args[2])
        builder.store(arguments[2], into).align = 8
        return context.get_dummy_value()

    return types.none(array, at, value), code


@compiled
def largest_of(values: Any) -> float:
    """The largest of the numbers."""
    each = np.full(LANES, -np.inf)
    store(each, NONE, values)
    return float(each.max())


class Blocks(NamedTuple):
    """Classes with equally many edges, side by side; padding classes have frequency and ratios 0.

    Attributes
    ----------
    size : (blocks,) array
        Number of edges of a block's classes.
    number, ratio : arrays
        Block by block, merged edge and ratio, shape (size, classes of the block).
    query, frequency : arrays
        Block by block, shape (classes of the block,).
    """

    size: Any
    number: Any
    ratio: Floats
    query: Any
    frequency: Floats


def in_blocks(edges: Edges, number: Any, ratio: Floats, width: int) -> Blocks:
    """The classes in blocks of ``width``; ``number`` and ``ratio`` are (edges,) arrays."""
    size, missing = np.diff(edges.first), len(edges.query)
    begin = np.flatnonzero(np.diff(edges.query, prepend=-1))
    turn = np.arange(missing) - np.repeat(begin, np.diff(begin, append=missing))
    order = np.lexsort((turn, size))
    number, ratio = np.append(number, 0), np.append(ratio, 0.0)
    sizes, numbers, ratios, members = [], [], [], []
    for d in np.unique(size).tolist():
        alike = order[size[order] == d]
        member = np.append(alike, np.full(-len(alike) % width, missing)).reshape(-1, 1, width)
        at = np.minimum(edges.first[member] + np.arange(d)[:, np.newaxis], len(edges))
        sizes.append(np.full(len(member), d))
        numbers.append(number[at].ravel())
        ratios.append(ratio[at].ravel())
        members.append(member.ravel())
    member = np.concatenate(members)
    return Blocks(
        np.concatenate(sizes).astype(np.uint64),
        np.concatenate(numbers).astype(np.uint32),
        np.concatenate(ratios),
        np.append(edges.query, 0)[member].astype(np.uint32),
        np.append(edges.frequency, 0.0)[member],
    )
