"""The rows of a hard-margin problem, score(winner) - score(loser) >= 1, with bounds on their rounding errors."""

from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
import scipy  # its subpackages load when first used
from numpy.typing import NDArray

from marginaudit.orders.arrays import UNIT_ROUNDOFF, Floats, gamma

Indices: TypeAlias = NDArray[np.int64]

SHORTEST, LONGEST = 1e-120, 1e120
"""Range of row lengths within which float64 squares and products of rows, solutions and gaps stay in range.

(x_w - x_l) q^T is at most 2e100 d long, as entries are at most 1e50, and a unit in the last place of 1e-50 times 1e-50.
"""


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows S[winner, column] - S[loser, column] >= 1, with the scores S = left W right^T.

    With the identity for both factors, W is the array of scores.

    Attributes
    ----------
    winner, loser, column : (rows,)
        Token indices.
    size : int
        The number V of tokens.
    left, right : (vocabulary, dimension) arrays, or None for the identity
    """

    winner: Indices
    loser: Indices
    column: Indices
    size: int
    left: Floats | None
    right: Floats | None

    def __len__(self) -> int:
        return len(self.winner)

    @property
    def shape(self) -> tuple[int, int]:
        """The shape of W."""
        return (
            self.size if self.left is None else self.left.shape[1],
            self.size if self.right is None else self.right.shape[1],
        )

    def taken(self, chosen: NDArray[np.bool_]) -> "Rows":
        """The chosen rows."""
        return replace(self, winner=self.winner[chosen], loser=self.loser[chosen], column=self.column[chosen])

    def scores(self, W: Floats) -> Floats:
        """Left W right^T, shape (vocabulary, vocabulary)."""
        scores = W if self.left is None else self.left @ W
        return scores if self.right is None else scores @ self.right.T

    def margins(self, W: Floats) -> tuple[Floats, Floats]:
        """The left-hand sides of all rows at W, and a bound on the rounding error of each."""
        scores, size = self.scores(W), self.absolute.scores(np.abs(W))
        margin = scores[self.winner, self.column] - scores[self.loser, self.column]
        error = self._product_error * (size[self.winner, self.column] + size[self.loser, self.column])
        return margin, error + 2 * UNIT_ROUNDOFF * np.abs(margin)

    def adjoint(self, multipliers: Floats) -> tuple[Floats, Floats]:
        """A^T lam, of the shape of W, and a bound on the rounding error of each entry."""
        token, sizes = np.zeros((2, self.size, self.size))
        np.add.at(token, (self.winner, self.column), multipliers)
        np.add.at(token, (self.loser, self.column), -multipliers)
        np.add.at(sizes, (self.winner, self.column), np.abs(multipliers))
        np.add.at(sizes, (self.loser, self.column), np.abs(multipliers))
        cells = np.concatenate([self.winner, self.loser]) * self.size + np.tile(self.column, 2)
        terms = int(np.unique(cells, return_counts=True)[1].max(initial=0))
        factors = (self.left is not None) + (self.right is not None)
        return self.pulled_back(token), gamma(terms + factors * (self.size + 4)) * self.absolute.pulled_back(sizes)

    def pulled_back(self, token: Floats) -> Floats:
        """Left^T token right, of the shape of W."""
        token = token if self.left is None else self.left.T @ token
        return token if self.right is None else token @ self.right

    @property
    def absolute(self) -> "Rows":
        """The same rows with absolute values of both factors."""
        return replace(
            self,
            left=None if self.left is None else np.abs(self.left),
            right=None if self.right is None else np.abs(self.right),
        )

    @property
    def _product_error(self) -> float:
        dimensions = sum(factor.shape[1] + 4 for factor in (self.left, self.right) if factor is not None)
        return gamma(dimensions) if dimensions else 0.0

    def sparse(self) -> "scipy.sparse.csr_array[np.float64]":
        """The sparse matrix A with A w = the left-hand sides, w = W flattened row by row."""
        rows = np.arange(len(self))
        if self.left is None:
            difference = scipy.sparse.coo_array(
                (
                    np.repeat([1.0, -1.0], len(self)),
                    (np.tile(rows, 2), np.concatenate([self.winner, self.loser])),
                ),
                shape=(len(self), self.size),
            )
        else:
            with np.errstate(over="ignore"):
                difference = scipy.sparse.coo_array(self.left[self.winner] - self.left[self.loser])
        row, first = difference.coords
        column = self.column[row]
        width = self.shape[1]
        if self.right is None:
            data, second = difference.data, column
        else:
            with np.errstate(over="ignore", invalid="ignore"):
                data = (difference.data[:, None] * self.right[column]).ravel()
            row, first = np.repeat(row, width), np.repeat(first, width)
            second = np.tile(np.arange(width), len(column))
        places = (row, first * width + second)
        matrix = scipy.sparse.csr_array((data, places), shape=(len(self), np.prod(self.shape)))
        matrix.eliminate_zeros()
        return matrix


def row_lengths(A: "scipy.sparse.csr_array[np.float64]") -> Floats:
    """Euclidean length of each row, also if its square overflows; infinite if an entry does."""
    largest = np.asarray(abs(A).max(axis=1).toarray(), dtype=np.float64).ravel()
    safe = np.where((largest > 0) & np.isfinite(largest), largest, 1.0)
    with np.errstate(over="ignore", invalid="ignore"):
        scaled = scipy.sparse.csr_array(scipy.sparse.diags_array(1 / safe) @ A)
        lengths = safe * np.sqrt(np.asarray((scaled * scaled).sum(axis=1), dtype=np.float64))
    return np.where(np.isfinite(lengths), lengths, np.inf)


def in_few_coordinates(rows: Rows) -> tuple[Rows, Floats | None, Floats | None]:
    """The rows in at most V coordinates per side, and the orthonormal bases for the way back.

    W* lies in the span of the embeddings; where the dimension exceeds V, W = left M right^T with the
    (dimension, V) bases returned, and the new rows are those of M.
    """
    left, left_basis = _coordinates(rows.left)
    right, right_basis = (left, left_basis) if rows.right is rows.left else _coordinates(rows.right)
    return replace(rows, left=left, right=right), left_basis, right_basis


def _coordinates(factor: Floats | None) -> tuple[Floats | None, Floats | None]:
    if factor is None or factor.shape[1] <= factor.shape[0]:
        return factor, None
    basis, triangle = np.linalg.qr(factor.T)
    return triangle.T, basis
