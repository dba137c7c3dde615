"""The least w under rational rows with any right-hand sides, some of them equalities, exactly."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy  # its subpackages load when first used
from flint import fmpq, fmpq_mat, fmpz, fmpz_mat

from marginaudit.margins.lifting import solve

Vector = tuple[fmpq, ...]
"""Coordinates."""

Matrix = Sequence[Sequence[fmpq]]
"""Rows of coordinates."""

Multipliers = dict[int, fmpq]
"""Multipliers by row, those of equalities first."""


def least_norm(rows: Matrix, targets: Sequence[fmpq], equalities: int = 0) -> tuple[Vector, Vector | None]:
    """Multipliers y of the rows x_n, and the least w with x_n.w >= c_n, or x_n.w = c_n for the first rows.

    Multipliers of equalities have either sign, all others are >= 0, and w = sum y_n x_n. If no w meets all rows, w is
    None, sum y_n x_n = 0 and sum y_n c_n = 1.

    Both follow from the point of the cone of all (x_n, c_n) nearest to (0, 1) (Lawson and Hanson, least distance
    programming). Their algorithm, in integer arithmetic, starts from a float64 guess: move the multipliers towards
    those of the nearest point of the span of some rows, and drop rows whose multiplier reaches 0; then add the row that
    is violated most. It terminates, as each iteration brings the point nearer, so that no set of rows recurs.
    """
    integers, scale = fmpq_mat([list(x) for x in rows]).numer_denom()
    bounds, unit = fmpq_mat([list(targets)]).numer_denom()
    cone = _Cone(integers, bounds.entries(), equalities)
    fixed = cone.independent()
    try:
        y, left = cone.nearest(_guess(rows, targets, equalities, fixed))
    except ZeroDivisionError:  # the guessed rows are dependent
        y, left = cone.nearest(dict.fromkeys(fixed, fmpq(0)))
    factor = fmpq(unit) if left == 0 else fmpq(scale**2) / (unit * left)
    multipliers = tuple(y.get(n, fmpq(0)) * factor for n in range(len(rows)))
    if left == 0:
        return multipliers, None
    return multipliers, tuple((fmpq_mat([list(multipliers)]) * fmpq_mat([list(x) for x in rows])).entries())


@dataclass(frozen=True)
class _Cone:
    """The cone of the (x_n, c_n), with integers; multipliers of the first rows, equalities, have either sign."""

    rows: fmpz_mat
    targets: list[fmpz]
    equalities: int

    def independent(self) -> list[int]:
        """Equalities that span all of them."""
        if not self.equalities:
            return []
        listed = [[*x, c] for x, c in zip(self.rows.table()[: self.equalities], self.targets, strict=False)]
        reduced, _, rank = fmpz_mat(listed).transpose().rref()
        return [next(n for n, value in enumerate(row) if value != 0) for row in reduced.table()[:rank]]

    def nearest(self, y: Multipliers) -> tuple[Multipliers, fmpq]:
        """Multipliers of the point nearest to (0, 1), and its distance along the last coordinate, 1 - sum y_n c_n.

        Starts from multipliers of independent rows.

        Raises
        ------
        ZeroDivisionError
            The rows are dependent.
        """
        listed = [[*x, c] for x, c in zip(self.rows.table(), self.targets, strict=True)]
        columns, first = fmpz_mat(listed), self.equalities
        while True:
            aim, unit = self._nearest_of_span([listed[n] for n in y])
            ends = {n: fmpq(value, unit) for n, value in zip(y, aim, strict=True)}
            if falling := [n for n, value in ends.items() if value <= 0 and n >= first]:
                share = min(y[n] / (y[n] - ends[n]) for n in falling)
                moved = {n: old + share * (ends[n] - old) for n, old in y.items()}
                y = {n: value for n, value in moved.items() if value > 0 or n < first}
                continue
            y = ends
            point = fmpz_mat([aim]) * fmpz_mat([listed[n] for n in y]) if y else fmpz_mat(1, columns.ncols())
            *coordinates, reached = point.entries()
            left = unit - reached
            products = (columns * fmpz_mat([[value] for value in (*coordinates, -left)])).entries()
            violated = min(range(first, len(products)), key=products.__getitem__, default=None)
            if violated is None or products[violated] >= 0:
                return y, fmpq(left, unit)
            y[violated] = fmpq(0)

    @staticmethod
    def _nearest_of_span(rows: list[list[fmpz]]) -> tuple[list[fmpz], fmpz]:
        """Multipliers of the point nearest to (0, 1) in the span of independent rows: numerators, denominator."""
        if not rows:
            return [], fmpz(1)
        matrix = fmpz_mat(rows)
        return solve(matrix * matrix.transpose(), [int(row[-1]) for row in rows])


def _guess(rows: Matrix, targets: Sequence[fmpq], equalities: int, fixed: Sequence[int]) -> Multipliers:
    """Multipliers by non-negative least squares in float64, positive ones only; equalities by their two signs."""
    largest = max((abs(value) for x in rows for value in x if value != 0), default=fmpq(1))
    most = max((abs(value) for value in targets if value != 0), default=fmpq(1))
    scaled = [[*(float(v / largest) for v in x), float(c / most)] for x, c in zip(rows, targets, strict=True)]
    order = [*fixed, *range(equalities, len(rows))]
    columns = np.array(scaled).T[:, order]
    signed = np.hstack([columns, -columns[:, : len(fixed)]])
    try:
        found, _ = scipy.optimize.nnls(signed, np.eye(len(signed))[-1])
    except RuntimeError:  # too many iterations
        return dict.fromkeys(fixed, fmpq(0))
    found[: len(fixed)] -= found[len(order) :]
    y = {n: fmpq(*value.as_integer_ratio()) for n, value in zip(order, found.tolist(), strict=False)}
    return {n: value for n, value in y.items() if value > 0 or n in fixed}
