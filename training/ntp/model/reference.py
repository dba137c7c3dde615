"""The exact W*_kq on the reduced model: weights of the pairs, slacks and multipliers of the merged edges."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from marginaudit.margins.ntp import Exact, MaxMargin
from marginaudit.margins.support import Support, support
from marginaudit.orders.ntp import Dataset
from marginaudit.training.ntp.model.classes import SampleClasses
from marginaudit.training.ntp.model.edges import Floats, MergedEdges

if TYPE_CHECKING:
    import flint

BITS = 256


@dataclass(frozen=True, eq=False)
class ExactReference:
    """W*_kq in rational arithmetic.

    Attributes
    ----------
    weight : tuple of Fraction, one per pair
        x^T W*_kq q.
    norm_squared : Fraction
        ||W*_kq||^2, not 0.
    slack : tuple of Fraction, one per merged edge
        W*_winner - W*_loser - 1, 0 where the constraint is tight.
    multiplier : tuple of Fraction, one per merged edge
        Of one dual solution: W* = sum of multiplier (e_winner - e_loser).
    """

    weight: tuple[Fraction, ...]
    norm_squared: Fraction
    slack: tuple[Fraction, ...]
    multiplier: tuple[Fraction, ...]

    @cached_property
    def norm(self) -> float:
        """||W*_kq||, correctly rounded."""
        import flint

        with flint.ctx.workprec(BITS):
            return float(ball(self.norm_squared).sqrt())

    @cached_property
    def unit(self) -> tuple[Floats, Floats]:
        """What = W*/||W*|| as an unevaluated sum of two float64 arrays, shape (pairs,)."""
        return over_root(self.weight, self.norm_squared)

    def support(self, merged: MergedEdges) -> Support:
        """Support of the merged edges: the tight ones, and those that can carry a multiplier."""
        return support(merged.winner, merged.loser, self.slack, self.multiplier, len(self.weight))

    @cached_property
    def unit_slack(self) -> Floats:
        """slack / ||W*|| in float64, shape (merged edges,)."""
        return over_root(self.slack, self.norm_squared)[0]


def exact_reference(
    dataset: Dataset, classes: SampleClasses, merged: MergedEdges, solution: MaxMargin
) -> ExactReference | None:
    """The exact solution on the pairs and merged edges; None if it is 0 or not exact."""
    if not isinstance(solution, Exact) or not solution.weights_exact:
        return None
    weights = solution.weights_exact
    names = dataset.vocabulary
    keys, queries = classes.key.tolist(), classes.pair_query.tolist()
    zero = Fraction(0)
    weight = tuple(weights.get(names[q], {}).get(names[x], zero) for x, q in zip(keys, queries, strict=True))
    relations = dataset.relations
    V = dataset.V
    codes = (relations.query.astype(np.int64) * V + relations.winner) * V + relations.loser
    order = np.argsort(codes)
    wanted = (classes.pair_query[merged.winner] * V + classes.key[merged.winner]) * V + classes.key[merged.loser]
    rows = order[np.searchsorted(codes, wanted, sorter=order)]
    ends = zip(merged.winner.tolist(), merged.loser.tolist(), strict=True)
    return ExactReference(
        weight=weight,
        norm_squared=solution.norm_squared_exact,
        slack=tuple(weight[a] - weight[j] - 1 for a, j in ends),
        multiplier=tuple(solution.multipliers_exact.fraction(row) for row in rows.tolist()),
    )


def over_root(values: Sequence[Fraction], square: Fraction) -> tuple[Floats, Floats]:
    """The values over the root of ``square``, as an unevaluated sum of two float64 arrays.

    >>> high, low = over_root([Fraction(1)], Fraction(2))
    >>> float(high[0]), float(low[0])
    (0.7071067811865476, -4.833646656726457e-17)
    """
    import flint

    with flint.ctx.workprec(BITS):
        root = ball(square).sqrt()
        parts: dict[int, tuple[float, float]] = {}
        for value in values:  # many are one and the same object, and hashing a Fraction is slow
            if id(value) not in parts:
                exact = ball(value) / root
                parts[id(value)] = float(exact), float(exact - float(exact))
    high, low = np.array([parts[id(value)] for value in values], dtype=np.float64).reshape(-1, 2).T
    return high, low


def ball(value: Fraction) -> "flint.arb":
    """The number in ball arithmetic."""
    import flint

    return flint.arb(flint.fmpq(value.numerator, value.denominator))
