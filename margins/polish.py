"""Polish a numerical solution to float64 resolution: solve its optimality conditions in ball arithmetic.

W* is that of the embeddings' float64 entries as rationals. The rows with a positive multiplier determine it: with B a
basis of them, the residual 1 - A w is solved for with the Gram matrix of B, in several hundred bits. Rows with a
negative multiplier are dropped, violated rows are added, and the solve is repeated.

The proof relies on none of this. W = A^T lam, its least margin and the duality gap are enclosed in ball arithmetic over
all rows, with the resulting multipliers, negative ones set to 0: for any choice of rows, :func:`certify`'s argument
bounds the distance to W*. Wrong rows leave a wide gap, and the solution is returned unchanged.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import scipy  # its subpackages load when first used
from numpy.typing import NDArray

from marginaudit.margins.certificate import Certified, enclose
from marginaudit.margins.rows import Rows, in_few_coordinates, row_lengths
from marginaudit.orders.arrays import Floats
from marginaudit.orders.balls import upper_end

if TYPE_CHECKING:
    from flint import arb, arb_mat

BITS = 512
"""Precision, with half for the condition of the Gram matrix and a quarter for the radius."""

SHARP = 2.0**-60
"""Largest distance of directions, before rounding W to float64, of a successful solve."""

NEGLIGIBLE = 2.0**-100
"""Tolerance of a zero multiplier or slack, relative to ||W||, after a solve in ``BITS`` bits."""

STEPS = 8
"""Choices of rows tried; from a solution with a relative gap of 1e-12 the first is nearly always right."""

RANK_TOLERANCE = 1e-12
"""Residual in float64 elimination up to which a row of length 1 lies in the span of others."""

LARGEST_BASIS = 500
"""Limit on the rows of the Gram matrix: a few seconds."""

LARGEST_PRODUCT = 2 * 10**7
"""Limit on ball multiplications in a matrix product: a few seconds."""

LARGEST_ELIMINATION = 2 * 10**9
"""Limit on float64 multiplications to find a basis of the rows: a second."""


def polished(rows: Rows, found: Certified) -> Certified:
    """The solution rounded from a far more precise one, with proved radii.

    The radii bound the distance of the float64 W from the rational optimum of the given embeddings: its rounding, about
    1e-16 of ||W||, and a duality gap below 1e-36. The certificate is recomputed from the rounded arrays. Returns
    ``found`` unchanged if no choice of rows succeeds, or the problem is large.
    """
    height, width = rows.shape
    left, right = (height if rows.left is not None else 0), (width if rows.right is not None else 0)
    if (rows.size + height) * (rows.size + width) * (rows.size + left + right) > LARGEST_PRODUCT:
        return found
    from flint import ctx

    with ctx.workprec(BITS):
        return _polished(rows, found)


def _polished(rows: Rows, found: Certified) -> Certified:
    from flint import arb

    A = in_few_coordinates(rows)[0].sparse()
    lengths = row_lengths(A)
    A = scipy.sparse.csr_array(scipy.sparse.diags_array(1 / lengths) @ A)
    balls = Balls.of(rows)
    norm = float(np.linalg.norm(found.W))
    weight = found.multipliers * lengths
    chosen = weight > (rows.margins(found.W)[0] - 1) / lengths
    lam = [arb(value) if kept else arb(0) for value, kept in zip(found.multipliers.tolist(), chosen, strict=True)]
    for _ in range(STEPS):
        basis = independent_rows(A, chosen)
        change = None if basis is None else balls.correction(basis.tolist(), balls.margins(lam))
        if basis is None or change is None:
            return found
        for row, delta in zip(basis.tolist(), change, strict=True):
            lam[row] = (lam[row] + delta).mid()
        margins = balls.margins(lam)
        proved = balls.proved([value if value > 0 else arb(0) for value in lam], found.W)
        if proved is not None:
            return proved if proved.direction_radius < found.direction_radius else found
        weight = np.array([float(value) for value in lam]) * lengths
        slack = np.array([float(margin - 1) for margin in margins]) / lengths
        again = (chosen & (weight > -NEGLIGIBLE * norm)) | (slack < -NEGLIGIBLE * norm)
        if np.array_equal(again, chosen):
            return found
        chosen = again
        lam = [value if kept and value > 0 else arb(0) for value, kept in zip(lam, chosen, strict=True)]
    return found


def independent_rows(A: "scipy.sparse.csr_array[np.float64]", chosen: NDArray[np.bool_]) -> NDArray[np.int64] | None:
    """A maximal independent set of the chosen rows, of length 1; None if too expensive."""
    candidates = np.flatnonzero(chosen)
    if not len(candidates) or len(candidates) ** 2 * A.shape[1] > LARGEST_ELIMINATION:
        return None
    part = A[candidates]
    triangle, order = scipy.linalg.qr(part[:, np.unique(part.indices)].toarray().T, mode="r", pivoting=True)
    rank = int(np.count_nonzero(np.abs(np.diagonal(triangle)) > RANK_TOLERANCE))
    return candidates[order[:rank]] if rank <= LARGEST_BASIS else None


@dataclass(frozen=True, eq=False)
class Balls:
    """The rows, with Gram matrices of their factors: A A^T without A."""

    rows: Rows
    places: list[tuple[int, int, int]]
    left: "arb_mat | None"
    right: "arb_mat | None"
    left_gram: "arb_mat | None"
    right_gram: "arb_mat | None"

    @classmethod
    def of(cls, rows: Rows) -> "Balls":
        """Exact balls of the rows' factors."""
        from flint import arb_mat

        left, right = (None if f is None else arb_mat(f.tolist()) for f in (rows.left, rows.right))
        return cls(
            rows=rows,
            places=list(zip(rows.winner.tolist(), rows.loser.tolist(), rows.column.tolist(), strict=True)),
            left=left,
            right=right,
            left_gram=None if left is None else left * left.transpose(),
            right_gram=None if right is None else right * right.transpose(),
        )

    def tokens(self, lam: "list[arb]") -> "arb_mat":
        """C with A^T lam = left^T C right."""
        from flint import arb, arb_mat

        C = [[arb(0)] * self.rows.size for _ in range(self.rows.size)]
        for (w, x, c), value in zip(self.places, lam, strict=True):
            C[w][c] += value
            C[x][c] -= value
        return arb_mat(C)

    def scores(self, C: "arb_mat") -> "list[list[arb]]":
        """The scores of W = left^T C right."""
        scores = C if self.left_gram is None else self.left_gram * C
        table: list[list[arb]] = (scores if self.right_gram is None else scores * self.right_gram).tolist()
        return table

    def margins(self, lam: "list[arb]") -> "list[arb]":
        """A A^T lam."""
        scores = self.scores(self.tokens(lam))
        return [scores[w][c] - scores[x][c] for w, x, c in self.places]

    def correction(self, basis: list[int], margins: "list[arb]") -> "list[arb] | None":
        """Approximate correction of the basis rows' multipliers towards margins of 1; None if singular."""
        from flint import arb, arb_mat

        K, Q = (
            [[arb(int(i == j)) for j in range(self.rows.size)] for i in range(self.rows.size)]
            if gram is None
            else gram.tolist()
            for gram in (self.left_gram, self.right_gram)
        )
        places = [self.places[row] for row in basis]
        gram = []
        for w, x, c in places:
            difference = [a - b for a, b in zip(K[w], K[x], strict=True)]
            gram.append([(difference[w2] - difference[x2]) * Q[c][c2] for w2, x2, c2 in places])
        missing = arb_mat([[1 - margins[row]] for row in basis])
        try:
            change = [value.mid() for value in arb_mat(gram).solve(missing, algorithm="approx").entries()]
        except ZeroDivisionError:
            return None
        return change if all(value.is_finite() for value in change) else None

    def proved(self, lam: "list[arb]", like: Floats) -> Certified | None:
        """A^T lam for lam >= 0, rounded to float64, with its distance from W* enclosed; None if not small."""
        from flint import arb

        C = self.tokens(lam)
        scores, pulled = self.scores(C), C.tolist()
        least = min((scores[w][c] - scores[x][c]).lower() for w, x, c in self.places)
        squared = _sum(a * b for u, v in zip(pulled, scores, strict=True) for a, b in zip(u, v, strict=True))
        if not (least > 0 and squared > 0):
            return None
        primal = squared / (least * least)
        gap = (primal - (2 * _sum(lam) - squared)).abs_upper()
        x = (gap / primal).upper()
        direction = (2 * x / (1 + (1 - x).sqrt())).sqrt()
        if not direction < SHARP:  # not a number where x is above 1
            return None

        W_balls = C if self.left is None else self.left.transpose() * C
        W_balls = W_balls if self.right is None else W_balls * self.right
        exact = W_balls.entries()
        rounded = [float(value) for value in exact]
        W = np.array(rounded).reshape(like.shape)
        found = enclose(self.rows, W, np.array([float(value) for value in lam]))
        if found is None:
            return None
        length, own = squared.sqrt(), _sum(arb(value) * arb(value) for value in rounded).sqrt()
        turned = _length(arb(v) / own - value / length for v, value in zip(rounded, exact, strict=True))
        moved = _length(arb(v) - value for v, value in zip(rounded, exact, strict=True))
        return replace(
            found,
            direction_radius=upper_end(direction + turned),
            weight_radius=upper_end(gap.sqrt() + (1 / least - 1).abs_upper() * length + moved),
        )


def _sum(values: Iterable["arb"]) -> "arb":
    from flint import arb

    return sum(values, arb(0))


def _length(values: Iterable["arb"]) -> "arb":
    """Upper bound of the length; the square root of a ball that reaches below 0 is NaN."""
    return _sum(value * value for value in values).abs_upper().sqrt()
