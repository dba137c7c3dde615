"""Solutions of a hard-margin problem: exact, in closed form, numerical, or a proof of infeasibility."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from typing import Any, ClassVar, Literal, TypeAlias, TypeVar, final, get_args

from marginaudit.margins.certificate import Certificate, Certified
from marginaudit.margins.errors import CertificateError, NotExact
from marginaudit.margins.farkas import Farkas
from marginaudit.margins.rows import Indices
from marginaudit.orders.arrays import Floats
from marginaudit.orders.ntp import Dataset, Token

T = TypeVar("T")

Method: TypeAlias = Literal["auto", "exact", "cvxpy"]
"""Methods for a hard-margin problem."""

Weights: TypeAlias = Mapping[Token, Mapping[Token, Fraction]]
"""{column token: {row token: value}}."""


def check_method(method: str) -> None:
    """Raise unless the method is known.

    Raises
    ------
    ValueError
        The method is unknown.
    """
    if method not in get_args(Method):
        raise ValueError(f"method: got {method!r}, expected one of {', '.join(get_args(Method))}")


@dataclass(frozen=True, eq=False)
class Multipliers:
    """Exact multipliers numerator/denominator, one per row.

    Attributes
    ----------
    numerator, denominator : (rows,) of int64
        The denominators are at most the number of tokens, the numerators at most its cube.
    """

    numerator: Indices
    denominator: Indices

    def fraction(self, row: int) -> Fraction:
        """The multiplier of a row."""
        return Fraction(int(self.numerator[row]), int(self.denominator[row]))


@dataclass(frozen=True)
class ClosedForm:
    """Whether Proposition 2's formula gives a query's column of W*_kq, with a witness if not.

    The formula: m/(k+m) on the k optimal tokens, -k/(k+m) on the m non-optimal, 0 on non-comparable ones.

    Attributes
    ----------
    witness : tuple of tokens or None
        Without confused tokens: a set S of optimal tokens with |N(S)| k < |S| m, in vocabulary order. With confused
        tokens, outside the formula's scope, and for a numerical solution: the tokens where formula and solution, exact
        or within its radius, differ. Under a query with a cyclic relation, so without a solution: the cycle. None if
        the formula holds, or if the problem is infeasible for another reason (embeddings that are not orthonormal
        couple the queries).
    """

    holds: bool
    witness: tuple[Token, ...] | None


@dataclass(frozen=True, eq=False)
class MaxMargin:
    """Result of a hard-margin problem: `Optimal`, `Exact` in rational arithmetic, or `Infeasible`.

    Attributes
    ----------
    status : "optimal" or "infeasible"
    method : "exact", "closed-form" or "cvxpy"
        Method of solution; "exact" for infeasibility proved by a cycle or rational Farkas multipliers.
    closed_form : mapping
        Proposition 2's formula for each query that heads a relation; empty for W*_ov.
    """

    status: ClassVar[Literal["optimal", "infeasible"]]
    method: Literal["exact", "closed-form", "cvxpy"]
    closed_form: Mapping[Token, ClosedForm]

    def optimal(self) -> "Optimal":
        """The solution.

        Raises
        ------
        ValueError
            The problem is infeasible.
        """
        raise ValueError("the max-margin problem is infeasible")

    def exact(self) -> "Exact":
        """The solution in rational arithmetic.

        Raises
        ------
        NotExact
            The solution is not exact.
        """
        raise NotExact("the max-margin problem has no exact solution")


@dataclass(frozen=True, eq=False)
class Optimal(MaxMargin):
    """Solution of a hard-margin problem, with its proof.

    Attributes
    ----------
    dense : callable
        Computes ``scores`` and ``matrix`` on first access (at V = 10,000 each takes 800 MB); can be pickled.
    multipliers : (rows,)
        The dual solution lam >= 0 of the rows A w >= 1, of the problem min ||w||^2 / 2. The rows of W*_kq are
        ``dataset.relations``, in their order; those of W*_ov are the pairs (x, v) with v != n(x), sorted by (x, v).
    direction_radius : float
        Bound on ||W/||W|| - W*/||W*||||_F, with W* that of orthonormal tokens if ``gram_deviation`` is a number, else
        that of the float64 embeddings as rationals. 0.0 for exact weights, with float64 rounding, about 1 ulp per
        entry, as the only error. About 1e-16 for a polished solution, including the rounding of W. NaN if W* = 0.
    weight_radius : float
        Bound on ||W - W*||_F, in the same sense.
    gram_deviation : float or None
        Bound on the entries of E E^T - I of the float64 embeddings E (`marginaudit.orders.gram_deviation`), if the
        solution and all its bounds are those of orthonormal tokens. None if they are those of the given embeddings, or
        hold for any.
    """

    status = "optimal"
    dense: Callable[[], tuple[Floats, Floats]]
    certificate: Certificate
    multipliers: Floats
    direction_radius: float
    weight_radius: float
    gram_deviation: float | None

    @cached_property
    def arrays(self) -> tuple[Floats, Floats]:
        """Scores and weights, computed once."""
        return self.dense()

    @property
    def scores(self) -> Floats:
        """The solution in token space, (vocabulary, vocabulary).

        kq [key x, query q] = x^T W q, ov [output token v, input token x] = e_v^T W x.
        """
        return self.arrays[0]

    @property
    def matrix(self) -> Floats:
        """W: kq (dimension, dimension), ov (vocabulary, dimension); equal to the scores for one-hot tokens."""
        return self.arrays[1]

    @property
    def norm_squared(self) -> float:
        """||W||_F^2."""
        return self.certificate.primal

    @property
    def note(self) -> str | None:
        """Assumption on the embeddings beyond their entries, or None."""
        if not self.gram_deviation:
            return None
        return f"for orthonormal tokens; the embedding's Gram matrix is within about {self.gram_deviation:.3g} of I"

    def optimal(self) -> "Optimal":
        """The solution."""
        return self


@final
@dataclass(frozen=True, eq=False)
class Exact(Optimal):
    """Solution with rational weights and multipliers.

    Attributes
    ----------
    weights_exact : mapping
        {column token: {row token: value}} without zero entries.
    """

    norm_squared_exact: Fraction
    weights_exact: Weights
    multipliers_exact: Multipliers

    def exact(self) -> "Exact":
        """The solution in rational arithmetic."""
        return self


@dataclass(frozen=True)
class Cycle:
    """Tokens x_1 >_q x_2 >_q .. >_q x_1; the rows of these relations add up to 0 >= their number."""

    query: Token
    tokens: tuple[Token, ...]

    def verify(self, dataset: Dataset) -> None:
        """Check that each step of the cycle is a relation of the dataset.

        Raises
        ------
        CertificateError
            A step is not a relation.
        """
        order = dataset.orders.get(self.query)
        steps = zip(self.tokens, (*self.tokens[1:], *self.tokens[:1]), strict=True)
        if order is None or not self.tokens or not all(step in order.samples for step in steps):
            raise CertificateError(f"{self.tokens} is no cycle under query {self.query!r}")

    def as_document(self) -> dict[str, Any]:
        """The certificate as plain JSON data."""
        return {"kind": "cycle", "query": self.query, "tokens": list(self.tokens)}


@final
@dataclass(frozen=True, eq=False)
class Infeasible(MaxMargin):
    """No W meets all rows.

    Attributes
    ----------
    infeasibility : Cycle or Farkas
        The checked proof.
    """

    status = "infeasible"
    infeasibility: Cycle | Farkas


def each_value(weights: Weights, function: Callable[[Fraction], T]) -> dict[Token, dict[Token, T]]:
    """Map a function over the weights, called once for a fraction shared by many entries.

    >>> half, calls = Fraction(1, 2), []
    >>> each_value({"q": {"a": half, "b": half}}, lambda value: calls.append(value) or str(value))
    {'q': {'a': '1/2', 'b': '1/2'}}
    >>> len(calls)
    1
    """
    fractions: dict[int, Fraction] = {}
    for column in weights.values():
        fractions.update(zip(map(id, column.values()), column.values(), strict=True))
    values = {key: function(value) for key, value in fractions.items()}
    at = values.__getitem__
    return {name: dict(zip(column, map(at, map(id, column.values())), strict=True)) for name, column in weights.items()}


def numerical(
    found: Certified,
    *,
    scores: Floats,
    matrix: Floats,
    closed_form: Mapping[Token, ClosedForm],
    gram_deviation: float | None,
) -> Optimal:
    """A certified solution of the quadratic program."""
    return Optimal(
        method="cvxpy",
        closed_form=closed_form,
        dense=partial(both, scores, matrix),
        certificate=found.certificate,
        multipliers=found.multipliers,
        direction_radius=found.direction_radius,
        weight_radius=found.weight_radius,
        gram_deviation=gram_deviation,
    )


def both(scores: Floats, matrix: Floats) -> tuple[Floats, Floats]:
    """Return computed arrays (for `functools.partial` as a ``dense``)."""
    return scores, matrix


def infeasible(proof: Cycle | Farkas, closed_form: Mapping[Token, ClosedForm]) -> Infeasible:
    """Infeasibility with its proof."""
    exact = isinstance(proof, Cycle) or not proof.residual
    return Infeasible(method="exact" if exact else "cvxpy", closed_form=closed_form, infeasibility=proof)
