"""Matrix products and exponentials, compiled for vector units.

The order of summation is fixed and no system function is called, so results are bit-identical on all processors.
"""

import numpy as np

from marginaudit.orders.arrays import Floats
from marginaudit.orders.jit import compiled

AT_ONCE = 4
"""Rows of a matrix added to a sum in one pass."""

LANES = 8
"""Numbers in the widest vector register."""

LOWEST = -700.0
"""Least argument of exp; below, it is taken as exp(-700) = 1e-304."""

PER_LN2 = 1.4426950408889634
LN2_HIGH, LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
"""ln 2 as a number of 32 bits, whose products with small integers are exact, and the rest."""

TO_INTEGER = 1.5 * 2.0**52
"""A float64 between 2^52 and 2^53 has no digits after the point: adding this rounds, and leaves the integer in the low
bits."""

EXPONENT = 52
"""First bit of the exponent of a float64."""


@compiled
def padded(length: int) -> int:
    """Length rounded up to a multiple of `LANES`, to avoid remainder loops."""
    return -(-length // LANES) * LANES


@compiled
def add_product(left: Floats, right: Floats, total: Floats) -> None:
    """Add left @ right to ``total``; shapes (m, k), (k, n) and (m, n).

    Two rows of ``left`` share each read of a row of ``right``; an odd last row is paired with a dummy row.
    """
    unused, many = np.zeros(right.shape[1]), left.shape[1] // AT_ONCE * AT_ONCE
    for i in range(0, len(left), 2):
        alone = i + 1 == len(left)
        v, into = left[i], total[i]
        w, beside = left[i if alone else i + 1], unused if alone else total[i + 1]
        for p in range(0, many, AT_ONCE):
            v0, v1, v2, v3 = v[p], v[p + 1], v[p + 2], v[p + 3]
            w0, w1, w2, w3 = w[p], w[p + 1], w[p + 2], w[p + 3]
            r0, r1, r2, r3 = right[p], right[p + 1], right[p + 2], right[p + 3]
            for j in range(len(into)):
                into[j] += (v0 * r0[j] + v1 * r1[j]) + (v2 * r2[j] + v3 * r3[j])
                beside[j] += (w0 * r0[j] + w1 * r1[j]) + (w2 * r2[j] + w3 * r3[j])
        for p in range(many, left.shape[1]):
            v0, w0, r0 = v[p], w[p], right[p]
            for j in range(len(into)):
                into[j] += v0 * r0[j]
                beside[j] += w0 * r0[j]


@compiled
def transposed(matrix: Floats) -> Floats:
    """Transpose, contiguous in memory."""
    found = np.empty((matrix.shape[1], len(matrix)))
    many = len(matrix) // AT_ONCE * AT_ONCE
    for i in range(0, many, AT_ONCE):
        r0, r1, r2, r3 = matrix[i], matrix[i + 1], matrix[i + 2], matrix[i + 3]
        for j in range(len(found)):
            found[j, i] = r0[j]
            found[j, i + 1] = r1[j]
            found[j, i + 2] = r2[j]
            found[j, i + 3] = r3[j]
    for i in range(many, len(matrix)):
        for j in range(len(found)):
            found[j, i] = matrix[i, j]
    return found


@compiled
def exponentiate(values: Floats) -> None:
    """Replace numbers of at most 0 by their exp, within two roundings; NaN stays.

    x = k ln 2 + r with |r| <= ln 2/2, and exp(x) = 2^k exp(r), exp(r) by its Taylor polynomial to r^13, with a
    truncation error of 5e-18.
    """
    k = np.empty(len(values), dtype=np.int64)
    shifted, bits = k.view(np.float64), values.view(np.int64)
    for i in range(len(values)):
        x = LOWEST if values[i] < LOWEST else values[i]
        shifted[i] = x * PER_LN2 + TO_INTEGER
        whole = shifted[i] - TO_INTEGER
        r = (x - whole * LN2_HIGH) - whole * LN2_LOW
        p = 1 / 6227020800
        p = p * r + 1 / 479001600
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
        values[i] = 1 + (r + r * r * p)
    for i in range(len(values)):
        bits[i] += k[i] << EXPONENT


@compiled
def largest(values: Floats) -> float:
    """Maximum; -inf if empty."""
    t0 = t1 = t2 = t3 = -np.inf
    many = len(values) // 4 * 4
    for j in range(0, many, 4):
        t0 = values[j] if values[j] > t0 else t0
        t1 = values[j + 1] if values[j + 1] > t1 else t1
        t2 = values[j + 2] if values[j + 2] > t2 else t2
        t3 = values[j + 3] if values[j + 3] > t3 else t3
    for j in range(many, len(values)):
        t0 = values[j] if values[j] > t0 else t0
    return max(max(t0, t1), max(t2, t3))


@compiled
def added(values: Floats) -> float:
    """Sum in a fixed order."""
    s0 = s1 = s2 = s3 = 0.0
    many = len(values) // 4 * 4
    for j in range(0, many, 4):
        s0 += values[j]
        s1 += values[j + 1]
        s2 += values[j + 2]
        s3 += values[j + 3]
    for j in range(many, len(values)):
        s0 += values[j]
    return (s0 + s1) + (s2 + s3)
