"""The step of `ReducedKQ` compiled: the same formulas, many steps at a time, in place on an `Iterate`.

Importing this module imports numba. The kernel stops, for the NumPy form to take the step or to stop too, where
the gradient is hidden by rounding, and where a step is out of its range: a margin of W_kq below `LEAST_MARGIN`, or
some h_j <= 0 (only early, without Assumption 3).
"""

from collections.abc import Callable
from math import exp, inf, isfinite, log, sqrt
from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.extending import intrinsic

from marginaudit.orders.jit import compiled, compiled_contracted
from marginaudit.training.ntp.steps.blocks import Blocks, in_blocks
from marginaudit.training.ntp.steps.iterate import EPS, Floats, Iterate
from marginaudit.training.ntp.steps.lanes import (
    LANES,
    lanes_of,
    larger,
    load,
    root,
    smaller,
    store,
    two_to_lanes,
)
from marginaudit.training.ntp.steps.ranges import FAR_BEHIND, LEAST_MARGIN, LOST, ONE_HOT
from marginaudit.training.ntp.steps.reduced import ReducedKQ
from marginaudit.training.ntp.steps.sizes import TINY

LARGEST_A = 300.0
"""exp(2 A) is a float64 up to here; beyond, powers are taken over the largest of their class."""

WORK = 10_000_000
"""Edges that one call of the kernel goes through, about a tenth of a second: no interrupt reaches it before."""

SUMMED = 512
"""Squares that are added without compensation."""

APART = 4
"""Separate sums or minima, which the processor has under way at the same time."""

NONE = np.uint64(0)

LEAST_EXPONENT = -708.0
LOG2_E = 1.4426950408889634
INTEGER_BITS = 1.5 * 2.0**52
LN2_HIGH, LN2_LOW = 0.693147180369123816490, 1.90821492927058770002e-10
"""log 2 as a sum; integers up to 2^20 times the first are exact."""

SMALL = 0.35
"""Above (log 2) / 2."""


@compiled
def root_of_squares(values: Floats) -> float:
    """Euclidean norm to a few EPS at any length: four sums in each block, and blocks summed with compensation."""
    total, low = 0.0, 0.0
    for start in range(0, len(values), SUMMED):
        stop = min(start + SUMMED, len(values))
        a = b = c = d = 0.0
        whole = start + (stop - start) // APART * APART
        for k in range(start, whole, APART):
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


@compiled
def smallest(values: Floats) -> float:
    """The least value; inf of none."""
    a = b = c = d = inf
    whole = len(values) // APART * APART
    for k in range(0, whole, APART):
        a = values[k] if values[k] < a else a
        b = values[k + 1] if values[k + 1] < b else b
        c = values[k + 2] if values[k + 2] < c else c
        d = values[k + 3] if values[k + 3] < d else d
    for k in range(whole, len(values)):
        a = values[k] if values[k] < a else a
    return min(a, b, c, d)


@intrinsic
def two_to(_context: Any, _shifted: Any) -> Any:
    """2^n of a float64 whose last bits are those of the integer n, -1023 < n < 1024."""

    def code(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        integer, double = context.get_value_type(types.int64), context.get_value_type(types.float64)
        exponent = builder.add(builder.bitcast(arguments[0], integer), integer(1023))
        return builder.bitcast(builder.shl(exponent, integer(52)), double)

    return types.float64(types.float64), code


@compiled_contracted
def exp_of_small(r: Any) -> Any:
    """exp to 1 ulp for abs(r) <= `SMALL`: the polynomial that meets it in 0 and the Chebyshev points between."""
    p = 2.5106262550879078e-08 * r + 2.762773069846965e-07
    p = p * r + 2.755725286336732e-06
    p = p * r + 2.4801501014878055e-05
    p = p * r + 0.00019841269876840357
    p = p * r + 0.001388888893514123
    p = p * r + 0.008333333333325551
    p = p * r + 0.04166666666656548
    p = p * r + 0.1666666666666667
    p = p * r + 0.5000000000000007
    return (p * r + 1) * r + 1


@compiled_contracted
def exp_of_small_share(r: Any) -> Any:
    """exp to 1 ulp for 0 <= r <= `SMALL`, as `exp_of_small`: half the interval takes two terms less."""
    p = 3.228235200728417e-06 * r + 2.4482954706856045e-05
    p = p * r + 0.0001985269616727334
    p = p * r + 0.0013888651415428564
    p = p * r + 0.0083333362241611
    p = p * r + 0.04166666646932861
    p = p * r + 0.1666666666734068
    p = p * r + 0.49999999999991146
    return (p * r + 1.0000000000000002) * r + 1


@compiled_contracted
def exp_of(v: float) -> float:
    """exp to 1 ulp for v <= 709, in operations that loops can do on vectors; below -708 it is exp(-708).

    exp(v) = 2^n exp(r), n the nearest integer to v / log 2.
    """
    v = v if v > LEAST_EXPONENT else LEAST_EXPONENT
    shifted = v * LOG2_E + INTEGER_BITS
    n = shifted - INTEGER_BITS
    return exp_of_small((v - n * LN2_HIGH) - n * LN2_LOW) * two_to(shifted)  # type: ignore[call-arg,no-any-return]


@compiled_contracted
def exp_of_lanes(v: Any) -> Any:
    """`exp_of` each."""
    v = larger(v, LEAST_EXPONENT)
    shifted = v * LOG2_E + INTEGER_BITS
    n = shifted - INTEGER_BITS
    return exp_of_small((v - n * LN2_HIGH) - n * LN2_LOW) * two_to_lanes(shifted)


@compiled
def largest_of(values: Any) -> float:
    """The largest of the lanes."""
    each = np.empty(LANES)
    store(each, NONE, values)
    return float(each.max())


@compiled
def largest_rise(odds: Floats, A: float, blocks: Blocks) -> float:
    """The largest over classes of A (the largest phi_j + Phi), or A if that is less."""
    size, rounds, number, _, ratio, _ = blocks
    held = np.empty(size.max() * LANES)
    rise = lanes_of(0.0)
    at = edge = NONE
    for b in range(len(size)):
        many = size[b] * LANES
        for k in range(many):
            held[k] = odds[number[at + k]]
        for _ in range(rounds[b]):
            total, largest = lanes_of(0.0), lanes_of(0.0)
            for k in range(NONE, many, LANES):
                weight = load(ratio, edge + k) * load(held, k)
                total = total + weight
                largest = larger(weight, largest)
            rise = larger(A * ((largest + total) / (1 + total)), rise)
            edge += many
        at += many
    return min(largest_of(rise), A)


@compiled_contracted
def class_fluxes(
    odds: Floats,
    lost: float,
    A: float,
    shift: float,
    labels: float,
    blocks: Blocks,
    flux: Floats,
    hessian: Floats,
) -> tuple[float, float, float]:
    """The fluxes of `ReducedKQ.token_gradient`, summed over merged edges.

    Parameters
    ----------
    odds : (merged edges,) array
        exp(-margin).
    lost, A : float
        Attention's relative rounding error but for the sum over tokens, in units of EPS; the margin of W_ov.
    shift : float
        `largest_rise`, or 0 for A up to `LARGEST_A`: fluxes and bounds are over exp(shift).
    labels : float
        V.
    blocks : Blocks
    flux : (merged edges,) array
        The sums of pi phi_j h_j exp(A).
    hessian : (tokens, 2) array
        By query, bounds on the largest eigenvalue of the Hessian and on minus the smallest, in the fluxes' unit.

    Returns
    -------
    attention : float
        Bound on the rounding error of attention, in units of EPS.
    lowest : float
        The least h_j exp(A) over its class's factor; only where it is positive does any of the rest mean anything.
    leading : float
        The least phi_a. A class's fluxes, all terms of h_j taken absolute, add up to 1 / phi_a times the fluxes.
    """
    size, rounds, number, query, ratio, frequency = blocks
    flux[:] = 0.0
    hessian[:] = 0.0
    most = size.max() * LANES
    held, summed, phis, leads = np.empty(most), np.empty(most), np.empty(most), np.empty(most)
    convex, concave = np.empty(LANES), np.empty(LANES)
    attention, lowest, leading = lanes_of(0.0), lanes_of(inf), lanes_of(1.0)
    back = exp(-A)
    small = A < SMALL
    large = A > LARGEST_A
    at = edge = piece = row = NONE
    for b in range(len(size)):
        d, many = size[b], size[b] * LANES
        for k in range(many):
            held[k] = odds[number[at + k]]
            summed[k] = 0.0
        up, down = lanes_of(0.0), lanes_of(0.0)
        for _ in range(rounds[b]):
            Phi, top = lanes_of(0.0), lanes_of(0.0)
            for k in range(NONE, many, LANES):
                weight = load(ratio, edge + k) * load(held, k)
                store(phis, k, weight)
                Phi = Phi + weight
                if large:
                    top = larger(weight, top)
            phi_a = 1 / (1 + Phi)
            risen = A * ((top + Phi) / (1 + Phi))
            Phi = Phi * phi_a
            top = top * phi_a
            rivals = lanes_of(labels - 1 - d)
            if large:
                rivals = rivals * exp_of_lanes(-A * top)
            led, least, largest, rise = lanes_of(0.0), lanes_of(inf), lanes_of(0.0), lanes_of(1.0)
            for k in range(NONE, many, LANES):
                f = load(phis, k) * phi_a
                p = exp_of_small_share(A * f) if small else exp_of_lanes(A * (f - top))
                lead = p * f
                store(phis, k, f)
                store(leads, k, lead)
                rivals = rivals + p
                led = led + lead
                rise = rise * p
                least = smaller(p, least)
                largest = larger(f, largest)
            sunk = Phi * rivals + led
            lifted = rivals - sunk
            if large:
                over = exp_of_lanes(smaller(smaller(risen, A) - shift, 0.0))
                below = exp_of_lanes(smaller(A - risen, 0.0)) + exp_of_lanes(smaller(risen - A, 0.0)) * rivals
                scale = load(frequency, row) * over / below
            else:
                scale = load(frequency, row) * rise / (1 + rise * back * rivals)
            heaviest = lanes_of(0.0)
            for k in range(NONE, many, LANES):
                f = load(phis, k) * lifted + load(leads, k)
                heaviest = larger(f, heaviest)
                store(summed, k, load(summed, k) + f * scale)
            h = least + lifted
            weighted = phi_a * sunk
            lowest = smaller(h, lowest)
            attention = larger(Phi * (lost + d / 2), attention)
            leading = smaller(phi_a, leading)
            sizes, biggest = weighted * scale, heaviest * scale
            reach = phi_a * Phi + largest * (1 - largest)
            up = up + (sizes * (1 + Phi) + biggest + 2 * A * (scale * reach * reach) * rivals)
            tilt = larger(Phi + root(Phi * weighted / h) - 1, 0.0)
            down = down + smaller(tilt * (sizes + biggest), 4 * Phi * sizes)
            edge += many
            row += LANES
        for k in range(many):
            flux[number[at + k]] += summed[k]
        store(convex, NONE, up)
        store(concave, NONE, down)
        for c in range(LANES):
            asked = query[piece + c]
            hessian[asked, 0] += convex[c]
            hessian[asked, 1] += concave[c]
        at += many
        piece += LANES
    return largest_of(attention), -largest_of(0 - lowest), -largest_of(0 - leading)


class Walk(NamedTuple):
    """The arrays of an `Iterate`, which steps change in place, and how a step is made."""

    lr: float
    normalised: bool
    reference: Floats
    reference_low: Floats
    high: Floats
    low: Floats
    last: Floats


class Arrays(NamedTuple):
    """What the kernel knows of a `ReducedKQ`.

    Attributes
    ----------
    A : float
    log_A : float
    one_hot_margin : float
        Margin of W_kq from which attention is one-hot to rounding.
    lead_rate, rest_rate, winner, loser, summed : see `ReducedKQ`
    weight : (merged edges,) array
        The flux over its odds where attention is one-hot.
    labels : float
        V.
    shared : float
        See `take_steps`.
    blocks : Blocks
    """

    A: float
    log_A: float  # noqa: N815  (the paper's A)
    one_hot_margin: float
    lead_rate: float
    rest_rate: Floats
    winner: Any
    loser: Any
    weight: Floats
    labels: float
    summed: float
    shared: float
    blocks: Blocks


@compiled
def take_steps(
    steps: int, moves: int, local_error: float, log_growth: float, walk: Walk, arrays: Arrays
) -> tuple[int, float, float]:
    """Up to so many steps on ``high``, ``low`` and ``last``; returns how many, and the error sums after them.

    Rounding. A flux is off by its own margin's error, and by ``inexact`` times the terms of h_j taken absolute,
    which add up in each class to its fluxes over phi_a. The latter errors are e_a at each optimal token, together
    at most ``inexact`` times the norm of the gradient there over the least phi_a, and at the other tokens
    of a query at most the sum of its e_a: with k optimal tokens, root of k times their norm. ``shared`` is root of
    1 + the largest k.
    """
    lr, normalised, reference, reference_low, high, low, last = walk
    A, log_A, one_hot_margin, lead_rate, rest_rate, winner, loser, weight, labels, summed, shared, blocks = arrays
    edges, pairs, largest = len(winner), len(high), blocks.size.max()
    x, off, flux = np.empty(edges), np.empty(edges), np.empty(edges)
    gradient = np.empty((2, pairs))
    hessian = np.empty((blocks.query.max() + 1, 2))
    taken = 0
    while taken < steps:
        along = lr * (moves + taken) if normalised else 0.0
        lead = lead_rate * along
        for e in range(edges):
            a, b = winner[e], loser[e]
            across = (high[a] - high[b]) + (low[a] - low[b])
            straight = along * rest_rate[e]
            x[e] = straight + across
            off[e] = 2 * (abs(straight) + abs(across)) + 3
        least = smallest(x)
        if not lead + least >= LEAST_MARGIN:
            break
        one_hot = lead + least > one_hot_margin
        # the largest of the odds; late they are over it
        most = 1.0 if one_hot else exp(-(lead + least))
        for e in range(edges):
            x[e] = exp_of(least - x[e])
            flux[e] = off[e] * (x[e] * (1 / FAR_BEHIND) if x[e] < FAR_BEHIND else 1.0)
            x[e] *= most
        rounding = -smallest(-flux)
        inexact = largest + 14 + summed
        leading = 1.0
        shift = of_A = 0.0
        if one_hot:
            for e in range(edges):
                flux[e] = weight[e] * x[e]
        else:
            if A > LARGEST_A:
                shift = largest_rise(x, A, blocks)
            attention, lowest, leading = class_fluxes(x, rounding + lead + 3, A, shift, labels, blocks, flux, hessian)
            if not lowest > 0:
                break
            of_A = (4 * A + 2) * attention
        gradient[:] = 0.0
        together = winners = 0.0
        e = 0
        while e < edges:
            a = winner[e]
            s0 = s1 = 0.0
            while e < edges and winner[e] == a:
                b = loser[e]
                error = flux[e] * off[e]
                gradient[0, b] += flux[e]
                gradient[1, b] += error
                s0 += flux[e]
                s1 += error
                e += 1
            gradient[0, a] -= s0
            gradient[1, a] += s1
            together += s0
            winners += s0 * s0
        curvature, concavity = (2 * together, 0.0) if one_hot else (hessian[:, 0].max(), hessian[:, 1].max())
        norm = root_of_squares(gradient[0])
        lost = EPS * of_A > LOST
        inexact += 0.0 if lost else of_A
        relative = EPS * (root_of_squares(gradient[1]) / norm + inexact / leading * shared * sqrt(winners) / norm)
        if not (isfinite(norm) and relative < 1):
            break
        length = lr if normalised else lr * exp(log(norm) + log_A + (shift - A) - (lead + least if one_hot else 0.0))
        over_norm = 1 / norm
        for k in range(pairs):
            unit = gradient[0, k] * over_norm
            gradient[1, k] = unit - last[k]
            last[k] = unit
            addend = -length * ((unit + reference[k]) + reference_low[k]) if normalised else -length * unit
            total = high[k] + addend
            virtual = total - high[k]
            low[k] += (high[k] - (total - virtual)) + (addend - virtual)
            high[k] = total
        local_error += inf if lost else length * (relative + 4 * EPS) + TINY
        if normalised and moves + taken > 0:
            log_growth += root_of_squares(gradient[1])
        log_growth += log(max(1 + length * concavity * over_norm, length * curvature * over_norm - 1))
        taken += 1
    return taken, local_error, log_growth


class CompiledSteps:
    """The kernel bound to a loss.

    Parameters
    ----------
    loss : ReducedKQ
        Its margin A not 0, with at least one edge.

    Attributes
    ----------
    arrays : Arrays
    """

    def __init__(self, loss: ReducedKQ) -> None:
        edges, merged = loss.edges, loss.merged
        A, labels = loss.margin_size, loss.V
        winners = np.bincount(loss.classes.pair_query[np.unique(merged.winner)])
        others = float(np.add.reduceat(loss.ratio, edges.first[:-1]).max())
        # every h_j of one-hot attention, over exp(-A)
        one_hot = labels / (1 + (labels - 1) * np.exp(-A))
        self._most = max(1, WORK // len(edges))
        self.arrays = Arrays(
            A,
            float(np.log(A)),
            float(np.log(others * (8 * A + 8) / ONE_HOT)),
            loss.lead_rate,
            loss.rest_rate,
            merged.winner.astype(np.uint32),
            merged.loser.astype(np.uint32),
            merged.weight * one_hot,
            float(labels),
            loss.summed,
            float(np.sqrt(1 + winners.max())),
            in_blocks(edges, merged.number, loss.ratio),
        )

    def take(self, iterate: Iterate, goal: int, report: Callable[[int], None]) -> None:
        """Steps until ``goal`` are taken in all, or one is out of the kernel's range."""
        state = iterate.reference, iterate.reference_low, iterate.high, iterate.low, iterate.last
        walk = Walk(iterate.lr, iterate.normalised, *state)
        while iterate.moves < goal:
            wanted = min(goal - iterate.moves, self._most)
            taken, iterate.local_error, iterate.log_growth = take_steps(
                wanted, iterate.moves, iterate.local_error, iterate.log_growth, walk, self.arrays
            )
            iterate.moves += taken
            if taken:
                report(iterate.moves)
            if taken < wanted:
                return
