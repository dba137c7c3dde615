"""What a hard-margin problem's solution consists of."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from marginaudit.margins.certificate import Certificate, Certified
from marginaudit.margins.farkas import Farkas
from marginaudit.margins.ntp.cycle import Cycle
from marginaudit.orders.ntp import Token


@dataclass(frozen=True, eq=False)
class Multipliers:
    """Dual multipliers lam >= 0 of the rows A w >= 1, one a row, of the problem min ||w||^2 / 2.

    The rows of W*_kq are ``dataset.relations``, in their order; those of W*_ov are the pairs (x, v)
    with v != n(x), sorted by (x, v).

    Attributes
    ----------
    values : (rows,)
        The multipliers, in float64.
    numerator, denominator : (rows,) of int64, or None
        The exact multipliers where the solution is exact. The denominators are at most the number of
        tokens, the numerators at most its cube.
    """

    values: NDArray[np.float64]
    numerator: NDArray[np.int64] | None
    denominator: NDArray[np.int64] | None

    def fraction(self, row: int) -> Fraction:
        """The exact multiplier of a row.

        Raises
        ------
        ValueError
            The multipliers are not exact.
        """
        if self.numerator is None or self.denominator is None:
            raise ValueError("the multipliers were found in float64 and have no exact values")
        return Fraction(int(self.numerator[row]), int(self.denominator[row]))


@dataclass(frozen=True)
class ClosedForm:
    """Whether Proposition 2's formula gives a query's column of W*_kq, and the tokens that show it does not.

    The formula: m/(k+m) on the k optimal tokens, -k/(k+m) on the m non-optimal, 0 on non-comparable ones.

    Attributes
    ----------
    holds : bool
    witness : tuple of tokens or None
        Without confused tokens: a set S of optimal tokens with |N(S)| k < |S| m, in vocabulary order. With
        confused tokens, on which the formula is silent, and against a numerical solution: the tokens where
        formula and solution, exact or known within its radius, differ. Under a query whose relation has a
        cycle, so that there is no solution: the cycle. None where the formula holds, and where there is no
        solution for another reason (embeddings that are not orthonormal couple the queries).
    """

    holds: bool
    witness: tuple[Token, ...] | None


@dataclass(frozen=True, eq=False)
class MaxMargin:
    """The solution of a hard-margin problem, with what proves it.

    Attributes
    ----------
    status : "optimal" or "infeasible"
    method : "exact", "closed-form" or "cvxpy"
        How the answer was found. An infeasible problem is "exact" where a cycle, or Farkas
        multipliers in rational arithmetic, prove it.
    scores : (vocabulary, vocabulary) array or None
        The solution in token space: kq [key x, query q] = x^T W q, ov [output token v, input token x] =
        e_v^T W x. None where infeasible.
    matrix : array or None
        W itself: kq (dimension, dimension), ov (vocabulary, dimension). The scores for one-hot tokens.
    norm_squared : float or None
        ||W||_F^2.
    norm_squared_exact : Fraction or None
    weights_exact : mapping or None
        {column token: {row token: value}}, zero entries left out.
    certificate : Certificate
    multipliers : Multipliers or None
        The dual solution; None where infeasible.
    direction_radius : float or None
        Bound on ||W/||W|| - W*/||W*||||_F, W* that of orthonormal tokens where ``gram_deviation`` is a number, else
        that of the float64 embeddings taken as rationals. 0.0 where the weights are exact: then rounding them to
        float64 is the only error, about 1 ulp per entry. About 1e-16, the rounding of W included, where a numerical
        solution was polished. None where W* = 0 or infeasible.
    weight_radius : float or None
        Bound on ||W - W*||_F, in the same sense.
    infeasibility : Cycle, Farkas or None
        The re-checked proof that no W meets all rows.
    closed_form : mapping or None
        kq only: Proposition 2's formula for each query that heads a relation.
    gram_deviation : float or None
        The solution is that of orthonormal tokens, and everything here is said of these; the entries of E E^T - I
        of the float64 embeddings E are at most this (`marginaudit.orders.gram_deviation`). None where the answer
        takes no token as orthonormal: it is that of the embeddings as they stand, or holds for any.
    """

    status: Literal["optimal", "infeasible"]
    method: Literal["exact", "closed-form", "cvxpy"]
    scores: NDArray[np.float64] | None
    matrix: NDArray[np.float64] | None
    norm_squared: float | None
    norm_squared_exact: Fraction | None
    weights_exact: Mapping[Token, Mapping[Token, Fraction]] | None
    certificate: Certificate
    multipliers: Multipliers | None
    direction_radius: float | None
    weight_radius: float | None
    infeasibility: Cycle | Farkas | None
    closed_form: Mapping[Token, ClosedForm] | None
    gram_deviation: float | None

    @property
    def note(self) -> str | None:
        """What the solution supposes of the embeddings beyond what they are; None where nothing."""
        if not self.gram_deviation:
            return None
        return f"for orthonormal tokens; the embedding's Gram matrix is within about {self.gram_deviation:.3g} of I"


def numerical(
    found: Certified,
    *,
    scores: NDArray[np.float64],
    matrix: NDArray[np.float64],
    closed_form: Mapping[Token, ClosedForm] | None,
    gram_deviation: float | None,
) -> MaxMargin:
    """A certified solution of the quadratic program."""
    return MaxMargin(
        status="optimal",
        method="cvxpy",
        scores=scores,
        matrix=matrix,
        norm_squared=found.certificate.primal,
        norm_squared_exact=None,
        weights_exact=None,
        certificate=found.certificate,
        multipliers=Multipliers(values=found.multipliers, numerator=None, denominator=None),
        direction_radius=found.direction_radius,
        weight_radius=found.weight_radius,
        infeasibility=None,
        closed_form=closed_form,
        gram_deviation=gram_deviation,
    )


def infeasible(proof: Cycle | Farkas, closed_form: Mapping[Token, ClosedForm] | None) -> MaxMargin:
    """No W meets all rows, and why."""
    return MaxMargin(
        status="infeasible",
        method="exact" if isinstance(proof, Cycle) or not proof.residual else "cvxpy",
        scores=None,
        matrix=None,
        norm_squared=None,
        norm_squared_exact=None,
        weights_exact=None,
        certificate=Certificate(primal=None, dual=None, gap=None, max_violation=None),
        multipliers=None,
        direction_radius=None,
        weight_radius=None,
        infeasibility=proof,
        closed_form=closed_form,
        gram_deviation=None,
    )
