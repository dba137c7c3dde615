"""What a step of stage 2 has to do at least, each part by itself, beside reading its arrays once.

Usage: python benchmarks/training_parts.py [V,N]

An exponential an edge; two divisions and a root of a third a class; a look-up of the odds and a sum into the fluxes for
each edge of a piece (classes with the same tokens), and two sums into the Hessian's bounds for each piece; and what a
late step does. Sixteen lanes at a time, as the step itself, on arrays that fit the nearest cache where the step's own
do. One pass over the arrays is taken twice: over what the formulas name of each edge and class, and over what the step
reads. Seconds of the processor, on one thread; medians of rounds that take the parts in turn.
"""

import sys
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from marginaudit.orders.jit import compiled, compiled_contracted
from marginaudit.training.ntp.steps.blocks import Blocks
from marginaudit.training.ntp.steps.compiled import NONE, exp_of_small_share
from marginaudit.training.ntp.steps.lanes import LANES, load, root, store
from training import ROUNDS, Stage2, Steps, megabytes, streaming

PASSES = 20
AT_ONCE = 1024

Floats = NDArray[np.float64]


@compiled_contracted
def exponentials(blocks: Blocks, A: float, values: Floats, out: Floats) -> None:
    """One an edge."""
    for _ in range(len(blocks.ratio) // len(values)):
        for k in range(NONE, np.uint64(len(values)), LANES):
            store(out, k, exp_of_small_share(A * load(values, k)))
        values[0] = out[1]


@compiled_contracted
def divisions_and_roots(blocks: Blocks, A: float, values: Floats, out: Floats) -> None:
    """Two divisions, and a root of a third, a class: of attention, the loss and the Hessian's least eigenvalue."""
    for _ in range(len(blocks.frequency) // len(values)):
        for k in range(NONE, np.uint64(len(values)), LANES):
            value = load(values, k)
            share = 1 / (2 + value)
            scale = share / (1 + value * A)
            store(out, k, root(scale / (value + share)))
        values[0] = out[1]


@compiled
def looking_up(blocks: Blocks, odds: Floats, out: Floats) -> None:
    """The odds of every edge of a piece."""
    at = NONE
    for b in range(len(blocks.size)):
        many = blocks.size[b] * LANES
        for k in range(many):
            out[k] = odds[blocks.number[at + k]]
        at += many


@compiled
def summing(blocks: Blocks, values: Floats, flux: Floats, hessian: Floats) -> None:
    """The flux of every edge of a piece, and two bounds of every piece."""
    at = piece = NONE
    for b in range(len(blocks.size)):
        many = blocks.size[b] * LANES
        for k in range(many):
            flux[blocks.number[at + k]] += values[k]
        for c in range(LANES):
            asked = blocks.query[piece + c]
            hessian[asked, 0] += values[c]
            hessian[asked, 1] += values[c]
        at += many
        piece += LANES


def repeated(work: Callable[[], object]) -> Steps:
    """The work so many times."""

    def run(passes: int) -> None:
        for _ in range(passes):
            work()

    return run


def seconds(work: Steps) -> float:
    """Of the processor, a pass."""
    start = time.process_time()
    work(PASSES)
    return (time.process_time() - start) / PASSES


def compare(V: int, N: int) -> None:
    """Print each part's time, and its share of one pass over the arrays."""
    stage = Stage2(V, N)
    stage.compiled(1)
    arrays = stage._kernel.arrays
    blocks, A = arrays.blocks, float(arrays.A)
    widest = int(blocks.size.max() * LANES)
    values, more = (np.random.default_rng(0).uniform(size=size) for size in (AT_ONCE, widest))
    out = np.empty(max(AT_ONCE, widest))
    odds, flux, hessian = np.ones(len(stage.merged)), np.zeros(len(stage.merged)), np.zeros((V, 2))
    parts: dict[str, Steps] = {
        "exponentials": repeated(lambda: exponentials(blocks, A, values, out)),
        "divisions and roots": repeated(lambda: divisions_and_roots(blocks, A, values, out)),
        "looking up odds": repeated(lambda: looking_up(blocks, odds, out)),
        "summing fluxes and bounds": repeated(lambda: summing(blocks, more, flux, hessian)),
        "a late step: all but the classes": stage.late,
    }
    plain, own = stage.plain_arrays, stage.own_arrays
    sizes = {"one pass over edges and classes": megabytes(plain), "one pass over its own arrays": megabytes(own)}
    whole: dict[str, Steps] = {
        **{name: streaming(arrays) for name, arrays in zip(sizes, (plain, own), strict=True)},
        "a compiled step": stage.compiled,
    }
    for work in parts.values():
        work(1)
    spent: dict[str, list[float]] = {name: [] for name in (*whole, *parts)}
    for _ in range(ROUNDS):
        for name, work in (whole | parts).items():
            spent[name].append(seconds(work))
    median = {name: float(np.median(found)) for name, found in spent.items()}
    passes = [median[name] for name in sizes]
    median["the parts together"] = sum(median[name] for name in parts)
    print(f"V = {V}, N = {N}: {len(stage.edges)} edges of {len(stage.edges.query)} classes\n")
    print("| | MB | us | of one pass | of its own |\n| --- | ---: | ---: | ---: | ---: |")
    for name, value in median.items():
        size = f"{sizes[name]:.1f}" if name in sizes else ""
        print(f"| {name} | {size} | {1e6 * value:.0f} | " + " | ".join(f"{value / once:.2f}" for once in passes) + " |")


if __name__ == "__main__":
    compare(*(int(number) for number in (sys.argv[1] if sys.argv[1:] else "1000,100000").split(",")))
