"""The step of `ReducedKQ` compiled: the same formulas, many steps at a time, in place on an `Iterate`.

Importing this module imports numba. The kernel stops, for the NumPy form to take the step or to stop too, where
the gradient is hidden by rounding, and where a step is out of its range: margins A of W_ov above `LARGEST_A`, a
margin of W_kq below `LEAST_MARGIN`, or some h_j <= 0 (only early, without Assumption 3).
"""

from collections.abc import Callable
from math import exp, inf, isfinite, log, sqrt
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numba
import numpy as np

from marginaudit.training.edges import Edges
from marginaudit.training.iterate import EPS, Floats, Iterate
from marginaudit.training.reduced import FAR_BEHIND, LEAST_MARGIN, ONE_HOT

if TYPE_CHECKING:
    from marginaudit.training.reduced import ReducedKQ

F = TypeVar("F", bound=Callable[..., Any])

LARGEST_A = 300.0
"""exp(2 A) is a float64 up to here."""

WORK = 10_000_000
"""Edges that one call of the kernel goes through, about a tenth of a second: no interrupt reaches it before."""

BLOCK = 512
"""Edges whose scratch arrays fit the processor's nearest cache together."""

LANES = 4
"""Separate sums, which the processor adds at the same time."""

LEAST_EXPONENT = -708.0
LOG2_E = 1.4426950408889634
INTEGER_BITS = 1.5 * 2.0**52
LN2_HIGH, LN2_LOW = 0.693147180369123816490, 1.90821492927058770002e-10
"""log 2 as a sum; integers up to 2^20 times the first are exact."""


def compiled(function: F, **options: Any) -> F:
    """The function compiled when first called, and kept on disk where a folder can be written."""
    options |= {"nogil": True, "error_model": "numpy"}
    try:
        result: Any = numba.njit(cache=True, **options)(function)
    except RuntimeError:  # no such folder
        result = numba.njit(**options)(function)
    return cast(F, result)


def compiled_contracted(function: F) -> F:
    """As `compiled`, and a * b + c may be rounded once."""
    return compiled(function, fastmath={"contract"})


@compiled
def root_of_squares(values: Floats) -> float:
    """Euclidean norm to a few EPS at any length: four sums in each block, and blocks summed with compensation."""
    total, low = 0.0, 0.0
    for start in range(0, len(values), BLOCK):
        stop = min(start + BLOCK, len(values))
        a = b = c = d = 0.0
        whole = start + (stop - start) // LANES * LANES
        for k in range(start, whole, LANES):
            a += values[k] * values[k]
            b += values[k + 1] * values[k + 1]
            c += values[k + 2] * values[k + 2]
            d += values[k + 3] * values[k + 3]
        for k in range(whole, stop):
            a += values[k] * values[k]
        block = (a + b) + (c + d)
        grown = total + block
        low += (total - grown) + block if total >= block else (block - grown) + total
        total = grown
    return sqrt(total + low)


@compiled_contracted
def exp_in_place(values: Floats, length: int, bits: Any) -> None:
    """The first ``length`` exponentials, to 1 ulp, in loops that compile to vector instructions; ``bits`` is scratch.

    exp(v) = 2^n exp(r), n the nearest integer to v / log 2, |r| < 0.35, the latter a Taylor sum. Below -708
    the result is exp(-708). No value may exceed 709.
    """
    whole = bits.view(np.float64)
    for k in range(length):
        v = max(values[k], LEAST_EXPONENT)
        # the sum's last bits are those of the integer n
        shifted = v * LOG2_E + INTEGER_BITS
        whole[k] = shifted
        n = shifted - INTEGER_BITS
        r = (v - n * LN2_HIGH) - n * LN2_LOW
        p = r * (1 / 6227020800) + 1 / 479001600
        p = p * r + 1 / 39916800
        p = p * r + 1 / 3628800
        p = p * r + 1 / 362880
        p = p * r + 1 / 40320
        p = p * r + 1 / 5040
        p = p * r + 1 / 720
        p = p * r + 1 / 120
        p = p * r + 1 / 24
        p = p * r + 1 / 6
        p = p * r + 1 / 2
        p = p * r + 1
        values[k] = p * r + 1
    for k in range(length):
        bits[k] = (bits[k] + 1023) << 52
    for k in range(length):
        values[k] *= whole[k]


def sliced(edges: Edges, number: Any, ratio: Floats) -> tuple[Any, ...]:
    """The classes in blocks of equal size, so that `class_fluxes` loops over neighbouring classes.

    Parameters
    ----------
    edges : Edges
    number, ratio : (edges,) arrays

    Returns
    -------
    size, count : (blocks,) integer arrays
        Edges of each of the block's classes, and how many classes.
    number, ratio : (edges,) arrays
        Block by block, in it the first edges of all its classes, then the second ones, and so on.
    frequency, absent, query : (classes,) arrays
        Block by block.
    """
    sizes = np.diff(edges.first)
    blocks = []
    for size in np.unique(sizes):
        same = np.flatnonzero(sizes == size)
        most = max(1, BLOCK // int(size))
        blocks += [same[i : i + most] for i in range(0, len(same), most)]
    order = np.concatenate(
        [(edges.first[block] + np.arange(sizes[block[0]])[:, np.newaxis]).ravel() for block in blocks]
    )
    classes = np.concatenate(blocks)
    return (
        np.array([sizes[block[0]] for block in blocks]),
        np.array([len(block) for block in blocks]),
        number[order].astype(np.uint32),
        ratio[order],
        edges.frequency[classes],
        edges.absent[classes].astype(np.float64),
        edges.query[classes].astype(np.uint32),
    )


@compiled_contracted
def class_fluxes(
    x: Floats,
    odds: float,
    lead: float,
    rounding: float,
    A: float,
    size: Any,
    count: Any,
    number: Any,
    ratio: Floats,
    frequency: Floats,
    absent: Floats,
    query: Any,
    phi: Floats,
    power: Floats,
    magnitude: Floats,
    of_class: Floats,
    bits: Any,
    flux: Floats,
    hessian: Floats,
) -> float:
    """The fluxes of `ReducedKQ.token_gradient`, summed over merged edges.

    Parameters
    ----------
    x : (merged edges,) array
        exp(-margin) over ``odds``, the largest of them.
    odds, lead, rounding, A : float
    size, count, number, ratio, frequency, absent, query : arrays
        See `sliced`.
    phi, power, magnitude, of_class, bits : arrays
        Scratch.
    flux : (merged edges, 2) array
        The sums of pi phi_j h_j exp(A) / odds, and of their terms' absolute values.
    hessian : (tokens, 2) array
        By query, bounds on the largest eigenvalue of the Hessian and on minus the smallest, in the fluxes' unit.

    Returns
    -------
    float
        Bound on the rounding error of attention, in units of EPS. inf, and nothing of the above, where some
        h_j <= 0.
    """
    flux[:] = 0.0
    hessian[:] = 0.0
    Phi, phi_a, largest, rivals, lifted = of_class[0], of_class[1], of_class[2], of_class[3], of_class[4]
    least, weighted, biggest, scale = of_class[5], of_class[6], of_class[7], of_class[8]
    convex, concave, rise = of_class[9], of_class[10], of_class[11]
    back, over_odds = exp(-A), 1 / odds
    attention = 0.0
    edge = first = 0
    for b in range(len(size)):
        d, n = size[b], count[b]
        at, of = slice(edge, edge + d * n), slice(first, first + n)
        edge, first = at.stop, of.stop
        merged, weight = number[at].reshape(d, n), ratio[at].reshape(d, n)
        labels, share, asked = absent[of], frequency[of], query[of]
        powers = power[: d * n].reshape(d, n)
        for c in range(n):
            Phi[c] = largest[c] = 0.0
        for i in range(d):
            for c in range(n):
                phi[i, c] = weight[i, c] * x[merged[i, c]] * odds
            for c in range(n):
                Phi[c] += phi[i, c]
                largest[c] = max(largest[c], phi[i, c])
        for c in range(n):
            phi_a[c] = 1 / (1 + Phi[c])
            Phi[c] *= phi_a[c]
            largest[c] *= phi_a[c]
        for i in range(d):
            for c in range(n):
                phi[i, c] *= phi_a[c]
                powers[i, c] = A * phi[i, c]
        exp_in_place(power, d * n, bits)

        for c in range(n):
            rivals[c] = labels[c]
            lifted[c] = labels[c] * phi_a[c]
            rise[c] = 1.0
            least[c] = inf
            weighted[c] = biggest[c] = 0.0
        for i in range(d):
            for c in range(n):
                rivals[c] += powers[i, c]
                least[c] = min(least[c], powers[i, c])
            for c in range(n):
                lifted[c] += powers[i, c] * (phi_a[c] - phi[i, c])
                rise[c] *= powers[i, c]
        for c in range(n):
            scale[c] = share[c] * rise[c] / (1 + rise[c] * back * rivals[c]) * over_odds
        for i in range(d):
            for c in range(n):
                magnitude[i, c] = phi[i, c] * scale[c] * (powers[i, c] + rivals[c])
            for c in range(n):
                phi[i, c] *= powers[i, c] + lifted[c]
                weighted[c] += phi[i, c]
            for c in range(n):
                phi[i, c] *= scale[c]
                biggest[c] = max(biggest[c], phi[i, c])
        signed = False
        for c in range(n):
            h = least[c] + lifted[c]
            signed |= h <= 0
            attention = max(attention, Phi[c] * (rounding + lead + d / 2 + 3))
            sizes = weighted[c] * scale[c]
            reach = phi_a[c] * Phi[c] + largest[c] * (1 - largest[c])
            convex[c] = sizes * (1 + Phi[c]) + biggest[c] + 2 * A * (scale[c] * reach * reach) * rivals[c]
            tilt = max(Phi[c] + sqrt(Phi[c] * weighted[c] / h) - 1, 0.0)
            concave[c] = min(tilt * (sizes + biggest[c]), 4 * Phi[c] * sizes)
        if signed:
            return inf
        for i in range(d):
            for c in range(n):
                flux[merged[i, c], 0] += phi[i, c]
                flux[merged[i, c], 1] += magnitude[i, c]
        for c in range(n):
            hessian[asked[c], 0] += convex[c]
            hessian[asked[c], 1] += concave[c]
    return attention


@compiled
def take_steps(
    steps: int,
    lr: float,
    normalised: bool,
    moves: int,
    reference: Floats,
    reference_low: Floats,
    high: Floats,
    low: Floats,
    last: Floats,
    local_error: float,
    log_growth: float,
    A: float,
    log_scale: float,
    one_hot_margin: float,
    lead_rate: float,
    rest_rate: Floats,
    winner: Any,
    loser: Any,
    weight: Floats,
    summed: float,
    size: Any,
    count: Any,
    number: Any,
    ratio: Floats,
    frequency: Floats,
    absent: Floats,
    query: Any,
) -> tuple[int, float, float]:
    """Up to so many steps on ``high``, ``low`` and ``last``; returns how many, and the error sums after them."""
    edges, pairs, largest, widest = len(winner), len(high), size.max(), (size * count).max()
    x, off, flux = np.empty(edges), np.empty(edges), np.empty((edges, 2))
    gradient = np.empty((2, pairs))
    phi, magnitude = np.empty((largest, count.max())), np.empty((largest, count.max()))
    power, of_class = np.empty(widest), np.empty((12, count.max()))
    bits = np.empty(max(edges, widest), np.int64)
    hessian = np.empty((query.max() + 1, 2))
    taken = 0
    while taken < steps:
        along = lr * (moves + taken) if normalised else 0.0
        lead = lead_rate * along
        least = inf
        for e in range(edges):
            a, b = winner[e], loser[e]
            straight = along * rest_rate[e]
            across = (high[a] - high[b]) + (low[a] - low[b])
            x[e] = straight + across
            off[e] = 2 * (abs(straight) + abs(across)) + 3
            least = min(least, x[e])
        if not lead + least >= LEAST_MARGIN:
            break
        for e in range(edges):
            x[e] = least - x[e]
        exp_in_place(x, edges, bits)
        rounding = 0.0
        for e in range(edges):
            rounding = max(rounding, off[e] * min(1.0, x[e] / FAR_BEHIND))
        inexact = largest + 12 + summed
        if lead + least > one_hot_margin:
            curvature = concavity = 0.0
            for e in range(edges):
                flux[e, 0] = flux[e, 1] = weight[e] * x[e]
                curvature += 2 * flux[e, 0]
        else:
            if A > LARGEST_A:
                break
            odds = exp(-(lead + least))
            attention = class_fluxes(
                x, odds, lead, rounding, A, size, count, number, ratio, frequency, absent, query,
                phi, power, magnitude, of_class, bits, flux, hessian,
            )  # fmt: skip
            if attention == inf:
                break
            inexact += (4 * A + 2) * attention
            curvature, concavity = hessian[:, 0].max(), hessian[:, 1].max()
        gradient[:] = 0.0
        for e in range(edges):
            gradient[0, loser[e]] += flux[e, 0]
            gradient[0, winner[e]] -= flux[e, 0]
            error = flux[e, 1] * (off[e] + inexact)
            gradient[1, loser[e]] += error
            gradient[1, winner[e]] += error
        norm = root_of_squares(gradient[0])
        relative = EPS * root_of_squares(gradient[1]) / norm
        if not (isfinite(norm) and relative < 1):
            break
        length = lr if normalised else lr * exp(log(norm) + log_scale - lead - least)
        over_norm = 1 / norm
        arc = 0.0
        for k in range(pairs):
            unit = gradient[0, k] * over_norm
            turn = unit - last[k]
            arc += turn * turn
            last[k] = unit
            addend = -length * ((unit + reference[k]) + reference_low[k]) if normalised else -length * unit
            total = high[k] + addend
            virtual = total - high[k]
            low[k] += (high[k] - (total - virtual)) + (addend - virtual)
            high[k] = total
        local_error += length * (relative + 4 * EPS)
        if normalised and moves + taken > 0:
            log_growth += sqrt(arc)
        log_growth += log(max(1 + length * concavity * over_norm, length * curvature * over_norm - 1))
        taken += 1
    return taken, local_error, log_growth


class CompiledSteps:
    """The kernel bound to a problem.

    Parameters
    ----------
    problem : ReducedKQ
        Its margin A not 0, with at least one edge.

    Attributes
    ----------
    arguments : tuple
        What `take_steps` is given of the problem, its arrays among it.
    """

    def __init__(self, problem: "ReducedKQ") -> None:
        edges, merged = problem.edges, problem.merged
        A, labels = problem.margin_size, problem.V
        others = float(np.add.reduceat(problem.ratio, edges.first[:-1]).max())
        # every h_j of one-hot attention, over exp(-A)
        one_hot = labels / (1 + (labels - 1) * np.exp(-A))
        self._most = max(1, WORK // len(edges))
        self.arguments = (
            A,
            float(np.log(A)) - A,
            float(np.log(others * (8 * A + 8) / ONE_HOT)),
            problem.lead_rate,
            problem.rest_rate,
            merged.winner.astype(np.uint32),
            merged.loser.astype(np.uint32),
            merged.weight * one_hot,
            problem.summed,
            *sliced(edges, merged.number, problem.ratio),
        )

    def take(self, iterate: Iterate, goal: int, report: Callable[[int], None]) -> None:
        """Steps until ``goal`` are taken in all, or one is out of the kernel's range."""
        while iterate.moves < goal:
            wanted = min(goal - iterate.moves, self._most)
            taken, iterate.local_error, iterate.log_growth = take_steps(
                wanted,
                iterate.lr,
                iterate.normalised,
                iterate.moves,
                iterate.reference,
                iterate.reference_low,
                iterate.high,
                iterate.low,
                iterate.last,
                iterate.local_error,
                iterate.log_growth,
                *self.arguments,
            )
            iterate.moves += taken
            if taken:
                report(iterate.moves)
            if taken < wanted:
                return
