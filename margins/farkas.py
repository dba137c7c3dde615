"""Farkas multipliers: proofs of infeasibility."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import scipy  # its subpackages load when first used

from marginaudit.margins.errors import CertificateError
from marginaudit.margins.rows import LONGEST, SHORTEST, Rows, row_lengths
from marginaudit.orders.arrays import UNIT_ROUNDOFF, Floats

LARGEST_EXACT_SYSTEM = 200_000
"""Limit on entries (rows times coordinates) for multipliers in rational arithmetic."""

NEGLIGIBLE_MULTIPLIER = 1e-9
"""Threshold below which multipliers (of sum 1) count as 0: the linear program is accurate to about 1e-9."""


@dataclass(frozen=True)
class Farkas:
    """Multipliers y >= 0 of rows A w >= 1 with sum(y) = 1: every feasible W has ||W|| >= 1/||A^T y||.

    Attributes
    ----------
    rows : tuple of (column token, winner, loser)
        The rows with a positive multiplier.
    multipliers : tuple of Fraction
        Multipliers of these rows, in the same order.
    residual : float
        Upper bound on ||A^T y||_F. It is 0.0 if A^T y = 0 in rational arithmetic: no W is feasible. Otherwise it is at
        most the effect of rounding the embedding's entries: an embedding within float64 resolution of the given one may
        be feasible, but only with the norm below.
    norm_at_least : float
        1/residual, a lower bound on the norm of a feasible W; infinite if the residual is 0.
    """

    rows: tuple[tuple[str, str, str], ...]
    multipliers: tuple[Fraction, ...]
    residual: float

    @property
    def norm_at_least(self) -> float:
        """Lower bound 1/residual on the norm of any feasible W."""
        return 1 / self.residual if self.residual else math.inf

    def as_document(self) -> dict[str, Any]:
        """The certificate as plain JSON data, multipliers as strings "p/q"."""
        return {
            "kind": "farkas",
            "rows": [list(row) for row in self.rows],
            "multipliers": [str(y) for y in self.multipliers],
            "residual": self.residual,
            "norm_at_least": None if math.isinf(self.norm_at_least) else self.norm_at_least,
        }


def find_farkas(rows: Rows, vocabulary: tuple[str, ...]) -> Farkas | None:
    """Checked multipliers, exact if possible; None if the best leave a residual above rounding."""
    A = rows.sparse()
    lengths = row_lengths(A)
    z = _scaled_multipliers(A, lengths)
    if z is None:
        return None
    chosen = z > NEGLIGIBLE_MULTIPLIER
    part, support = rows.taken(chosen), null_vector(A[chosen], lengths[chosen], z[chosen])
    named = tuple(
        (vocabulary[c], vocabulary[w], vocabulary[x])
        for c, w, x in zip(part.column.tolist(), part.winner.tolist(), part.loser.tolist(), strict=True)
    )
    exact = exact_multipliers(part)
    if exact is not None:
        return Farkas(named, exact, 0.0)
    if lengths[chosen].min() < SHORTEST or lengths[chosen].max() > LONGEST:
        return None
    residual = residual_bound(part, support)
    if residual > rounding_level(part):
        return None
    values = [Fraction(value) for value in support.tolist()]
    return Farkas(named, tuple(value / sum(values) for value in values), residual)


def residual_bound(rows: Rows, y: Floats) -> float:
    """Upper bound on ||A^T y||_F for y scaled to sum 1, rounding included."""
    pulled, error = rows.adjoint(y)
    return float(np.linalg.norm(np.abs(pulled) + error) / y.sum()) * (1 + (pulled.size + len(y)) * UNIT_ROUNDOFF)


def rounding_level(rows: Rows) -> float:
    """Rounding error in ||A^T y||, sum(y) = 1, from the embedding's entries and sums over V tokens of them.

    A row (x_w - x_l) q^T changes by at most 2 u (||x_w|| + ||x_l||) ||q||, u the unit roundoff; sums of
    :meth:`Rows.adjoint` have its error bound of 2 V + 8 roundings.
    """
    sides = [np.ones(rows.size) if f is None else np.linalg.norm(f, axis=1) for f in (rows.left, rows.right)]
    lengths = (sides[0][rows.winner] + sides[0][rows.loser]) * sides[1][rows.column]
    return (4 * rows.size + len(rows) + 16) * UNIT_ROUNDOFF * float(np.max(lengths))


def _scaled_multipliers(A: "scipy.sparse.csr_array[np.float64]", lengths: Floats) -> Floats | None:
    """Farkas multipliers y times row norms, z: a vertex of {y >= 0, A^T y = 0, sum(z) = 1}, by a linear program."""
    if np.any(lengths == 0):
        return np.where(np.arange(len(lengths)) == np.argmin(lengths), 1.0, 0.0)
    if not np.all(np.isfinite(lengths)):
        return None
    columns = (scipy.sparse.diags_array(1 / lengths) @ A[:, np.unique(A.indices)]).T
    program = scipy.sparse.vstack([columns, scipy.sparse.csr_array(np.ones((1, len(lengths))))], format="csr")
    target = np.append(np.zeros(columns.shape[0]), 1.0)
    linprog: Any = scipy.optimize.linprog  # its stubs lack sparse arrays
    found = linprog(np.zeros(len(lengths)), A_eq=program, b_eq=target, bounds=(0, None), method="highs-ds")
    return None if found.x is None else np.maximum(found.x, 0.0)


def null_vector(A: "scipy.sparse.csr_array[np.float64]", lengths: Floats, z: Floats) -> Floats:
    """y with A^T y = 0: the rows' null vector if positive, otherwise the linear program's solution."""
    scale = np.where(lengths > 0, lengths, 1.0)
    vector = np.linalg.svd((A.toarray() / scale[:, None]).T)[2][-1]
    vector = vector if vector.sum() > 0 else -vector
    return np.asarray((vector if np.all(vector > 0) else z) / scale)


def exact_multipliers(rows: Rows) -> tuple[Fraction, ...] | None:
    """Positive rational y of sum 1 with A^T y = 0, A built from the embeddings without rounding."""
    height, width = rows.shape
    if len(rows) * height * width > LARGEST_EXACT_SYSTEM:
        return None
    from flint import fmpz_mat

    left, right = (_integers(factor, rows.size) for factor in (rows.left, rows.right))
    matrix = [
        [(w - x) * q for w, x in zip(left[i], left[j], strict=True) for q in right[c]]
        for i, j, c in zip(rows.winner.tolist(), rows.loser.tolist(), rows.column.tolist(), strict=True)
    ]
    columns = [list(column) for column in zip(*matrix, strict=True)]
    basis, nullity = fmpz_mat(columns).nullspace()
    if nullity != 1:
        return None
    y = [int(basis[i, 0]) for i in range(len(rows))]
    total = sum(y)
    if total == 0 or any(value * total <= 0 for value in y):
        return None
    if any(sum(a * value for a, value in zip(column, y, strict=True)) for column in columns):
        raise CertificateError("the rational multipliers do not annihilate the rows")
    return tuple(Fraction(value, total) for value in y)


def _integers(factor: Floats | None, size: int) -> list[list[int]]:
    """The rows of a factor, scaled to integers by one power of two."""
    if factor is None:
        return np.eye(size, dtype=int).tolist()
    ratios = [[value.as_integer_ratio() for value in row] for row in factor.tolist()]
    common = max(denominator for row in ratios for _, denominator in row)
    return [[numerator * (common // denominator) for numerator, denominator in row] for row in ratios]
