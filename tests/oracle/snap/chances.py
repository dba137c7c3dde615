"""Tails of the binomial law, summed term by term from where they begin."""

from fractions import Fraction

from flint import arb

from tests.oracle.snap.problem import ball

ENOUGH = 2.0**-120
"""A tail's terms are left out from where they are such a part of it."""


def missed(N: int, p: Fraction, center: Fraction, room: arb) -> arb:
    """P(|X - center| > room) for X ~ Bin(N, p)."""
    low, high = whole((ball(center) - room).ceil()), whole((ball(center) + room).floor())
    return from_on(N, p, high + 1) + from_on(N, 1 - p, N - low + 1)


def whole(end: arb) -> int:
    found = end.unique_fmpz()
    if found is None:
        raise ArithmeticError(f"{end} is no single count")
    return int(found)


def from_on(N: int, p: Fraction, k: int) -> arb:
    """P(X >= k)."""
    if k <= 0 or p == 1:
        return arb(1) if k <= N else arb(0)
    if k > N:
        return arb(0)
    if k <= N * p:  # the other tail is the smaller one
        return 1 - from_on(N, 1 - p, N - k + 1)
    chances = k * ball(p).log() + (N - k) * ball(1 - p).log()
    term = (arb(N + 1).lgamma() - arb(k + 1).lgamma() - arb(N - k + 1).lgamma() + chances).exp()
    odds, total = ball(p) / ball(1 - p), term
    while k < N:
        ratio = odds * (N - k) / (k + 1)
        term, k = term * ratio, k + 1
        total += term
        if term < total * ENOUGH:
            return total.union(total + term * ratio / (1 - ratio))  # the rest is below a geometric series
    return total
