"""The step of `ReducedKQ` compiled: the same formulas, many steps at a time, in place on an `Iterate`.

Importing this module imports numba. The kernel stops, and hands over to the NumPy form, where rounding hides the
gradient or a margin of W_kq is below `LEAST_MARGIN`.
"""

from collections.abc import Callable
from math import exp, inf, isfinite, log, log1p, sqrt
from typing import Any, NamedTuple, Protocol

import numpy as np

from marginaudit.orders.jit import compiled
from marginaudit.training.ntp.model.classes import SampleClasses
from marginaudit.training.ntp.model.edges import Edges, MergedEdges
from marginaudit.training.ntp.model.losses import infimum
from marginaudit.training.ntp.steps.class_fluxes import LARGEST_A, class_fluxes, exp_of, largest_rise, rises
from marginaudit.training.ntp.steps.iterate import EPS, Floats, Iterate
from marginaudit.training.ntp.steps.lanes import LANES, Blocks, in_blocks, lanes_of
from marginaudit.training.ntp.steps.loss import Gradient, Row
from marginaudit.training.ntp.steps.underflow import FAR_BEHIND, LEAST_MARGIN, LOST, ONE_HOT, TINY

WORK = 10_000_000
"""Limit on the edges of one kernel call: about a tenth of a second without interrupts."""

SUMMED = 128
"""Number of squares added without compensation."""


@compiled
def root_of_squares(values: Floats) -> float:
    """Euclidean norm, with the rounding of `SUMMED` terms at any length: block sums are added with compensation."""
    total, low = 0.0, 0.0
    for start in range(0, len(values), SUMMED):
        block = 0.0
        for value in values[start : start + SUMMED]:
            block += value * value
        grown = total + block
        low += (total - grown) + block if total >= block else (block - grown) + total
        total = grown
    return sqrt(total + low)


class IterateArrays(NamedTuple):
    """The arrays of an `Iterate`, which steps change in place, and its step settings."""

    lr: float
    normalised: bool
    reference: Floats
    reference_low: Floats
    high: Floats
    low: Floats
    last: Floats


class LossArrays(NamedTuple):
    """The arrays of a `ReducedKQ` for the kernel.

    Attributes
    ----------
    one_hot_margin : float
        Margin of W_kq from which attention is one-hot to rounding.
    lead_rate, rest_rate, winner, loser, summed : see `ReducedKQ`
    weight : (merged edges,) array
        Flux over odds where attention is one-hot.
    labels : float
        V.
    shared : float
        See `evaluate`.
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
def find_margins(along: float, walk: IterateArrays, arrays: LossArrays, margin: Floats, off: Floats) -> float:
    """Write margins without their common lead, and their rounding bounds in units of EPS; return the least margin."""
    high, low, winner, loser = walk.high, walk.low, arrays.winner, arrays.loser
    for e in range(len(winner)):
        a, b = winner[e], loser[e]
        across = (high[a] - high[b]) + (low[a] - low[b])
        straight = along * arrays.rest_rate[e]
        margin[e] = straight + across
        off[e] = 2 * (abs(straight) + abs(across)) + 3
    return float(margin.min())


@compiled
def find_odds(least: float, most: float, odds: Floats, off: Floats, rounding: Floats) -> float:
    """Replace margins by exp(least - margin) ``most``; return the largest rounding, see `FAR_BEHIND`."""
    for e in range(len(odds)):
        odds[e] = exp_of(least - odds[e])
        rounding[e] = -off[e] * (odds[e] * (1 / FAR_BEHIND) if odds[e] < FAR_BEHIND else 1.0)
        odds[e] *= most
    return -float(rounding.min())


@compiled
def onto_pairs(flux: Floats, off: Floats, winner: Any, loser: Any, gradient: Floats) -> tuple[float, float]:
    """Write the gradient and its errors by ``off``; return the sum of fluxes, and the squared sums over winners."""
    gradient[:] = 0.0
    together = winners = 0.0
    e = 0
    while e < len(winner):
        a = winner[e]
        s0 = s1 = 0.0
        while e < len(winner) and winner[e] == a:
            b = loser[e]
            error = abs(flux[e]) * off[e]
            gradient[0, b] += flux[e]
            gradient[1, b] += error
            s0 += flux[e]
            s1 += error
            e += 1
        gradient[0, a] -= s0
        gradient[1, a] += s1
        together += s0
        winners += s0 * s0
    return together, winners


@compiled
def move(length: float, norm: float, walk: IterateArrays, gradient: Floats) -> None:
    """`Iterate.step` on ``high``, ``low`` and ``last``; writes the turn of the unit gradient into ``gradient[1]``."""
    _, normalised, reference, reference_low, high, low, last = walk
    over_norm = 1 / norm
    for k in range(len(high)):
        unit = gradient[0, k] * over_norm
        gradient[1, k] = unit - last[k]
        last[k] = unit
        addend = -length * ((unit + reference[k]) + reference_low[k]) if normalised else -length * unit
        total = high[k] + addend
        virtual = total - high[k]
        low[k] += (high[k] - (total - virtual)) + (addend - virtual)
        high[k] = total


class Scratch(NamedTuple):
    """Arrays that the kernel overwrites: by merged edge, by pair (gradient and its error), and by query."""

    odds: Floats
    off: Floats
    flux: Floats
    gradient: Floats
    hessian: Floats


class Evaluated(NamedTuple):
    """The gradient of a state, of which `Scratch` has the entries; ``norm`` is NaN out of the kernel's range.

    Attributes
    ----------
    norm : float
        Of the entries.
    log_norm : float
        log ||grad||.
    relative : float
        Bound on the rounding error of the entries over ``norm``, in units of EPS.
    lost : bool
        Whether A times the attention is lost in rounding, so that no bound is known.
    curvature, concavity : float
        Bounds on the largest eigenvalue of the Hessian and on minus the smallest, in the unit of the entries.
    lead : float
        Margins' lead plus their least.
    one_hot : bool
        Whether attention is one-hot to rounding. If so, odds and fluxes are over exp(-lead).
    together : float
        Sum of the fluxes.
    """

    norm: float
    log_norm: float
    relative: float
    lost: bool
    curvature: float
    concavity: float
    lead: float
    one_hot: bool
    together: float


OUT_OF_RANGE = Evaluated(np.nan, 0.0, 0.0, False, 0.0, 0.0, 0.0, False, 0.0)


@compiled
def evaluate(moves: float, walk: IterateArrays, arrays: LossArrays, scratch: Scratch, one: Any) -> Evaluated:
    """The gradient after a number of moves, not necessarily whole, its entries in ``scratch``.

    Rounding. The error of a flux is that of its margin, plus ``inexact`` times the absolute terms of h_j, which add up
    in each class to the sum of its signed fluxes over phi_a: (sum of P_j phi_j + Phi sum of P_z) on both sides. The
    latter part is e_a at each optimal token, in norm at most ``inexact`` times that of the fluxes' sums there over the
    least phi_a, reduced by the rounding of it and of signed sums; at the other tokens of a query it is at most the sum
    of its e_a, so root of k times their norm for k optimal tokens. ``shared`` is root of 1 + the largest k. ``one`` is
    as in `class_fluxes`.
    """
    A, blocks = arrays.A, arrays.blocks
    x, off, flux, gradient, hessian = scratch
    along = walk.lr * moves if walk.normalised else 0.0
    lead = arrays.lead_rate * along
    least = find_margins(along, walk, arrays, x, off)
    if not lead + least >= LEAST_MARGIN:
        return OUT_OF_RANGE
    one_hot = lead + least > arrays.one_hot_margin
    # late, odds are relative to the largest
    rounding = find_odds(least, 1.0 if one_hot else exp(-(lead + least)), x, off, flux)
    leading, shift, of_A = 1.0, 0.0, 0.0
    if one_hot:
        for e in range(len(x)):
            flux[e] = arrays.weight[e] * x[e]
    else:
        lost = rounding + lead + 3
        shift = largest_rise(x, A, blocks, one) if A > LARGEST_A else 0.0
        attention, leading = class_fluxes(x, lost, A, shift, arrays.labels, blocks, one, flux, hessian)
        of_A = (4 * A + 2) * attention
    together, winners = onto_pairs(flux, off, arrays.winner, arrays.loser, gradient)
    curvature, concavity = (2 * together, 0.0) if one_hot else (hessian[:, 0].max(), hessian[:, 1].max())
    norm = root_of_squares(gradient[0])
    lost_A = EPS * of_A > LOST
    inexact = blocks.size.max() + 14 + arrays.summed + (0.0 if lost_A else of_A)
    leading -= 2 * EPS * inexact
    relative = root_of_squares(gradient[1]) / norm + inexact / leading * arrays.shared * sqrt(winners) / norm
    if not (leading > 0 and isfinite(norm) and EPS * relative < 1):
        return OUT_OF_RANGE
    log_norm = log(norm) + arrays.log_A + (shift - A) - (lead + least if one_hot else 0.0)
    return Evaluated(norm, log_norm, relative, lost_A, curvature, concavity, lead + least, one_hot, together)


@compiled
def scratch_of(walk: IterateArrays, arrays: LossArrays) -> Scratch:
    """Arrays of the kernel's sizes."""
    x, off, flux = np.empty_like(arrays.weight), np.empty_like(arrays.weight), np.empty_like(arrays.weight)
    return Scratch(x, off, flux, np.empty((2, len(walk.high))), np.empty((arrays.blocks.query.max() + 1, 2)))


@compiled
def take_steps(
    steps: int, moves: int, local_error: float, log_growth: float, walk: IterateArrays, arrays: LossArrays, one: Any
) -> tuple[int, float, float]:
    """Take up to ``steps`` steps on ``high``, ``low`` and ``last``; return their number and the error sums."""
    lr, scratch = walk.lr, scratch_of(walk, arrays)
    taken = 0
    while taken < steps:
        found = evaluate(moves + taken, walk, arrays, scratch, one)
        if not found.norm >= 0:
            break
        norm = found.norm
        length = lr if walk.normalised else lr * exp(found.log_norm)
        move(length, norm, walk, scratch.gradient)
        local_error += inf if found.lost else length * EPS * (found.relative + 4) + TINY
        if walk.normalised and moves + taken > 0:
            log_growth += root_of_squares(scratch.gradient[1])
        log_growth += log(max(1 + length * found.concavity / norm, length * found.curvature / norm - 1))
        taken += 1
    return taken, local_error, log_growth


@compiled
def take_steps_on_lanes(
    steps: int, moves: int, local_error: float, log_growth: float, walk: IterateArrays, arrays: LossArrays
) -> tuple[int, float, float]:
    """`take_steps` with SIMD lanes (a lane value cannot be made in Python)."""
    return take_steps(steps, moves, local_error, log_growth, walk, arrays, lanes_of(1.0))


@compiled
def look_at(
    moves: float,
    walk: IterateArrays,
    arrays: LossArrays,
    scratch: Scratch,
    others: Floats,
    risen: Floats,
    one: Any,
) -> Evaluated:
    """`evaluate`, then `rises` into ``others`` and ``risen``, unless they are empty."""
    found = evaluate(moves, walk, arrays, scratch, one)
    if len(others) and found.norm >= 0:
        rises(scratch.odds, arrays.A, arrays.labels, arrays.blocks, found.one_hot, others, risen, one)
    return found


@compiled
def look_at_on_lanes(
    moves: float,
    walk: IterateArrays,
    arrays: LossArrays,
    scratch: Scratch,
    others: Floats,
    risen: Floats,
) -> Evaluated:
    """`look_at` with SIMD lanes."""
    return look_at(moves, walk, arrays, scratch, others, risen, lanes_of(1.0))


class EdgeLoss(Protocol):
    """The attributes of `ReducedKQ` that the kernel reads; `ReducedKQ` imports this module."""

    margin_size: float
    V: int
    classes: SampleClasses
    edges: Edges
    merged: MergedEdges
    ratio: Floats
    lead_rate: float
    rest_rate: Floats
    summed: float


class CompiledSteps:
    """The kernel bound to a loss.

    Parameters
    ----------
    loss : EdgeLoss
        With a nonzero margin A and at least one edge.
    lanes : bool
        Compute `LANES` classes at a time, or one after the other in plain loops.
    """

    def __init__(self, loss: EdgeLoss, *, lanes: bool = True) -> None:
        edges, merged = loss.edges, loss.merged
        A, labels = loss.margin_size, loss.V
        winners = np.bincount(loss.classes.pair_query[np.unique(merged.winner)])
        others = float(np.add.reduceat(loss.ratio, edges.first[:-1]).max())
        # h_j of one-hot attention over exp(-A)
        one_hot = labels / (1 + (labels - 1) * np.exp(-A))
        self._lanes = lanes
        self._most = max(1, WORK // len(edges))
        self.arrays = LossArrays(
            A,
            float(np.log(A)),
            float(np.log(others * (8 * A + 8) / ONE_HOT)),
            loss.lead_rate,
            np.ascontiguousarray(loss.rest_rate),
            merged.winner.astype(np.uint32),
            merged.loser.astype(np.uint32),
            merged.weight * one_hot,
            float(labels),
            loss.summed,
            float(np.sqrt(1 + winners.max())),
            in_blocks(edges, merged.number, loss.ratio, LANES if lanes else 1),
        )
        floor = float(infimum(labels, A))
        self._floor, self._log_over_floor = floor, -A - floor

    def take(self, iterate: Iterate, goal: int, report: Callable[[int], None]) -> None:
        """Take steps up to number ``goal``, or until one is out of the kernel's range."""
        walk = _walk(iterate)
        while iterate.moves < goal:
            wanted = min(goal - iterate.moves, self._most)
            known = wanted, iterate.moves, iterate.local_error, iterate.log_growth, walk, self.arrays
            found = take_steps_on_lanes(*known) if self._lanes else take_steps(*known, 1.0)
            taken, iterate.local_error, iterate.log_growth = found
            iterate.moves += taken
            if taken:
                report(iterate.moves)
            if taken < wanted:
                return

    def look(self, iterate: Iterate) -> tuple[Gradient, Row] | None:
        """Gradient and measurements of a state, or None out of the kernel's range.

        With S_0 = (V - 1) exp(-A) and x_z = 1 - phi_a + phi_z, the loss of a class is the floor log(1 + S_0) plus
        log(1 + Q), Q = exp(-A) / (1 + S_0) times the sum over z != a of exp(A x_z) - 1: positive terms alone. Where
        attention is one-hot, Q is exp(-A) / (1 + S_0) A times the sum of x_z, V (1 - phi_a), which summed over the
        classes is the sum of fluxes.
        """
        if self.arrays.A > LARGEST_A:
            return None
        walk, blocks = _walk(iterate), self.arrays.blocks
        others, risen = np.empty((2, len(blocks.frequency)))
        found, value = self._looked_at(float(iterate.moves), walk, others, risen)
        if not found.norm >= 0:
            return None
        most, norm = float(others.max()), found.norm
        log_scale = found.log_norm - log(norm)
        if found.one_hot:
            log_most, log_excess = log(most) - found.lead, log_scale + log(found.together)
        else:
            log_most = -log1p(1 / most)
            each = blocks.frequency * np.log1p(risen * exp(self._log_over_floor))
            log_excess = log(each.sum())
        loss = self._floor + exp(log_excess)
        row = {
            "loss": loss,
            "log_loss": log(loss),
            "min_optimal_weight": 1.0 if found.one_hot else 1 / (1 + most),
            "log_other_weight": log_most,
            "log_excess": log_excess,
            "along": iterate.along,
            "rest": iterate.rest,
        }
        rounding = inf if found.lost else EPS * found.relative * norm
        return Gradient(value, norm, log_scale, rounding, found.curvature, found.concavity), row

    def gradient_at(self, moves: float, iterate: Iterate, rest: Floats) -> tuple[Evaluated, Floats]:
        """The gradient at W = s What + rest after a number of moves, not necessarily whole, and its entries."""
        unused = np.empty(0)
        walk = _walk(iterate)._replace(high=rest, low=np.zeros_like(rest))
        return self._looked_at(moves, walk, unused, unused)

    def _looked_at(self, moves: float, walk: IterateArrays, others: Floats, risen: Floats) -> tuple[Evaluated, Floats]:
        scratch = scratch_of(walk, self.arrays)
        known = moves, walk, self.arrays, scratch, others, risen
        found = look_at_on_lanes(*known) if self._lanes else look_at(*known, 1.0)
        return found, scratch.gradient[0]


def _walk(iterate: Iterate) -> IterateArrays:
    # another layout would compile the kernel again
    what, what_low = np.ascontiguousarray(iterate.reference), np.ascontiguousarray(iterate.reference_low)
    return IterateArrays(iterate.lr, iterate.normalised, what, what_low, iterate.high, iterate.low, iterate.last)
