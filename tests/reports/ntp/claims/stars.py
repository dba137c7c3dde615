"""One query under which one token beats the others."""

import math

from marginaudit.orders.ntp import Dataset, Sample


def star(k: int, *counts: int) -> Dataset:
    """One query q under which o beats k tokens, q among them, in k - 1 sentences [o, x, q]."""
    others = [f"x{number}" for number in range(k - 1)]
    names = ("o", *others, "q")
    n = dict(zip(names, (*names[1:], names[0]), strict=True))
    samples = tuple(Sample(("o", x, "q"), n["o"]) for x in others)
    return Dataset("star", names, samples, counts or (1,) * len(samples), next_token=n)


def light_across() -> Dataset:
    """Under q, o beats x, y and q, and p beats q; o and q end in two parts, and no edge is as light as theirs."""
    names = ("o", "p", "x", "y", "q")
    n = dict(zip(names, (*names[1:], names[0]), strict=True))
    samples = (*(Sample(("o", *[x] * 9, "q"), n["o"]) for x in "xy"), Sample(("p", "q"), n["p"]))
    return Dataset("light across", names, samples, (1, 1, 20), next_token=n)


def bound(t: float, norm: float, Lambda: float, eta: float) -> float:
    """b(t) of section 7."""
    return (2 * norm**3 * Lambda + eta * norm**2) * (1 + math.log(t)) / (t * eta) + math.sqrt(2) * norm / t
