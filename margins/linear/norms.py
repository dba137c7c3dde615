"""Proved upper bounds on norms of rational vectors and matrices, each with its evidence for the checker."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from flint import fmpq, fmpq_mat

from marginaudit.margins.errors import SolverFailure
from marginaudit.margins.linear.documents import text, texts_of_rows
from marginaudit.margins.rational import Vector, dot, root, to_float
from marginaudit.orders.arrays import Floats

STEPS = 40
"""Attempts at a spectral norm, each with twice the room for rounding errors, from `LEAST_ROOM` on."""

LEAST_ROOM = 2.0**-50


def evidence(norm: str, flat: Vector, shape: tuple[int, int] | None) -> tuple[dict[str, Any], float]:
    """Evidence that the norm is at most a number, and the number.

    Raises
    ------
    SolverFailure
        The entries are beyond float64.
    """
    more: dict[str, Any] = {}
    if norm in ("largest-entry", "sum"):
        sizes = [abs(value) for value in flat]
        bound = above(max(sizes) if norm == "largest-entry" else sum(sizes, fmpq(0)))
    elif norm == "euclidean":
        bound = _root_above(dot(flat, flat))
    else:
        height, width = shape or (len(flat), 1)
        M = fmpq_mat(height, width, list(flat))
        bound, more = (_nuclear if norm == "nuclear" else _spectral)(M)
    if not math.isfinite(bound):
        raise SolverFailure(f"the {norm} norm of a solution is beyond float64")
    return {"bound": text(exact([bound])[0]), **more}, bound


def _nuclear(M: fmpq_mat) -> tuple[float, dict[str, Any]]:
    """Factors A, B of the singular value decomposition: (|A|^2 + |B|^2)/2 + sum |M - A B^T|."""
    U, sizes, V = np.linalg.svd(_floats(M), full_matrices=False)
    A, B = (exact_rows(side * np.sqrt(sizes)) for side in (U, V.T))
    rest = (M - fmpq_mat(A) * fmpq_mat(B).transpose()).entries()
    squares = sum((dot(row, row) for row in (*A, *B)), fmpq(0))
    bound = squares / 2 + sum((abs(value) for value in rest), fmpq(0))
    return above(bound), {"left": texts_of_rows(A), "right": texts_of_rows(B)}


def _spectral(M: fmpq_mat) -> tuple[float, dict[str, Any]]:
    """A root L of s^2 - M M^T, up to a diagonally dominant rest, with M of at most as many rows as columns."""
    M = M if M.nrows() <= M.ncols() else M.transpose()
    U, sizes, _ = np.linalg.svd(_floats(M), full_matrices=False)
    for step in range(STEPS):
        room = LEAST_ROOM * 2.0**step
        bound = float(sizes[0]) * (1 + room)
        L = exact_rows(U * np.sqrt(np.maximum((bound - sizes) * (bound + sizes) - room * sizes[0] ** 2, 0.0)))
        rest = (-(M * M.transpose()) - fmpq_mat(L) * fmpq_mat(L).transpose()).tolist()
        if all(_dominant(row, i, exact([bound])[0] ** 2) for i, row in enumerate(rest)):
            return bound, {"root": texts_of_rows(L)}
    raise SolverFailure("the spectral norm of a solution is not proved in float64")


def _dominant(row: Sequence[fmpq], i: int, diagonal: fmpq) -> bool:
    return diagonal + row[i] >= sum((abs(value) for j, value in enumerate(row) if j != i), fmpq(0))


def _root_above(value: fmpq) -> float:
    """A float64 not below the square root."""
    found = root(value)
    while math.isfinite(found) and exact([found])[0] ** 2 < value:
        found = math.nextafter(found, math.inf)
    return found


def above(value: fmpq) -> float:
    """The next float64 not below the value."""
    found = to_float(value)
    return math.nextafter(found, math.inf) if math.isfinite(found) and exact([found])[0] < value else found


def below(value: fmpq) -> float:
    """The next float64 not above the value."""
    return -above(-value)


def exact(values: Sequence[float] | Floats) -> Vector:
    """The float64 numbers as fractions, exactly."""
    return tuple(fmpq(*float(value).as_integer_ratio()) for value in values)


def exact_rows(rows: Floats) -> list[Vector]:
    """Rows of float64 numbers as fractions, exactly."""
    return [exact(row) for row in rows]


def _floats(M: fmpq_mat) -> Floats:
    return np.array([[to_float(value) for value in row] for row in M.tolist()])
