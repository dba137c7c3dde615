"""The fluxes of `ReducedKQ`, compiled: a block of classes at a time on lanes, or a single class (see `lanes`)."""

from math import exp, inf
from typing import Any

import numpy as np

from marginaudit.orders.jit import compiled_contracted
from marginaudit.training.ntp.steps.iterate import Floats
from marginaudit.training.ntp.steps.lanes import (
    LANES,
    NONE,
    Blocks,
    larger,
    largest_of,
    load,
    root,
    smaller,
    store,
    two_to,
    width_of,
)
from marginaudit.training.ntp.steps.underflow import TINY

LARGEST_A = 300.0
"""Largest A with exp(2 A) in float64; beyond, powers are relative to the largest of their class."""

LEAST_EXPONENT = -708.0
LOG2_E = 1.4426950408889634
INTEGER_BITS = 1.5 * 2.0**52
LN2_HIGH, LN2_LOW = 0.693147180369123816490, 1.90821492927058770002e-10
"""log 2 as a sum of two; multiples of the first by integers up to 2^20 are exact."""

SMALL = 0.35
"""Above (log 2) / 2."""


@compiled_contracted
def expm1_of_small(r: Any) -> Any:
    """exp(r) - 1 to 1 ulp of exp for abs(r) <= `SMALL`, by interpolation in 0 and Chebyshev points."""
    p = 2.5106262550879078e-08 * r + 2.762773069846965e-07
    p = p * r + 2.755725286336732e-06
    p = p * r + 2.4801501014878055e-05
    p = p * r + 0.00019841269876840357
    p = p * r + 0.001388888893514123
    p = p * r + 0.008333333333325551
    p = p * r + 0.04166666666656548
    p = p * r + 0.1666666666666667
    p = p * r + 0.5000000000000007
    return (p * r + 1) * r


@compiled_contracted
def exp_of_small(r: Any) -> Any:
    """exp to 1 ulp for abs(r) <= `SMALL`."""
    return expm1_of_small(r) + 1


@compiled_contracted
def exp_of(v: Any) -> Any:
    """exp to 1 ulp for v <= 709, by vector operations; exp(-708) below -708.

    exp(v) = 2^n exp(r), n the nearest integer to v / log 2.
    """
    v = larger(v, LEAST_EXPONENT)
    shifted = v * LOG2_E + INTEGER_BITS
    n = shifted - INTEGER_BITS
    return exp_of_small((v - n * LN2_HIGH) - n * LN2_LOW) * two_to(shifted)


@compiled_contracted
def expm1_of(v: Any) -> Any:
    """exp(v) - 1 to 4 ulp for 0 <= v <= 709, by vector operations."""
    shifted = v * LOG2_E + INTEGER_BITS
    n = shifted - INTEGER_BITS
    r = (v - n * LN2_HIGH) - n * LN2_LOW
    power = two_to(shifted)
    return power * expm1_of_small(r) + (power - 1)


@compiled_contracted
def weigh(odds: Floats, blocks: Blocks, edge: Any, weight: Floats, many: Any, one: Any) -> tuple[Any, Any]:
    """Write attention relative to the optimal token's into ``weight``; return its sum and maximum in each class."""
    for k in range(many):
        weight[k] = blocks.ratio[edge + k] * odds[blocks.number[edge + k]]
    together, largest = 0.0 * one, 0.0 * one
    for k in range(NONE, many, width_of(one)):
        each = load(weight, k, one)
        together = together + each
        largest = larger(each, largest)
    return together, largest


@compiled_contracted
def largest_rise(odds: Floats, A: float, blocks: Blocks, one: Any) -> float:
    """Maximum over classes of A (largest phi_j + Phi), at most A."""
    weight = np.empty(blocks.size.max() * LANES)
    rise, edge = 0.0 * one, NONE
    for d in blocks.size:
        many = d * width_of(one)
        together, largest = weigh(odds, blocks, edge, weight, many, one)
        rise = larger(A * ((largest + together) / (1 + together)), rise)
        edge += many
    return min(largest_of(rise), A)


@compiled_contracted
def compare_labels(
    A: float, phi: Floats, led: Floats, many: Any, phi_a: Any, top: Any, rivals: Any, one: Any
) -> tuple[Any, Any, Any, Any, Any]:
    """Write P_j phi_j into ``led``, with probabilities P_j over exp(A top); turn ``phi``, given over phi_a, into phi.

    Returns the sum of P_j and ``rivals``, the sum of P_j phi_j, the product and the least of P_j, and the largest
    phi_j.
    """
    leads, least, largest, rise = 0.0 * one, inf * one, 0.0 * one, 1.0 * one
    for k in range(NONE, many, width_of(one)):
        f = load(phi, k, one) * phi_a
        p = exp_of(A * (f - top))
        lead = p * f
        store(phi, k, f)
        store(led, k, lead)
        rivals = rivals + p
        leads = leads + lead
        rise = rise * p
        least = smaller(p, least)
        largest = larger(f, largest)
    return rivals, leads, rise, least, largest


@compiled_contracted
def far_apart(
    A: float,
    shift: float,
    phi: Floats,
    led: Floats,
    many: Any,
    together: Any,
    top: Any,
    rivals: Any,
    frequency: Any,
    one: Any,
) -> tuple[Any, Any, Any, Any, Any]:
    """`compare_labels` with powers over the largest of their class; returns the scale, not the product."""
    phi_a = 1 / (1 + together)
    risen = A * ((top + together) / (1 + together))
    top = top * phi_a
    rivals, leads, _, least, largest = compare_labels(A, phi, led, many, phi_a, top, rivals * exp_of(-A * top), one)
    over = exp_of(smaller(smaller(risen, A) - shift, 0.0))
    below = exp_of(smaller(A - risen, 0.0)) + exp_of(smaller(risen - A, 0.0)) * rivals
    return rivals, leads, least, largest, frequency * over / below


@compiled_contracted
def take_fluxes(phi: Floats, led: Floats, many: Any, lifted: Any, scale: Any, one: Any) -> tuple[Any, Any]:
    """Write the fluxes phi_j h_j times ``scale`` into ``phi``.

    Returns the largest, at least 0, and minus the sum of the negative ones, both without ``scale``.
    """
    heaviest, against = 0.0 * one, 0.0 * one
    for k in range(NONE, many, width_of(one)):
        f = load(phi, k, one) * lifted + load(led, k, one)
        heaviest = larger(f, heaviest)
        against = against - smaller(f, 0.0)
        store(phi, k, f * scale)
    return heaviest, against


@compiled_contracted
def eigenvalues(
    A: float,
    Phi: Any,
    phi_a: Any,
    largest: Any,
    rivals: Any,
    h: Any,
    weighted: Any,
    against: Any,
    biggest: Any,
    scale: Any,
) -> tuple[Any, Any]:
    """Bounds on the largest and minus the smallest eigenvalue of each class's Hessian; see `ReducedKQ`.

    ``against`` is minus the sum of the negative fluxes.
    """
    reach = phi_a * Phi + largest * (1 - largest)
    sizes = weighted * scale + against
    convex = sizes * (1 + Phi) + biggest + 2 * A * (scale * reach * reach) * rivals
    # without limit where some h_j <= 0
    tilt = larger(Phi + root(Phi * weighted / larger(h, TINY * weighted)) - 1, 0.0)
    concave = smaller(tilt * (sizes + biggest), 4 * Phi * sizes)
    return convex + 4 * Phi * against, concave + (2 + Phi) * against


@compiled_contracted
def class_fluxes(
    odds: Floats,
    lost: float,
    A: float,
    shift: float,
    labels: float,
    blocks: Blocks,
    one: Any,
    flux: Floats,
    hessian: Floats,
) -> tuple[float, float]:
    """The fluxes of `ReducedKQ.token_gradient`, summed over merged edges.

    Parameters
    ----------
    odds : (merged edges,) array
        exp(-margin).
    lost, A : float
        Relative rounding error of attention without that of the sum over tokens, in units of EPS; margin of W_ov.
    shift : float
        `largest_rise`, or 0 for A up to `LARGEST_A`: fluxes and bounds are over exp(shift).
    labels : float
        V.
    one : lanes or float
        The number 1 for each class of a block.
    flux : (merged edges,) array
        The sums of pi phi_j h_j exp(A), signed.
    hessian : (tokens, 2) array
        By query, bounds on the largest and minus the smallest eigenvalue of the Hessian, in the unit of the fluxes.

    Returns
    -------
    attention : float
        Bound on the rounding error of attention, in units of EPS.
    leading : float
        The least phi_a. A class's fluxes, all terms of h_j taken absolute, add up to 1 / phi_a times the signed sum.
    """
    flux[:] = 0.0
    hessian[:] = 0.0
    phi, led = np.empty(blocks.size.max() * LANES), np.empty(blocks.size.max() * LANES)
    up, down = np.empty(LANES), np.empty(LANES)
    attention, leading = 0.0 * one, 1.0 * one
    back, width = exp(-A), width_of(one)
    edge = row = NONE
    for d in blocks.size:
        many = d * width
        together, top = weigh(odds, blocks, edge, phi, many, one)
        phi_a, frequency = 1 / (1 + together), load(blocks.frequency, row, one)
        Phi, rivals = together * phi_a, (labels - 1 - d) * one
        if A > LARGEST_A:
            rivals, leads, least, largest, scale = far_apart(
                A, shift, phi, led, many, together, top, rivals, frequency, one
            )
        else:
            rivals, leads, rise, least, largest = compare_labels(A, phi, led, many, phi_a, 0.0 * one, rivals, one)
            scale = frequency * rise / (1 + rise * back * rivals)
        sunk = Phi * rivals + leads
        lifted = rivals - sunk
        h, weighted = least + lifted, phi_a * sunk
        biggest, against = take_fluxes(phi, led, many, lifted, scale, one)
        for k in range(many):
            flux[blocks.number[edge + k]] += phi[k]
        attention = larger(Phi * (lost + d / 2), attention)
        leading = smaller(phi_a, leading)
        convex, concave = eigenvalues(
            A, Phi, phi_a, largest, rivals, h, weighted, against * scale, biggest * scale, scale
        )
        store(up, NONE, convex)
        store(down, NONE, concave)
        for c in range(width):
            asked = blocks.query[row + c]
            hessian[asked, 0] += up[c]
            hessian[asked, 1] += down[c]
        edge += many
        row += width
    return largest_of(attention), -largest_of(0 - leading)


@compiled_contracted
def rises(
    odds: Floats, A: float, labels: float, blocks: Blocks, one_hot: bool, others: Floats, risen: Floats, one: Any
) -> None:
    """Write each class's sum of odds, and, unless attention is one-hot, its sum over z != a of exp(A x_z) - 1.

    x_z = 1 - phi_a + phi_z is the attention on other tokens plus that on label z. The other parameters are those of
    `class_fluxes`.
    """
    phi = np.empty(blocks.size.max() * LANES)
    width = width_of(one)
    edge = row = NONE
    for d in blocks.size:
        many = d * width
        together, _ = weigh(odds, blocks, edge, phi, many, one)
        store(others, row, together)
        if not one_hot:
            phi_a = 1 / (1 + together)
            Phi = together * phi_a
            sums = (labels - 1 - d) * expm1_of(A * Phi)
            for k in range(NONE, many, width):
                sums = sums + expm1_of(A * (Phi + load(phi, k, one) * phi_a))
            store(risen, row, sums)
        edge += many
        row += width
