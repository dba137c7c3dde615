"""Guess a formula in n from exact values: a guess, as no finite number of values proves one."""

from collections.abc import Mapping
from fractions import Fraction
from math import gcd, lcm

from flint import fmpq_mat

from marginaudit.margins.worst_case.exact import flint, fraction

CONFIRMING = 2
"""Values beyond those that determine a formula, all of which it must give."""


def guessed_formula(values: Mapping[int, Fraction]) -> str | None:
    """The quotient of polynomials in n of least degrees that gives all values, or c r^n; None if there is none.

    A formula counts if it gives `CONFIRMING` more values than it has coefficients.

    >>> guessed_formula({n: Fraction(3, 4 * n + 2) for n in range(1, 6)})
    '3/(4 n + 2)'
    >>> guessed_formula({n: Fraction(81, 100) ** n / 2 for n in range(1, 5)})
    '1/2 (81/100)^n'
    """
    steps = sorted(values)
    for coefficients in range(1, len(steps) - CONFIRMING + 1):
        for above in range(coefficients):
            if (found := _quotient(values, above, coefficients - 1 - above)) is not None:
                return found
    return _geometric(values, steps)


def _quotient(values: Mapping[int, Fraction], above: int, below: int) -> str | None:
    """p(n)/q(n) of these degrees."""
    rows = [[flint(Fraction(n) ** k) for k in range(above + 1)] + [flint(-v * n**k) for k in range(below + 1)]
            for n, v in values.items()]  # fmt: skip
    reduced, rank = fmpq_mat(rows).rref()
    if rank != above + below + 1:  # one vector is left over, up to a factor
        return None
    free = next(k for k in range(above + below + 2) if k >= rank or reduced[k, k] == 0)
    solution = [Fraction(0)] * (above + below + 2)
    solution[free] = Fraction(1)
    for k in range(rank):
        solution[k if k < free else k + 1] = -fraction(reduced[k, free])
    p, q = solution[: above + 1], solution[above + 1 :]
    if any(sum(c * n**k for k, c in enumerate(q)) == 0 for n in values):
        return None
    scale = Fraction(lcm(*(c.denominator for c in solution)), gcd(*(c.numerator for c in solution)))
    scale *= 1 if next(c for c in reversed(q) if c) > 0 else -1
    top, bottom = (_polynomial([c * scale for c in part]) for part in (p, q))
    if bottom == "1":
        return top
    return "/".join(f"({part})" if " " in part else part for part in (top, bottom))


def _polynomial(coefficients: list[Fraction]) -> str:
    """A polynomial in n, highest power first."""
    terms = []
    for power, c in reversed(list(enumerate(coefficients))):
        if c:
            name = "" if power == 0 else "n" if power == 1 else f"n^{power}"
            size = "" if abs(c) == 1 and name else str(abs(c))
            terms.append(f"{'-' if c < 0 else '+'} {' '.join(filter(None, (size, name)))}")
    text = " ".join(terms) or "0"
    return text.removeprefix("+ ") if text.startswith("+") else text.replace("- ", "-", 1)


def _geometric(values: Mapping[int, Fraction], steps: list[int]) -> str | None:
    """C r^n for consecutive n."""
    if len(steps) < CONFIRMING + 2 or steps[-1] - steps[0] != len(steps) - 1 or not all(values.values()):
        return None
    ratios = {values[n + 1] / values[n] for n in steps[:-1]}
    if len(ratios) != 1:
        return None
    (ratio,) = ratios
    constant = values[steps[0]] / ratio ** steps[0]
    return f"({ratio})^n" if constant == 1 else f"{constant} ({ratio})^n"
