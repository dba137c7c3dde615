"""What a step of stage 2 has to do at least, each part by itself, beside reading its arrays once.

Usage: python benchmarks/training_parts.py [V,N]

An exponential, a look-up of the odds and a sum into the fluxes an edge; two divisions, a root of a third and two sums
into the Hessian's bounds a class; and what a late step does: loops that the compiler turns into vector instructions
where it can, on arrays that fit the nearest cache where the step's own do. Seconds of the processor, on one thread;
medians of rounds that take the parts in turn.
"""

import sys
import time
from collections.abc import Callable
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from marginaudit.orders.jit import compiled, compiled_contracted
from marginaudit.training.ntp.steps.compiled import BLOCK, CLASSES, Blocks, exp_of_small
from training import ROUNDS, Stage2, Steps

PASSES = 20

Floats = NDArray[np.float64]


@compiled_contracted
def exponentials(blocks: Blocks, A: float, values: Floats, out: Floats) -> None:
    """One an edge."""
    for _ in range(len(blocks.number) // BLOCK):
        for k in range(BLOCK):
            out[k] = exp_of_small(A * values[k])
        values[0] = out[1]


@compiled_contracted
def divisions_and_roots(blocks: Blocks, A: float, values: Floats, out: Floats) -> None:
    """Two divisions, and a root of a third, a class: of attention, the loss and the Hessian's least eigenvalue."""
    for _ in range(len(blocks.query) // CLASSES):
        for k in range(CLASSES):
            share = 1 / (2 + values[k])
            scale = share / (1 + values[k] * A)
            out[k] = sqrt(scale / (values[k] + share))
        values[0] = out[1]


@compiled
def looking_up(blocks: Blocks, odds: Floats, out: Floats) -> None:
    """The odds of every edge."""
    edge = np.uint64(0)
    for b in range(len(blocks.size)):
        many = blocks.size[b] * blocks.count[b]
        for k in range(many):
            out[k] = blocks.ratio[edge + k] * odds[blocks.number[edge + k]]
        edge += many


@compiled
def summing(blocks: Blocks, values: Floats, flux: Floats, hessian: Floats) -> None:
    """The flux of every edge, and two bounds of every class."""
    edge = first = np.uint64(0)
    for b in range(len(blocks.size)):
        many = blocks.size[b] * blocks.count[b]
        for k in range(many):
            flux[blocks.number[edge + k]] += values[k]
        for c in range(blocks.count[b]):
            asked = blocks.query[first + c]
            hessian[asked, 0] += values[c]
            hessian[asked, 1] += values[c]
        edge += many
        first += blocks.count[b]


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
    stream, size = stage.streaming()
    stage.compiled(1)
    arrays = stage._kernel.arrays
    blocks, A = arrays.blocks, float(arrays.A)
    widest = max(BLOCK, int((blocks.size * blocks.count).max()))
    values, out = np.random.default_rng(0).uniform(size=widest), np.empty(widest)
    odds, flux, hessian = np.ones(len(stage.merged)), np.zeros(len(stage.merged)), np.zeros((V, 2))
    parts: dict[str, Steps] = {
        "exponentials": repeated(lambda: exponentials(blocks, A, values, out)),
        "divisions and roots": repeated(lambda: divisions_and_roots(blocks, A, values, out)),
        "looking up odds": repeated(lambda: looking_up(blocks, odds, out)),
        "summing fluxes and bounds": repeated(lambda: summing(blocks, values, flux, hessian)),
        "a late step: all but the classes": stage.late,
    }
    whole: dict[str, Steps] = {"one pass over the arrays": stream, "a compiled step": stage.compiled}
    for work in parts.values():
        work(1)
    spent: dict[str, list[float]] = {name: [] for name in (*whole, *parts)}
    for _ in range(ROUNDS):
        for name, work in (whole | parts).items():
            spent[name].append(seconds(work))
    median = {name: float(np.median(found)) for name, found in spent.items()}
    once = median["one pass over the arrays"]
    median["the parts together"] = sum(median[name] for name in parts)
    print(f"V = {V}, N = {N}: {len(stage.edges)} edges of {len(blocks.query)} classes, {size / 1e6:.1f} MB\n")
    print("| | us | of one pass | GB/s |\n| --- | ---: | ---: | ---: |")
    for name, value in median.items():
        rate = f"{size / value / 1e9:.1f}" if name in whole else ""
        print(f"| {name} | {1e6 * value:.0f} | {value / once:.2f} | {rate} |")


if __name__ == "__main__":
    compare(*(int(number) for number in (sys.argv[1] if sys.argv[1:] else "1000,100000").split(",")))
