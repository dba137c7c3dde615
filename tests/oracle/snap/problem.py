"""A document of sequence classes as exact numbers, and what the ledger says of tokens and overlaps by definition."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import mpmath
from flint import arb, arb_mat

DIGITS = 40
"""Of eigenvalues."""


def ball(number: Fraction | float) -> arb:
    """A number as a ball of the working precision."""
    exact = Fraction(number)
    return arb(exact.numerator) / exact.denominator


@dataclass(frozen=True)
class Class:
    """A class n: its query psi(n), and P(l|n) > 0 by token."""

    next: str
    query: str
    P: Mapping[str, Fraction]


class Problem:
    """The classes of a document. Balls are to be used at one working precision."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self.M: int = document["M"]
        listed = document["classes"]
        self.classes = [
            Class(c["next"], c["query"], {l: Fraction(p) for l, p in c["probabilities"].items() if p > 0})  # noqa: E741
            for c in listed
        ]
        weights = [Fraction(c.get("frequency", 1)) for c in listed]
        self.frequencies = [weight / sum(weights) for weight in weights]

    @property
    def K(self) -> int:
        return len(self.classes)

    @cached_property
    def names(self) -> list[str]:
        """The next tokens, by which classes are named."""
        return [c.next for c in self.classes]

    @cached_property
    def tokens(self) -> list[str]:
        """The contextual ones."""
        return list(dict.fromkeys(l for c in self.classes for l in c.P))  # noqa: E741

    @cached_property
    def common(self) -> set[str]:
        return {l for l in self.tokens if sum(l in c.P for c in self.classes) > 1}  # noqa: E741

    def distinct(self, c: Class) -> list[str]:
        return [l for l in c.P if l not in self.common]  # noqa: E741

    @cached_property
    def gram(self) -> arb_mat:
        """I + E = F^T F where Z = 0."""
        return gram([{l: ball(p) for l, p in c.P.items()} for c in self.classes])  # noqa: E741

    @cached_property
    def E(self) -> list[list[arb]]:
        own = self.gram.tolist()
        return [[own[i][j] if i != j else arb(0) for j in range(self.K)] for i in range(self.K)]

    @cached_property
    def eigenvalues(self) -> list[float]:
        """Of E, ascending."""
        return eigenvalues(self.gram)

    @cached_property
    def inverse(self) -> list[list[Fraction]] | None:
        """Of P P^T, in rational arithmetic; None where the classes are dependent."""
        K = self.K
        rows = [
            [sum((p * b.P[l] for l, p in a.P.items() if l in b.P), Fraction(0)) for b in self.classes]  # noqa: E741
            + [Fraction(int(a is b)) for b in self.classes]
            for a in self.classes
        ]
        for column in range(K):
            pivot = next((i for i in range(column, K) if rows[i][column]), None)
            if pivot is None:
                return None
            rows[column], rows[pivot] = rows[pivot], rows[column]
            rows[column] = [x / rows[column][column] for x in rows[column]]
            for i in range(K):
                if i != column and rows[i][column]:
                    factor = rows[i][column]
                    rows[i] = [a - factor * b for a, b in zip(rows[i], rows[column], strict=True)]
        return [row[K:] for row in rows]

    @property
    def independent(self) -> bool:
        """Whether the f_n are linearly independent."""
        return self.inverse is not None

    @property
    def beside(self) -> list[Fraction]:
        """E'_nk of pairs n < k but for positive factors, of independent classes."""
        assert self.inverse is not None
        return [-row[k] for n, row in enumerate(self.inverse) for k in range(n + 1, self.K)]

    @cached_property
    def inverse_C0(self) -> Fraction:
        """K times the mean of (f_n^T f_n')^2 over pairs of classes."""
        squares = [sum(p * p for p in c.P.values()) for c in self.classes]
        total = Fraction(0)
        for n, a in enumerate(self.classes):
            for k, b in enumerate(self.classes[:n]):
                product = sum((p * b.P[l] for l, p in a.P.items() if l in b.P), Fraction(0))  # noqa: E741
                total += product**2 / (squares[n] * squares[k])
        return 2 * total / (self.K - 1)

    @cached_property
    def E_prime(self) -> list[list[arb]]:
        """I - (I + E)^{-1} (Lemma 14), of independent classes."""
        inverse = self.gram.inv().tolist()
        return [[(1 if i == j else 0) - inverse[i][j] for j in range(self.K)] for i in range(self.K)]


def eigenvalues(gram: arb_mat) -> list[float]:
    """Of E, from I + E, ascending, without error in float64 but that of the last rounding."""
    with mpmath.workdps(DIGITS):
        entries = [[mpmath.mpf(x.mid().str(DIGITS, radius=False)) for x in row] for row in gram.tolist()]
        for n in range(len(entries)):
            entries[n][n] = mpmath.mpf(0)
        return sorted(float(x) for x in mpmath.eigsy(mpmath.matrix(entries), eigvals_only=True))


def unit(powers: Mapping[str, arb]) -> dict[str, arb]:
    """C/|c| of attention that is proportional to these."""
    norm = sum((x * x for x in powers.values()), arb(0)).sqrt()
    return {l: x / norm for l, x in powers.items()}  # noqa: E741


def gram(attention: list[dict[str, arb]]) -> arb_mat:
    """F^T F of classes with such attention, its diagonal exactly 1."""
    f = [unit(c) for c in attention]
    return arb_mat(
        [
            [arb(1) if a is b else sum((x * b[l] for l, x in a.items() if l in b), arb(0)) for b in f]  # noqa: E741
            for a in f
        ]
    )
